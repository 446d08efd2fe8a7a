"""Held-out items and the precision with which they are found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, vstack

from attriguard.errors import DataError, ParameterError
from attriguard.utility.holdout import HeldOut, hold_out
from attriguard.utility.ranking import Factors
from attriguard.utility.recommendation import Precision, RecommendationTest, _coverage, _ndcg, precision, relative_loss
from attriguard.utility.recommenders import PureSVD, Recommender


class Fixed(Recommender):
    """Scores every item alike for everybody: the lower its number, the better. Remembers what it saw."""

    name = "fixed"
    summary = "item 0 first"

    def _fit(self, X, rank, chance):
        self.seen = X
        best = -np.arange(X.shape[1], dtype=np.float32)
        return Factors(
            users=np.zeros((X.shape[0], 1), np.float32), items=np.zeros((X.shape[1], 1), np.float32), bias=best
        )


def ratings(n, n_items, seed, most=20):
    """Users with 0 to ``most`` ratings."""
    chance = np.random.default_rng(seed)
    dense = np.zeros((n, n_items), dtype=np.float32)
    for row in dense:
        columns = chance.choice(n_items, size=chance.integers(0, most + 1), replace=False)
        row[columns] = chance.integers(1, 6, size=columns.size) / 5
    return csr_array(dense)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_held_out_and_left_make_up_the_data(seed, n):
    X = ratings(30, 40, seed)
    held = hold_out(X, n, random_state=seed)
    lengths = np.diff(X.indptr)
    assert (held.users == np.flatnonzero(lengths > n)).all()
    assert held.left_out == (lengths <= n).sum()
    assert held.items.shape == (held.users.size, n)
    taken = X.toarray()
    for user, items in zip(held.users, held.items, strict=True):
        assert (taken[user, items] > 0).all()
        assert np.unique(items).size == n
        taken[user, items] = 0
    assert (taken == held.X.toarray()).all()
    assert (held.taken_by(held.X) == 0).all()
    assert (held.taken_by(X) == n).all()


def test_every_rating_is_equally_likely_to_be_held_out():
    X = csr_array(np.ones((20_000, 8), dtype=np.float32))
    share = np.bincount(hold_out(X, 5, random_state=1).items.ravel()) / 20_000
    assert share == pytest.approx(np.full(8, 5 / 8), abs=0.015)


def test_a_seed_holds_out_the_same():
    X = ratings(50, 40, 3)
    same = [hold_out(X, random_state=seed).items for seed in (4, 4, 5)]
    assert (same[0] == same[1]).all()
    assert (same[0] != same[2]).any()


def test_precision_by_hand():
    """User 0 rated 0 and is asked for 1 and 3, user 2 rated nothing below 4 and is asked for 0 and 5."""
    seen = np.zeros((3, 6), dtype=np.float32)
    seen[0, 0] = seen[1, 1] = seen[2, 4] = 1
    held = HeldOut(X=csr_array(seen), users=np.array([0, 2]), items=np.array([[1, 3], [0, 5]]), left_out=1)
    # User 0 is shown 1 2 3 4 5, user 2 is shown 0 1 2 3 5, and nothing sixth.
    found = precision(Fixed(), held.X, held, ns=[1, 2, 3, 5, 6])
    assert found.hits.tolist() == [[1, 1, 2, 2, 2], [1, 1, 1, 2, 2]]
    assert found.mean() == pytest.approx([1, 1 / 2, 1.5 / 3, 2 / 5, 2 / 6])
    assert found.mean([2]) == pytest.approx([1, 1 / 2, 1 / 3, 2 / 5, 2 / 6])
    with pytest.raises(DataError, match="none of these users"):
        found.mean([1])


def test_relative_loss():
    assert relative_loss([0.5, 0.2, 0.4], [0.25, 0.3, 0.4]) == pytest.approx([0.5, -0.5, 0.0])
    assert np.isnan(relative_loss([0.0], [0.1])).all()


def test_only_the_release_is_seen():
    X = ratings(40, 60, 0)
    rows, recommender = np.array([39, 3, 17]), Fixed()
    test = RecommendationTest(X, rows, recommender, ns=[5, 10], random_state=0)
    left = test.held_out.X.toarray()
    assert (test.X_protected.toarray() == left[rows]).all()
    release = np.zeros((3, 60), dtype=np.float32)
    release[:, 50] = 0.4
    test.loss(csr_array(release))
    left[rows] = release
    assert (recommender.seen.toarray() == left).all()


def test_no_noise_no_loss(small_twin):
    test = RecommendationTest(small_twin.X, np.arange(100), PureSVD(rank=10, random_state=0), random_state=0)
    loss = test.loss(test.X_protected)
    assert (loss.ns == np.arange(1, 51)).all()
    assert (loss.relative[loss.before > 0] == 0).all()
    assert (loss.after_protected == loss.before_protected).all()
    assert loss.blocked == 0
    assert loss.before[9] > 1.5 * 5 / small_twin.X.shape[1]  # better than chance


def test_a_held_out_item_that_the_noise_adds_cannot_be_recommended():
    X = csr_array(np.tile((np.arange(12) < 7).astype(np.float32), (4, 1)))
    test = RecommendationTest(X, [1, 2], Fixed(), ns=[5, 7, 10], random_state=0)
    release = test.X_protected.toarray()
    release[0, test.held_out.items[1]] = 1.0  # user 1: all five come back
    loss = test.loss(csr_array(release))
    assert loss.blocked == 5
    assert loss.before_protected == pytest.approx([1, 5 / 7, 5 / 10])
    assert loss.after_protected == pytest.approx(loss.before_protected / 2)
    assert loss.relative_protected == pytest.approx([0.5] * 3)
    assert loss.relative == pytest.approx([0.25] * 3)


def test_one_test_serves_many_defenses(small_twin, small_guard):
    train, test = small_twin.split()
    X = csr_array(vstack([train.X, test.X], format="csr"))
    rows = np.arange(train.X.shape[0], X.shape[0])
    trial = RecommendationTest(X, rows, PureSVD(rank=10, random_state=0), random_state=1)
    assert trial.left_out == (np.diff(X.indptr) < 6).sum()
    plan = small_guard.plan(trial.X_protected, budget=4.0)
    guarded = trial.loss(plan.release(0))
    nothing = trial.loss(csr_array(trial.X_protected.shape, dtype=np.float32))
    assert (guarded.before == nothing.before).all()
    assert guarded.after_protected[20:].mean() > nothing.after_protected[20:].mean()


def test_bad_input():
    X = ratings(20, 30, 1)
    with pytest.raises(DataError, match="nobody has more than 25"):
        hold_out(X, 25)
    with pytest.raises(ParameterError, match="n must be a finite number, 1 or more"):
        hold_out(X, 0)
    held = hold_out(X, random_state=0)
    with pytest.raises(ParameterError, match="there are only 30"):
        precision(Fixed(), held.X, held)
    for ns in ([], [0, 1], [3, 2], [1.5]):
        with pytest.raises(ParameterError, match="ns must"):
            precision(Fixed(), held.X, held, ns=ns)
    with pytest.raises(DataError, match="a row for each of the 20"):
        precision(Fixed(), held.X[:5], held, ns=[1])
    for rows in ([], [1, 1], [20], [-1], [0.5], [True]):
        with pytest.raises(ParameterError, match="different row numbers"):
            RecommendationTest(X, rows, Fixed(), ns=[1])
    test = RecommendationTest(X, np.arange(20) < 4, Fixed(), ns=[1])
    with pytest.raises(DataError, match="must have 4 rows"):
        test.loss(X)


def test_precision_is_a_share_of_n():
    one = Precision(
        ns=np.array([2]),
        users=np.array([0]),
        hits=np.array([[1]]),
        ndcg=np.array([[0.6]]),
        coverage=np.array([0.1]),
    )
    assert one.mean() == pytest.approx([0.5])
    assert one.mean_ndcg([0]) == pytest.approx([0.6])
    with pytest.raises(DataError, match="none of these users was tested"):
        one.mean_ndcg([3])


def test_ndcg_and_coverage_of_known_lists():
    # Two users, two held-out items each; lists of three out of ten items, one of them too short.
    best = np.array([[4, 7, 1], [4, 2, -1]])
    held = np.array([[1, 4], [5, 9]])
    found = (best[:, :, None] == held[:, None, :]).any(axis=2)
    second, third = 1 / np.log2(3), 1 / np.log2(4)
    expected = [[1, 1 / (1 + second), (1 + third) / (1 + second)], [0, 0, 0]]
    np.testing.assert_allclose(_ndcg(found, 2), expected)
    np.testing.assert_allclose(_coverage(best, 10), [0.1, 0.3, 0.4])


def test_ndcg_is_scikit_learns():
    from sklearn.metrics import ndcg_score

    rng = np.random.default_rng(0)
    found = rng.random((40, 12)) < 0.3
    found[:, 0] |= ~found.any(axis=1)
    for n in (1, 5, 12):
        expected = ndcg_score(found, np.tile(-np.arange(12.0), (40, 1)), k=n)
        ideal = [_ndcg(row[None], int(row.sum()))[0, n - 1] for row in found]
        assert np.mean(ideal) == pytest.approx(expected)
