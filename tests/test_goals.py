"""Goals are objects: a fourth one is one class, and a plan of any goal can be sent to another process."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

import attriguard as ag
from attriguard.classifiers.linear import LinearClassifier, fit_linear
from attriguard.errors import ParameterError
from attriguard.goals import GOALS, Goal, Learnt
from attriguard.mechanism.strategies import Counts
from attriguard.noise.edits import Edits


@dataclass(frozen=True)
class EmptyRows:
    """Candidate 0 changes nothing, candidate 1 removes all that the budget pays for."""

    follows_budget = False

    def covers(self, X, edits, budget):
        return True

    def find(self, X, budget, progress):
        n, lengths = X.shape[0], np.zeros((X.shape[0], 2), dtype=np.int64)
        lengths[:, 1] = np.diff(X.indptr)
        return Edits(
            indptr=np.concatenate([[0], np.cumsum(lengths.ravel())]),
            items=X.indices,
            values=np.zeros(X.nnz, dtype=np.float32),
            cost=lengths.astype(np.float64),
            success=np.ones((n, 2), dtype=bool),
            extended=np.zeros((n, 2), dtype=bool),
        )


class Vanish(Goal):
    """A fourth goal, in one class: it removes everything."""

    name = "vanish"
    summary = "Everything is removed."
    needs = ("witness",)
    options = ()
    how = "The guard removes everything."
    regained = "gets back nothing."

    def check(self, settings):
        if settings.cost != "l0":
            raise ParameterError("vanish counts ratings")

    def learn(self, settings, users, progress):
        return Learnt(self.name, {"witness": fit_linear("lr", users.X, users.codes)}, users.counts, 1.0)

    def finder(self, settings, learnt, locked=None):
        return EmptyRows()

    def mechanism(self, settings, learnt):
        return Counts()

    def model(self, learnt):
        return learnt.models["witness"]


FOURTH = f"{__name__}:Vanish"


def test_a_fourth_goal_is_one_class(small_twin, tmp_path):
    train, test = small_twin.train, small_twin.test
    guard = ag.AttriGuard(goal=FOURTH, budget=np.inf).fit(train.X, train.y, items=train.items)
    assert guard.plan(test.X).release(0).nnz == 0
    half = guard.plan(test.X, budget=np.diff(test.X.indptr) / 2)
    assert half.probabilities == pytest.approx(np.full((test.n_users, 2), 0.5))
    guard.save(tmp_path / "vanish.guard")
    loaded = ag.load_guard(tmp_path / "vanish.guard")
    assert isinstance(loaded.learnt_.models["witness"], LinearClassifier)
    assert loaded.plan(test.X).release(0).nnz == 0
    with pytest.raises(ParameterError, match="vanish counts ratings"):
        ag.AttriGuard(goal=FOURTH, cost="l2").fit(train.X, train.y)
    with pytest.raises(ParameterError, match="fit it again with goal='mislead'"):
        loaded.set_params(goal="mislead").plan(test.X)


def test_unknown_goals_are_named():
    with pytest.raises(ParameterError, match="unknown goal 'hide'; known: mislead, conceal, both"):
        ag.goals.get("hide")


@pytest.mark.parametrize("options", [{}, {"confidence": "auto"}, {"goal": "conceal"}, {"goal": "both", "split": 0.5}])
def test_a_plan_goes_to_another_process_and_searches_there(small_twin, tmp_path, options):
    train, test = small_twin.train, small_twin.test
    guard = ag.AttriGuard(**options, members=1, random_state=0).fit(train.X, train.y)
    plan = guard.plan(test.X[:40], budget=2.0)
    (tmp_path / "plan").write_bytes(pickle.dumps(plan))
    script = (
        "import pickle, sys, pathlib, numpy as np\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "plan = pickle.loads((folder / 'plan').read_bytes()).with_budget(5.0)\n"
        "np.savez(folder / 'found.npz', M=plan.probabilities, items=plan.edits.items)\n"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path], check=True)
    found, here = np.load(tmp_path / "found.npz"), plan.with_budget(5.0)
    np.testing.assert_array_equal(found["M"], here.probabilities)
    np.testing.assert_array_equal(found["items"], here.edits.items)


def test_every_goal_says_what_it_is():
    for name, goal in GOALS.items():
        assert goal.name == name
        assert set(goal.options) <= set(ag.AttriGuard().get_params())
