"""Every experiment runs, says what it claims, and gives what a page needs."""

from __future__ import annotations

import importlib
import json

import pytest

from attriguard import attacks
from attriguard._fingerprint import fingerprint
from attriguard.experiments import EXPERIMENTS, get, names
from attriguard.experiments.base import FAILS, HOLDS, PARTLY
from attriguard.experiments.figure9 import defenses_of
from attriguard.experiments.runner import run_one
from attriguard.report.page import Table
from attriguard.report.plots import BarPlot, LinePlot

PAPERS = [f"figure-{k}" for k in range(1, 11)] + ["table-1", "table-2", "appendix"]


def without_seconds(part):
    """Numbers that must not differ from run to run."""
    if isinstance(part, dict):
        return {name: without_seconds(value) for name, value in part.items() if name != "seconds"}
    return [without_seconds(value) for value in part] if isinstance(part, list) else part


@pytest.mark.parametrize("name", names())
def test_it_runs_and_can_be_shown(name, shared_work):
    pytest.importorskip("torch", reason="experiments with networks need torch")
    told = []
    finished = run_one(get(name), shared_work, lambda what, done: told.append((what, done)))
    assert all(what.startswith(name) or ": " in what for what, _ in told)
    assert all(0 <= done <= 1 for _, done in told)
    experiment, numbers = finished.experiment, finished.numbers
    assert json.loads(json.dumps(numbers, allow_nan=False)) == numbers
    assert experiment.verdict(numbers) in (HOLDS, PARTLY, FAILS)
    assert all(check.text and check.found for check in experiment.checks(numbers))
    assert all(isinstance(part, str) and part for part in (*experiment.main(numbers), *experiment.notes(numbers)))
    shown = experiment.show(numbers)
    assert any(isinstance(part, (LinePlot, BarPlot)) for part in shown)
    for part in shown:
        if isinstance(part, Table):
            assert part.rows
            assert {len(row) for row in part.rows} == {len(part.head)}
        else:
            assert part.y_label
            assert part.caption.endswith(".")
    assert set(finished.seconds) == {"wall", "cpu"}


@pytest.mark.parametrize("name", names())
def test_it_says_what_it_is(name):
    experiment = get(name)
    assert experiment.name == name
    assert experiment.claim.endswith(".")
    assert experiment.claim.rstrip(".").count(". ") == 0  # one sentence
    assert experiment.reported.endswith(".")
    assert "data" in experiment.inputs
    assert all(seconds > 0 for seconds in experiment.effort)
    assert "Rule: holds if" in (importlib.import_module(EXPERIMENTS[name].__module__).__doc__ or "")


def test_every_table_and_figure_of_the_paper_is_there():
    assert set(PAPERS) <= set(names())


def test_a_second_seed_gives_other_numbers_and_the_same_seed_the_same(workspace, tmp_path):
    pytest.importorskip("torch")
    first, again, other = (
        run_one(get("figure-5"), workspace(tmp_path / folder, seed=seed)).numbers
        for folder, seed in (("a", 0), ("b", 0), ("c", 1))
    )
    assert without_seconds(first) == without_seconds(again)
    assert first != other


def test_nothing_is_left_to_unseeded_chance(shared_work):
    for part in (*map(shared_work.attack, attacks.names()), *defenses_of(shared_work)):
        assert fingerprint(part) is not None, part.name  # such a part could not be kept, either
