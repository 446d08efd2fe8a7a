"""Cross-validated figures: against scikit-learn, against simulation, and on users who tell nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from attriguard.attacks import get
from attriguard.errors import DataError
from attriguard.evaluation.inference import (
    Estimate,
    auc,
    check_values,
    divide,
    inference,
    out_of_group,
    strongest,
)
from attriguard.progress import Progress


def some_users(seed, n=300, m=3, lead=0.6):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(m), rng.integers(0, m, n - m)])
    sure = rng.normal(size=(n, m))
    sure[np.arange(n), y] += lead
    return y, sure


def test_one_group_gives_the_figures_of_scikit_learn():
    y, sure = some_users(0)
    found = inference("LR-A", "original", sure, y, np.zeros(y.size, dtype=np.int64))
    assert found.accuracy.value == pytest.approx((sure.argmax(axis=1) == y).mean())
    assert found.balanced.value == pytest.approx(balanced_accuracy_score(y, sure.argmax(axis=1)))
    assert found.auc.value == pytest.approx(np.mean([roc_auc_score(y == i, sure[:, i]) for i in range(3)]))
    assert [each.users for each in found.by_value] == np.bincount(y).tolist()


def test_ties_count_half():
    y = np.array([0, 1, 0, 1])
    assert auc(np.zeros(4), y == 1, np.zeros(4, dtype=np.int64)).value == 0.5


def test_only_users_of_the_same_group_are_compared():
    """An attacker who is surer of everybody in one group than in the other tells nothing by that."""
    positive = np.array([True, False, True, False])
    score = np.array([1.0, 2.0, 11.0, 12.0])
    assert auc(score, positive, np.array([0, 0, 1, 1])).value == 0.0
    assert auc(score, positive, np.zeros(4, dtype=np.int64)).value == 0.25


@pytest.mark.parametrize("figure", ["accuracy", "balanced", "auc"])
def test_intervals_hold_what_they_promise(figure):
    """The spread over many tables of the same kind is the one that a single table's influence function gives."""
    found = [
        getattr(inference("LR-A", "original", sure, y, divide(y, seed)), figure)
        for seed, (y, sure) in ((seed, some_users(seed)) for seed in range(200))
    ]
    spread = 1.96 * np.std([each.value for each in found])
    assert np.mean([each.margin for each in found]) == pytest.approx(spread, rel=0.15)


def test_a_difference_of_the_same_users_has_a_narrower_interval():
    y, sure = some_users(1)
    group = np.zeros(y.size, dtype=np.int64)
    one = inference("a", "original", sure, y, group).auc
    other = inference("b", "original", sure + 0.1 * np.random.default_rng(2).normal(size=sure.shape), y, group).auc
    assert one.minus(other).margin < 0.5 * one.margin
    assert one.minus(one).margin == 0.0
    assert one.turned().value == pytest.approx(1 - one.value)
    assert one.turned().margin == pytest.approx(one.margin)


@given(st.lists(st.integers(2, 9), min_size=2, max_size=6), st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_every_value_is_known_outside_of_every_group(counts, seed, groups):
    y = np.repeat(np.arange(len(counts)), counts)
    group = divide(y, seed, groups)
    assert set(group.tolist()) <= set(range(groups))
    assert np.ptp(np.bincount(group, minlength=groups)) <= 1
    for k in range(groups):
        assert set(y[group != k]) == set(range(len(counts)))


def test_nobody_is_attacked_by_who_learnt_from_him():
    """Rows that are unique to a user are memorised by a forest, which then knows everybody it learnt from."""
    n = 60
    X = csr_array(np.eye(n, dtype=np.float32))
    y = np.random.default_rng(0).integers(0, 2, n)
    forest = get("RF-A", n_trees=10, random_state=0)
    assert forest.untrained().fit(X, y).score(X, y) > 0.9
    group = divide(y, 0)
    (sure,) = out_of_group(forest, X, [X], y, group, Progress())
    found = inference("RF-A", "original", sure, y, group)
    assert abs(found.auc.value - 0.5) < 0.2


def test_the_strongest_is_picked_by_the_figure_that_is_asked_for():
    y, sure = some_users(3)
    group = np.zeros(y.size, dtype=np.int64)
    weak, strong = inference("weak", "original", -sure, y, group), inference("strong", "original", sure, y, group)
    assert strongest([weak, strong]).attack == strongest([weak, strong], "accuracy").attack == "strong"


def test_a_value_with_one_user_is_refused_by_its_count():
    with pytest.raises(DataError, match="1 of the 3 values of 'city' have fewer than 2 users"):
        check_values(np.array([0, 0, 1, 1, 2, -1]), ("a", "b", "c"), "city")


def test_an_estimate_has_no_interval_without_spread():
    assert Estimate(0.5, np.zeros(4)).margin == 0.0
