"""`attriguard reproduce`: all or some, listed with their state, with the data that is there."""

from __future__ import annotations

import json

import pytest

import attriguard as ag
from attriguard.experiments import names


@pytest.fixture
def data(monkeypatch):
    twin = ag.load_dataset("twin", n_users=360, n_items=100, n_values=3, seed=3)
    monkeypatch.setattr("attriguard.operations.reproduce.load_dataset", lambda name: twin)
    monkeypatch.setattr("attriguard.operations.reproduce.find_dataset", lambda name: None)
    return twin


def test_some_experiments_then_the_list_then_more(data, cli, tmp_path):
    folders = ["--work", tmp_path / "work", "--output", tmp_path / "output"]
    code, out, err = cli("reproduce", "figure-1", *folders)
    assert code == 0, err
    assert "the twin stands in for it" in err
    assert "does not hold" in out
    assert "Tested on twin with the profile “quick”: 1 claims of the paper: " in out
    assert "index.html" in out
    code, out, _ = cli("reproduce", "--list", *folders, "--json")
    states = {name: each["state"] for name, each in json.loads(out).items()}
    assert list(states) == names()
    assert states["figure-1"] == "done"
    assert states["figure-2"] == "not started"
    assert "figure-1" in cli("reproduce", "--list", *folders)[1]
    code, out, _ = cli("reproduce", "beyond-detection", "--dataset", "twin", *folders, "--json")
    assert code == 0
    record = json.loads(out)
    assert list(record["experiments"]) == ["figure-1", "beyond-detection"]  # the page has all that is finished
    assert record == json.loads((tmp_path / "output" / "results.json").read_text())
    assert record["command"] == "attriguard reproduce --profile quick --dataset twin --seed 0"
    assert record["versions"]["numpy"]


def test_the_papers_data_is_taken_where_it_is(data, cli, tmp_path, monkeypatch):
    monkeypatch.setattr("attriguard.operations.reproduce.find_dataset", lambda name: tmp_path)
    code, out, err = cli("reproduce", "--list", "--work", tmp_path)
    assert code == 0
    assert out.startswith("google-play, profile quick, seed 0")
    assert err == ""


@pytest.mark.parametrize(
    ("given", "message"),
    [(["table-99"], "unknown experiment"), (["figure-1", "--profile", "huge"], "unknown profile")],
)
def test_mistakes_are_one_line(cli, given, message, tmp_path):
    code, _, err = cli("reproduce", *given, "--work", tmp_path)
    assert code == 2
    assert message in err
    assert len(err.splitlines()) == 1


def test_an_output_that_is_a_file_is_told_before_the_work(data, cli, tmp_path):
    (tmp_path / "page.html").write_text("mine")
    code, out, err = cli("reproduce", "figure-1", "--work", tmp_path / "work", "--output", tmp_path / "page.html")
    assert (code, out) == (2, "")
    assert "cannot be used as a folder" in err
    assert (tmp_path / "page.html").read_text() == "mine"
