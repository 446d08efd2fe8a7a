"""Figure 6: the run checkpoints, resumes, and writes what it found."""

from __future__ import annotations

import json

import numpy as np
import pytest

import attriguard as ag
from attriguard.errors import DataError, ParameterError
from attriguard.experiments import blocks, figure6
from attriguard.experiments.figure6 import PUBLISHED, Profile


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setitem(figure6.PROFILES, "quick", Profile(80, 120, 10, 30))
    monkeypatch.setattr(figure6, "BLOCK", 8)


@pytest.fixture
def data(monkeypatch):
    twin = ag.load_dataset("twin", n_users=700, n_items=150, n_values=4, seed=3)
    monkeypatch.setattr("attriguard.data.datasets.load_dataset", lambda name: twin)
    return twin


def run(data, folder, progress=lambda what, steps: None):
    return figure6.run(data, profile="quick", work=folder, seed=0, progress=progress)


def test_the_attack_gets_worse_as_the_budget_grows(data, tiny, tmp_path):
    steps = []
    found = run(data, tmp_path, lambda what, done: steps.append(done))
    assert sum(steps) == figure6.n_steps(data, "quick")
    accuracy = [figure["value"] for figure in found["figures"]]
    assert [figure["budget"] for figure in found["figures"]] == list(PUBLISHED)
    assert accuracy[0] > accuracy[-1] + 0.1
    assert found["phase_one"]["success"] > 0.95
    for figure in found["figures"]:
        assert figure["expected_cost"] <= figure["budget"] + 1e-4
        assert figure["reached"] == (figure["value"] <= figure["at_most"])


def test_an_interrupted_run_goes_on(data, tiny, tmp_path):
    whole = run(data, tmp_path / "whole")

    def interrupt(what, done):
        if what == "Phase I" and len(list((tmp_path / "parts").glob("edits-*"))) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(data, tmp_path / "parts", interrupt)
    kept = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "parts").glob("edits-*")}
    assert len(kept) == 2
    resumed = run(data, tmp_path / "parts")
    assert resumed["figures"] == whole["figures"]
    for name, time in kept.items():
        assert (tmp_path / "parts" / name).stat().st_mtime_ns == time
    assert not list((tmp_path / "parts").glob(".*"))


def test_files_of_another_run_are_not_mixed_in(data, tmp_path, small_guard, small_twin):
    edits = small_guard.plan(small_twin.test.X[:5]).edits
    blocks.save_edits(edits, tmp_path / "e", "one")
    assert blocks.load_edits(tmp_path / "e", "one").items.tolist() == edits.items.tolist()
    with pytest.raises(ParameterError, match="another run"):
        blocks.load_edits(tmp_path / "e", "two")
    (tmp_path / "e").write_bytes(b"nothing")
    with pytest.raises(DataError, match="damaged"):
        blocks.load_edits(tmp_path / "e", "one")


def test_blocks_joined_are_the_whole(small_guard, small_twin, tmp_path):
    X = small_twin.test.X[:20]
    whole = small_guard.plan(X).edits
    parts = blocks.edits_in_blocks(
        lambda users: small_guard.plan(X[users]).edits, 20, size=7, folder=tmp_path, mark="m"
    )
    for name in blocks.PARTS:
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))


def test_the_command(data, tiny, tmp_path, capsys):
    from attriguard.cli import app
    from attriguard.cli._shell import run as shell

    output, work = tmp_path / "results" / "figure-6.json", tmp_path / "work"
    given = ["reproduce", "figure-6", "--work", str(work), "--output", str(output), "--seed", "3"]
    assert shell(app, given) == 0
    assert "NN-A at budget 0.3" in capsys.readouterr().out
    record = json.loads(output.read_text())
    assert record["command"].startswith("attriguard reproduce figure-6 --profile quick --dataset twin --seed 3")
    assert record["seed"] == 3
    assert record["versions"]["torch"]
    assert len(record["figures"]) == 7
    assert shell(app, [*given, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["figures"] == record["figures"]
    assert shell(app, ["reproduce", "--list"]) == 0
    assert "figure-6" in capsys.readouterr().out
    for bad, message in (([], "name an experiment"), (["table-99"], "unknown experiment")):
        assert shell(app, ["reproduce", *bad]) == 2
        assert message in capsys.readouterr().err
    assert shell(app, ["reproduce", "figure-6", "--profile", "huge"]) == 2
    assert "unknown profile" in capsys.readouterr().err
