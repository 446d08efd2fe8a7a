"""The twin keeps its promises: sizes, marginal facts, and how well attacks do on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from attriguard.data.named.twin import make_twin
from attriguard.data.named.twin_world import city_shares
from attriguard.data.public_data import PublicData
from attriguard.data.scale import RatingScale
from attriguard.errors import ParameterError


@pytest.fixture(scope="module")
def twin() -> PublicData:
    return make_twin()


@pytest.fixture(scope="module")
def linear(twin: PublicData) -> Any:
    return OneVsRestClassifier(LogisticRegression(C=1.0, solver="liblinear")).fit(twin.train.X, twin.train.y)


def most_frequent_accuracy(train: PublicData, test: PublicData) -> float:
    return float(np.mean(test.y == np.bincount(train.y).argmax()))


def assert_valid(data: PublicData, n_users: int, n_items: int, n_values: int) -> None:
    X = data.X
    assert X.shape == (n_users, n_items)
    assert X.dtype == np.float32
    steps = np.diff(X.indices)
    steps[X.indptr[1:-1] - 1] = 1  # from one user to the next
    assert (steps > 0).all()
    assert X.indices.min() >= 0
    assert X.indices.max() < n_items
    assert not data.scale.off_scale(data.scale.from_unit(X.data)).any()
    assert set(np.unique(data.y)) == set(range(n_values))
    assert len(set(data.values)) == n_values
    ratings = np.diff(X.indptr)
    assert ratings.min() == min(11, n_items // 4)
    assert ratings.max() <= n_items // 4


# Sizes and marginal facts of the full twin


def test_sizes_and_names(twin: PublicData) -> None:
    assert_valid(twin, 16_238, 10_000, 25)
    assert (twin.attribute, twin.scale) == ("city", RatingScale(1, 5, 1))
    np.testing.assert_array_equal(twin.users, np.arange(16_238))
    np.testing.assert_array_equal(twin.items, np.arange(10_000))
    assert twin.users.dtype == twin.items.dtype == np.int64
    assert twin.values[:2] == ("New York", "London")
    assert twin.item_names is not None
    assert np.unique(twin.item_names).size == 10_000


def test_its_own_split_is_stratified(twin: PublicData) -> None:
    assert (twin.train.n_users, twin.test.n_users) == (14_607, 1_631)
    share = np.bincount(twin.test.y, minlength=25) / np.bincount(twin.y, minlength=25)
    np.testing.assert_allclose(share, 0.1, atol=0.01)


def test_activity(twin: PublicData) -> None:
    ratings = np.diff(twin.X.indptr)
    assert ratings.min() == 11
    assert np.median(ratings) == 17
    assert ratings.mean() == pytest.approx(23.19, abs=0.5)
    assert np.percentile(ratings, 90) == pytest.approx(43, abs=2)
    assert np.percentile(ratings, 99) == pytest.approx(85, abs=6)
    assert 200 <= ratings.max() <= 600


def test_popularity(twin: PublicData) -> None:
    counts = np.sort(np.bincount(twin.X.indices, minlength=10_000))[::-1]
    for rank, expected in {1: 1_813, 10: 1_108, 100: 495, 1_000: 76, 5_000: 13, 9_000: 3}.items():
        assert counts[rank - 1] == pytest.approx(expected, rel=0.1), rank
    assert np.sum(counts == 0) == pytest.approx(127, abs=50)


def test_rating_values(twin: PublicData) -> None:
    shares = np.bincount(np.rint(twin.X.data * 5).astype(int), minlength=6)[1:] / twin.X.nnz
    np.testing.assert_allclose(shares, [0.043, 0.028, 0.071, 0.182, 0.676], atol=0.01)


def test_ratings_belong_to_items_and_users(twin: PublicData) -> None:
    """Mean ratings differ between items and between users by much more than chance would make them."""
    counts = np.bincount(twin.X.indices, minlength=10_000)
    sums = np.bincount(twin.X.indices, twin.X.data, minlength=10_000)
    assert np.std((sums / np.maximum(counts, 1))[counts >= 50]) == pytest.approx(0.061, abs=0.01)
    assert np.std(twin.X.sum(axis=1) / np.diff(twin.X.indptr)) == pytest.approx(0.108, abs=0.01)


def test_cities_are_uneven(twin: PublicData) -> None:
    shares = np.bincount(twin.y) / twin.n_users
    assert 0.09 < shares.max() < 0.10
    assert 0.008 < shares.min() < 0.02


@pytest.mark.parametrize(
    ("n_values", "low", "high"), [(2, 0.5, 0.65), (5, 0.25, 0.4), (25, 0.095, 0.1), (200, 0, 0.02)]
)
def test_city_shares_for_any_number_of_cities(n_values: int, low: float, high: float) -> None:
    shares = city_shares(n_values)
    assert shares.sum() == pytest.approx(1)
    assert (np.diff(shares) < 0).all()
    assert low < shares[0] < high


# How well attacks do


def test_most_frequent_city(twin: PublicData) -> None:
    assert most_frequent_accuracy(twin.train, twin.test) == pytest.approx(0.10, abs=0.01)


def test_logistic_regression(twin: PublicData, linear: Any) -> None:
    assert linear.score(twin.test.X, twin.test.y) == pytest.approx(0.43, abs=0.03)


def test_the_papers_data_gives_the_same_accuracy(twin: PublicData, linear: Any, google_play: PublicData) -> None:
    real = OneVsRestClassifier(LogisticRegression(C=1.0, solver="liblinear"))
    real.fit(google_play.train.X, google_play.train.y)
    expected = real.score(google_play.test.X, google_play.test.y)
    assert linear.score(twin.test.X, twin.test.y) == pytest.approx(expected, abs=0.03)


def test_random_forest(twin: PublicData) -> None:
    forest = RandomForestClassifier(50, random_state=0, n_jobs=2).fit(twin.train.X, twin.train.y)
    assert forest.score(twin.test.X, twin.test.y) == pytest.approx(0.45, abs=0.03)


def greedy_changes(W: NDArray[Any], b: NDArray[Any], x: NDArray[Any], value: int, limit: int = 50) -> int:
    """How many entries must change until ``value`` scores highest, always taking what raises its score most."""
    x = x.copy()
    for changes in range(limit):
        if np.argmax(W @ x + b) == value:
            return changes
        gain = np.where(W[value] > 0, (1 - x) * W[value], -x * W[value])
        item = gain.argmax()
        x[item] = 1.0 if W[value, item] > 0 else 0.0
    return limit


def test_a_few_changes_mislead_a_linear_model(twin: PublicData, linear: Any) -> None:
    """On the paper's data about 2.6 changes lead to a given city, on average over cities and users."""
    W = np.vstack([estimator.coef_ for estimator in linear.estimators_])
    b = np.concatenate([estimator.intercept_ for estimator in linear.estimators_])
    rows = twin.test.X[:40].toarray().astype(np.float64)
    changes = [greedy_changes(W, b, x, value) for x in rows for value in range(25)]
    assert 2.3 <= np.mean(changes) <= 3.3


def test_items_called_after_a_city_are_rated_there(twin: PublicData) -> None:
    names = np.asarray(twin.item_names)
    for code in (1, 2, 9):
        local = np.flatnonzero(np.char.startswith(names, f"{twin.values[code]} "))
        assert local.size >= 10
        raters = np.repeat(twin.y, np.diff(twin.X.indptr))[np.isin(twin.X.indices, local)]
        assert np.mean(raters == code) > 4 * np.mean(twin.y == code)


# The same seed, the same data


def test_determinism() -> None:
    first, again, other = (make_twin(300, 120, 3, seed=seed) for seed in (7, 7, 8))
    assert (first.X != again.X).nnz == 0
    np.testing.assert_array_equal(first.y, again.y)
    np.testing.assert_array_equal(np.asarray(first.test_mask), np.asarray(again.test_mask))
    assert np.array_equal(np.asarray(first.item_names), np.asarray(again.item_names))
    assert (first.X != other.X).nnz > 100


# Other sizes


@given(
    n_users=st.integers(20, 400), n_items=st.integers(20, 300), n_values=st.integers(2, 10), seed=st.integers(0, 2**40)
)
@settings(max_examples=40, deadline=None)
def test_any_size_is_valid(n_users: int, n_items: int, n_values: int, seed: int) -> None:
    data = make_twin(n_users, n_items, n_values, seed=seed)
    ratings = np.diff(data.X.indptr)
    if ratings.min() > min(11, n_items // 4):  # so few users that nobody has the least number of ratings
        data = make_twin(400, n_items, n_values, seed=seed)
        n_users = 400
    assert_valid(data, n_users, n_items, n_values)
    assert data.test.n_users == round(n_users * 1_631 / 16_238)


@pytest.mark.parametrize("sizes", [(400, 200, 4), (300, 120, 3), (300, 120, 2), (900, 300, 4), (2_000, 1_000, 5)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_small_twins_are_learnable(sizes: tuple[int, int, int], seed: int) -> None:
    train, test = make_twin(*sizes, seed=seed).split(0.3, random_state=0)
    model = OneVsRestClassifier(LogisticRegression(C=1.0, solver="liblinear")).fit(train.X, train.y)
    assert model.score(test.X, test.y) > most_frequent_accuracy(train, test) + 0.1


def test_many_cities() -> None:
    data = make_twin(2_000, 300, 1_000)
    assert_valid(data, 2_000, 300, 1_000)
    assert "Rome 2" in data.values


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_users": 19}, "n_users .* at least 50, got 19"),
        ({"n_users": 19, "n_values": 2}, "n_users .* at least 20, got 19"),
        ({"n_items": 19}, "n_items .* at least 20, got 19"),
        ({"n_values": 1}, "n_values .* from 2 to 1,000, got 1"),
        ({"n_values": 1_001}, "n_values .* from 2 to 1,000, got 1001"),
        ({"n_users": 300.0}, "n_users .* whole number .* got 300.0"),
        ({"n_users": True}, "n_users .* got True"),
        ({"n_items": "many"}, "n_items .* got 'many'"),
        ({"seed": -1}, "seed .* got -1"),
        ({"seed": None}, "seed .* got None"),
    ],
)
def test_bad_parameters(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make_twin(**options)
