"""Costs know themselves: an unknown one is refused, a new one is used, and l0 and l2 are the norms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from attriguard.classifiers.linear import LinearClassifier
from attriguard.errors import ParameterError
from attriguard.noise import COSTS, Cost, Margin, make_constraints
from attriguard.noise.policy import POLICIES


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = csr_array((rng.random((9, 30)) * (rng.random((9, 30)) < 0.3)).astype(np.float32))
    classifier = LinearClassifier(rng.normal(size=(4, 30)), rng.normal(size=4))
    return classifier, X, make_constraints(POLICIES["modify_add"], 30, step=0.4)


class L1(Cost):
    name = "l1"
    summary = "the summed change"

    def of(self, edits, X):
        released = (edits.apply(X, np.full(edits.n_users, i)).toarray() for i in range(edits.m))
        return np.stack([abs(after - X.toarray()).sum(axis=1) for after in released], axis=1).astype(np.float64)


def test_the_norms_are_those_of_the_released_rows(problem):
    classifier, X, constraints = problem
    found = {cost: Margin().find(classifier, X, constraints, cost=cost) for cost in (*COSTS, L1())}
    before = X.toarray().astype(np.float64)
    for i in range(4):
        change = found["l2"].apply(X, np.full(9, i)).toarray() - before
        np.testing.assert_array_equal(found["l0"].cost[:, i], (change != 0).sum(axis=1))
        np.testing.assert_allclose(found["l2"].cost[:, i], np.linalg.norm(change, axis=1), rtol=1e-6)
    own = next(edits for cost, edits in found.items() if isinstance(cost, L1))
    assert (own.cost <= found["l0"].cost).all()  # no entry moves by more than 1
    assert (own.cost >= found["l2"].cost - 1e-6).all()


def test_an_unknown_cost_is_refused(problem):
    classifier, X, constraints = problem
    edits = Margin().find(classifier, X, constraints)
    for cost in ("l1", "L2", None, 2):
        with pytest.raises(ParameterError, match=r"unknown cost .*; known: l0, l2"):
            edits.with_cost(cost, X)
        with pytest.raises(ParameterError, match="unknown cost"):
            Margin().find(classifier, X, constraints, cost=cost)


def test_each_says_what_it_is():
    assert [cls.name for cls in COSTS.values()] == list(COSTS) == ["l0", "l2"]
    assert all(cls.summary for cls in COSTS.values())
