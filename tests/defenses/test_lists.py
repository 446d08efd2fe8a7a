"""BlurMe and ChiSquare: known answers, and parity with other implementations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.feature_selection import chi2
from sklearn.linear_model import LogisticRegression

import attriguard as ag
from attriguard.defenses.chisquare import signed_chi_square
from attriguard.defenses.counted import average_ratings
from attriguard.errors import DataError

# Users 0-3 have value 0, users 4-7 value 1. Item 0 is rated by value 0 alone, item 1 by three of value 1, item 2 by all
# but one, item 3 by two of value 1, item 4 by nobody.
RATED = np.array(
    [
        [1, 0, 1, 0, 0],
        [1, 0, 1, 0, 0],
        [1, 0, 1, 0, 0],
        [1, 0, 1, 0, 0],
        [0, 1, 1, 1, 0],
        [0, 1, 1, 1, 0],
        [0, 1, 1, 0, 0],
        [0, 0, 0, 0, 0],
    ]
)
VALUES = np.array([0, 0, 0, 0, 1, 1, 1, 1])
RATINGS = csr_array(RATED * np.array([1.0, 0.6, 0.4, 0.2, 0.0]))


def both():
    return [ag.defenses.get(name, scale=(1, 5)).fit(RATINGS, VALUES) for name in ("BlurMe", "ChiSquare")]


def test_chi_square_by_hand():
    scores = signed_chi_square(RATINGS, VALUES, 2)
    # Item 0: 4 of 4 against 0 of 4 gives n = 8. Item 1: 8 (0·1 - 4·3)² / (4·4·3·5) = 4.8. Item 2: 8 (4·1)²/(4·4·7·1).
    np.testing.assert_allclose(scores[0], [8, -4.8, 8 / 7, -8 / 3, 0])
    np.testing.assert_allclose(scores[1], -scores[0])


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
@settings(max_examples=20)
def test_chi_square_is_that_of_both_columns(seed, m):
    chance = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(m), chance.integers(0, m, 40)])
    X = csr_array((chance.random((codes.size, 12)) < chance.random(12)) * 0.6)
    scores = signed_chi_square(X, codes, m)
    rated = (X.toarray() > 0).astype(int)
    for i in range(m):
        # scikit-learn counts where an item is rated only; the other half of the table is a column of its own.
        one, other = (np.nan_to_num(chi2(part, codes == i)[0]) for part in (rated, 1 - rated))
        np.testing.assert_allclose(np.abs(scores[i]), one + other, atol=1e-9)
    inside = np.array([rated[codes == i].mean(axis=0) - rated[codes != i].mean(axis=0) for i in range(m)])
    clear = np.abs(inside) > 1e-9
    np.testing.assert_array_equal(np.sign(scores)[clear], np.sign(inside)[clear])


@pytest.mark.parametrize("defense", both(), ids=lambda defense: defense.name)
def test_the_first_unrated_items_of_the_list_get_their_average(defense):
    # Against value 0 speak item 1, then item 3; against value 1 speaks item 0.
    assert defense.lists_[0][:2].tolist() == [1, 3]
    assert defense.lists_[1][0] == 0
    got = defense.release_for(RATINGS[[0, 4]], 2, truth=[0, 1]).toarray() - RATINGS[[0, 4]].toarray()
    np.testing.assert_allclose(got[0], [0, 0.6, 0, 0.2, 0], atol=1e-6)
    assert got[1, 0] == 1
    assert (got[1] > 0.1).sum() == 2  # the one of items 2 and 4 that comes first; 1 and 3 are rated


def test_blurme_follows_the_paper(small_twin):
    train, test = small_twin.split()
    defense = ag.defenses.get("BlurMe", scale=train.scale).fit(train.X, train.y)
    averages = average_ratings(train.X)
    X = test.X.toarray()
    got = defense.release_for(test.X, 4, truth=test.y).toarray()
    for value in range(train.m):
        own = LogisticRegression(solver="liblinear", max_iter=1000).fit(train.X, train.y == value)
        order = np.argsort(own.coef_[0], kind="stable")  # the most negative first
        for user in np.flatnonzero(test.y == value)[:5]:
            expected = X[user].copy()
            for item in [item for item in order if not X[user, item]][:4]:
                expected[item] = max(np.rint(averages[item] * 5), 1) / 5
            np.testing.assert_allclose(got[user], expected, atol=1e-6)


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(0, 5), data=st.data())
def test_additions_leave_rated_items_alone(seed, k, data):
    defense = data.draw(st.sampled_from(both()))
    chance = np.random.default_rng(seed)
    X = csr_array((chance.random((6, 5)) < chance.random()) * 0.4)
    truth = chance.integers(0, 2, 6)
    before, after = X.toarray(), defense.release_for(X, k, truth=truth).toarray()
    np.testing.assert_allclose(after[before > 0], before[before > 0])
    np.testing.assert_array_equal((after > 0).sum(axis=1), np.minimum((before > 0).sum(axis=1) + k, 5))
    for user in range(6):
        order = [item for item in defense.lists_[truth[user]] if not before[user, item]]
        assert set(np.flatnonzero(after[user])) - set(np.flatnonzero(before[user])) == set(order[:k])


def test_averages():
    X = csr_array(np.array([[0.2, 0, 0], [1.0, 0.6, 0]]))
    np.testing.assert_allclose(average_ratings(X), [0.6, 0.6, 0.6], atol=1e-6)
    np.testing.assert_allclose(average_ratings(X[[1]]), [1.0, 0.6, 0.8], atol=1e-6)  # nobody rated the third
    with pytest.raises(DataError, match="no ratings"):
        average_ratings(csr_array((3, 2)))


def test_an_average_is_never_rounded_to_nothing():
    X = csr_array(np.array([[0.05, 0.9], [0.05, 0.0], [0.0, 0.9], [0.0, 0.9]]))
    defense = ag.defenses.get("ChiSquare", scale=(1, 5)).fit(X, [0, 0, 1, 1])
    np.testing.assert_allclose(defense.entries_, [0.2, 0.8], atol=1e-6)
