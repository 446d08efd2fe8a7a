"""The norms of the noise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from attriguard.errors import DataError
from attriguard.utility.norms import norms


def test_known_answers():
    X = csr_array(np.array([[0.2, 0, 1, 0], [0, 0.6, 0, 0], [0, 0, 0, 0]], dtype=np.float32))
    release = csr_array(np.array([[0.2, 0.4, 0.7, 0], [0, 0, 0, 1], [0, 0, 0, 0]], dtype=np.float32))
    found = norms(X, release)
    assert found.l0.tolist() == [2, 2, 0]
    assert found.l2 == pytest.approx([0.5, np.hypot(0.6, 1), 0])
    assert found.mean_l0 == pytest.approx(4 / 3)
    assert found.mean_l2 == pytest.approx((0.5 + np.hypot(0.6, 1)) / 3)


@given(st.integers(0, 2**32 - 1))
def test_the_same_as_dense(seed):
    chance = np.random.default_rng(seed)
    levels = chance.integers(0, 6, size=(2, 7, 9)) * (chance.random((2, 7, 9)) < 0.5)
    X, release = (levels / 5).astype(np.float32)
    found = norms(csr_array(X), csr_array(release))
    assert (found.l0 == (levels[0] != levels[1]).sum(axis=1)).all()
    assert found.l2 == pytest.approx(np.linalg.norm(release.astype(float) - X, axis=1))


def test_a_plan_costs_what_its_release_changes(small_twin, small_guard):
    plan = small_guard.plan(small_twin.X, budget=2.0)
    choice = plan.draw(0)
    cost = plan.cost[np.arange(choice.size), choice]
    assert (norms(small_twin.X, plan.release(0)).l0 == cost).all()


def test_bad_input():
    X = csr_array((3, 4), dtype=np.float32)
    with pytest.raises(DataError, match="shape of X"):
        norms(X, csr_array((3, 5), dtype=np.float32))
    with pytest.raises(DataError, match="no users"):
        norms(X[:0], X[:0])
