"""The page of a reproduction: whole, self-contained, honest about its data, and read by a real browser."""

from __future__ import annotations

import hashlib
import json
import subprocess
from dataclasses import replace

import pytest

from attriguard.errors import DataError, MissingExtraError
from attriguard.experiments import get, names
from attriguard.experiments.figure1 import Figure1
from attriguard.experiments.page import (
    Reproduction,
    drawings_of,
    record,
    reproduce,
    reproduction_page,
    write_reproduction,
)
from attriguard.experiments.runner import run_all
from attriguard.report.page import Table

SHOWN = ("figure-1", "appendix")


@pytest.fixture(scope="module")
def result(shared_work):
    found = run_all(SHOWN, shared_work)
    missing = [name for name in names() if name not in SHOWN]
    return Reproduction("twin", "quick", found, missing, {"command": "attriguard reproduce", "seed": 0})


@pytest.fixture(scope="module")
def folder(result, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page") / "output"
    write_reproduction(result, folder)
    return folder


def test_it_holds_page_figures_and_numbers(folder, result):
    assert {"index.html", "results.json", "figure-1.svg", "figure-1.png", "appendixa.svg", "appendixb.png"} <= {
        path.name for path in folder.iterdir()
    }
    assert (folder / "figure-1.png").read_bytes().startswith(b"\x89PNG")
    numbers = json.loads((folder / "results.json").read_text())
    assert numbers == json.loads(json.dumps(record(result)))
    assert list(numbers["experiments"]) == list(SHOWN)
    assert numbers["experiments"]["figure-1"]["verdict"] == "does not hold"  # three cities, not twenty-five
    assert "figure-5" in numbers["not_run"]


def test_it_opens_with_the_claims_and_says_what_data_it_is(folder):
    html = (folder / "index.html").read_text()
    claim = get("figure-1").claim
    assert html.index("Not the paper") < html.index("Claims and verdicts") < html.index(claim)
    assert html.index(claim) < html.index('id="figure-1"')
    assert '<a href="#appendix">appendix</a>' in html
    assert "✗ does not hold" in html
    assert "figure-5: not run yet" in html
    assert 'name="viewport"' in html


def test_the_papers_data_needs_no_warning(result):
    page = reproduction_page(Reproduction("google-play", "quick", [], [], {}), {})
    assert page.sections[0].title == "Claims and verdicts"


def test_the_papers_numbers_stand_beside_ours_on_the_papers_data_alone(result):
    papers = replace(result, source="google-play")
    for shown, expected in ((result, False), (papers, True)):
        drawings = drawings_of(shown)
        assert ("the paper's text" in drawings["figure-1"][0].svg) == expected
        page = reproduction_page(shown, drawings)
        figure = next(each for each in page.sections if each.anchor == "figure-1")
        heads = [part.head for part in figure.parts if isinstance(part, Table)]
        assert (["number", "the paper", "measured"] in heads) == expected
    assert any(row[:2] == ["users of the largest city (BA-A)", "0.10"] for row in figure.parts[1].rows)


def test_an_unfinished_reproduction_says_what_is_missing(result):
    text = reproduction_page(result, drawings_of(result)).sections[1].text
    assert f"2 of {len(names())} experiments are on this page; its end names the others." in text


def test_an_experiment_may_show_numbers_of_others():
    seeds, others = get("beyond-seeds"), {"figure-4": {"a": 1}, "figure-1": {"b": 2}}
    assert seeds.beside({"found": []}, others)["whole"] == {"figure-4": {"a": 1}}
    assert get("figure-1").beside({"b": 2}, others) == {"b": 2}


def test_what_could_not_run_is_on_the_page(workspace, tmp_path, monkeypatch):
    def refuse(self, work, progress):
        raise MissingExtraError("needs the extra 'nn'")

    monkeypatch.setattr(Figure1, "run", refuse)
    found = run_all(["figure-1"], workspace(tmp_path))
    page = reproduction_page(Reproduction("twin", "quick", found, [], {}), {})
    assert page.sections[-1].points == ["figure-1: needs the extra 'nn'"]
    assert record(Reproduction("twin", "quick", found))["not_run"] == ["figure-1"]


def open_page(browser, folder, tmp_path):
    command = [
        browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-extensions", f"--user-data-dir={tmp_path}",
        "--enable-logging=stderr", "--v=0", "--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom",
        (folder / "index.html").as_uri(),
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)


def test_a_real_browser_shows_it_without_a_word_on_the_console(browser, folder, tmp_path):
    done = open_page(browser, folder, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("<section") >= 4
    assert done.stdout.count("<svg") == 3
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert console == []


def test_it_can_be_read_on_a_phone_and_on_a_desk(folder, readable):
    readable({"reproduction": (folder / "index.html").read_text()})


def test_it_says_where_it_comes_from_and_can_be_made_again(folder, result, outline, tmp_path, monkeypatch):
    found = outline((folder / "index.html").read_text())
    assert found.footer["command"] == ["attriguard reproduce"]
    assert found.footer["seed"] == ["0"]
    mark = hashlib.sha256((folder / "results.json").read_bytes()).hexdigest()
    assert found.footer["written"] == [f"results.json, SHA-256 {mark}"]
    assert {"BA-A", "claim"} <= set(found.entries)
    assert str(folder) not in (folder / "index.html").read_text()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    for name in ("one", "two"):
        write_reproduction(result, tmp_path / name)
    assert (tmp_path / "one" / "index.html").read_bytes() == (tmp_path / "two" / "index.html").read_bytes()


def test_numbers_of_an_earlier_run_serve_where_the_work_folder_has_none(folder, workspace, tmp_path):
    work = workspace(tmp_path / "work")
    again = reproduce(["figure-1"], work, earlier=folder / "results.json")
    shown = {each.experiment.name: each.numbers for each in again.finished}
    before = json.loads((folder / "results.json").read_text())["experiments"]
    assert list(shown) == list(SHOWN)
    assert shown["appendix"] == before["appendix"]["numbers"]
    assert "appendix" not in again.not_run
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"dataset": "google-play", "profile": "quick", "seed": 0, "experiments": {}}))
    with pytest.raises(DataError, match="name another file"):
        reproduce(["figure-1"], work, earlier=other)
    other.write_text("[]")
    with pytest.raises(DataError, match="no file of numbers"):
        reproduce(["figure-1"], work, earlier=other)
