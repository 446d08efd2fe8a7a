"""Edits of several blocks of users as one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from attriguard.classifiers.linear import LinearClassifier
from attriguard.noise.constraints import make_constraints
from attriguard.noise.edits import Edits
from attriguard.noise.greedy import Margin
from attriguard.noise.policy import POLICIES


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = csr_array((rng.random((9, 30)) * (rng.random((9, 30)) < 0.3)).astype(np.float32))
    return (
        LinearClassifier(rng.normal(size=(4, 30)), rng.normal(size=4)),
        X,
        make_constraints(POLICIES["modify_add"], 30),
    )


@pytest.mark.parametrize("cuts", [(9,), (1, 9), (3, 3, 9), (2, 5, 9)])
def test_blocks_of_users_make_the_edits_of_all(problem, cuts):
    classifier, X, constraints = problem
    whole = Margin().find(classifier, X, constraints)
    parts = [Margin().find(classifier, X[a:b], constraints) for a, b in zip((0, *cuts[:-1]), cuts, strict=True)]
    joined = Edits.joined(parts)
    for name in ("indptr", "items", "values", "cost", "success", "extended"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name))
    for i in range(4):
        assert (joined.apply(X, np.full(9, i)) != whole.apply(X, np.full(9, i))).nnz == 0


def test_a_bound_is_kept_only_where_every_block_has_one(problem):
    classifier, X, constraints = problem
    one, two = (Margin().find(classifier, X[rows], constraints) for rows in (slice(0, 4), slice(4, 9)))
    proven = [replace(part, bound=part.cost - 1) for part in (one, two)]
    np.testing.assert_array_equal(Edits.joined(proven).bound, np.concatenate([part.cost for part in proven]) - 1)
    assert Edits.joined([proven[0], two]).bound is None


def test_locked_is_a_pattern_whatever_its_numbers(problem):
    classifier, X, constraints = problem
    doubled = csr_array(X * 5)
    ones = csr_array(X != 0).astype(np.float32)
    found = [Margin().find(classifier, X, constraints, locked=pattern) for pattern in (doubled, ones)]
    np.testing.assert_array_equal(found[0].items, found[1].items)
    assert not set(zip(*np.nonzero(X.toarray()), strict=True)) & {
        (u, j) for u in range(9) for i in range(4) for j in found[0].of(u, i)[0].tolist()
    }
