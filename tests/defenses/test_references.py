"""Random additions and deletions, and the most telling deletions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.special import log_softmax
from scipy.stats import chisquare

import attriguard as ag

TRAIN = csr_array(np.array([[0.2, 0.4, 0, 0.0], [0.2, 0, 1.0, 0.0], [1.0, 0, 1.0, 0.0], [0.2, 0.4, 1.0, 0.0]]))
VALUES = [0, 1, 1, 0]


def fitted(name):
    return ag.defenses.get(name, scale=(1, 5)).fit(TRAIN, VALUES)


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(0, 4))
def test_additions_only_add(seed, k):
    chance = np.random.default_rng(seed)
    X = csr_array((chance.random((7, 4)) < chance.random()) * 0.6)
    before, after = X.toarray(), fitted("random-additions").release_for(X, k, chance).toarray()
    np.testing.assert_allclose(after[before > 0], before[before > 0])
    np.testing.assert_array_equal((after > 0).sum(axis=1), np.minimum((before > 0).sum(axis=1) + k, 4))


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(0, 4), name=st.sampled_from(["random", "telling"]))
def test_deletions_only_remove(seed, k, name):
    chance = np.random.default_rng(seed)
    X = csr_array((chance.random((7, 4)) < chance.random()) * 0.6)
    before, after = X.toarray(), fitted(f"{name}-deletions").release_for(X, k, chance).toarray()
    np.testing.assert_allclose(after[after > 0], before[after > 0])
    assert not after[before == 0].any()
    np.testing.assert_array_equal((after > 0).sum(axis=1), np.maximum((before > 0).sum(axis=1) - k, 0))


def test_every_unrated_item_is_as_likely_and_rated_as_others_rate_it():
    X = csr_array(np.tile([0.6, 0.0, 0.0, 0.0], (6000, 1)))
    got = fitted("random-additions").release_for(X, 1, 0).toarray()
    assert chisquare((got[:, 1:] > 0).sum(axis=0)).pvalue > 1e-3
    np.testing.assert_allclose(np.unique(got[:, 1]), [0, 0.4], atol=1e-6)
    # Nobody rated the last item: its ratings are drawn from all, which are 0.2 (3), 0.4 (2) and 1.0 (4).
    last = np.rint(got[got[:, 3] > 0, 3] * 5)
    seen = [(last == level).sum() for level in (1, 2, 5)]
    assert sum(seen) == last.size
    assert chisquare(seen, last.size * np.array([3, 2, 4]) / 9).pvalue > 1e-3
    # Item 0: three training users say 0.2, one says 1.0.
    X = csr_array(np.tile([0.0, 0.6, 0.6, 0.6], (4000, 1)))
    first = np.rint(fitted("random-additions").release_for(X, 1, 1).toarray()[:, 0] * 5)
    assert chisquare([(first == 1).sum(), (first == 5).sum()], [3000, 1000]).pvalue > 1e-3


def test_every_rating_is_as_likely_to_go():
    X = csr_array(np.tile([0.2, 0.4, 0.6, 0.8], (6000, 1)))
    kept = fitted("random-deletions").release_for(X, 2, 0).toarray() > 0
    pairs = [(kept[:, a] & kept[:, b]).sum() for a in range(4) for b in range(a)]
    assert chisquare(pairs).pvalue > 1e-3


def test_the_most_telling_rating_is_the_one_whose_removal_lowers_the_posterior_most(small_twin):
    train, test = small_twin.split()
    defense = ag.defenses.get("telling-deletions", scale=train.scale).fit(train.X, train.y)
    model = defense._classifier
    X = test.X[:20].toarray()
    got = defense.release_for(test.X[:20], 3).toarray()
    for user in range(20):
        inferred = (model.coef_ @ X[user] + model.intercept_).argmax()
        rated = np.flatnonzero(X[user])
        left = np.empty(rated.size)
        for place, item in enumerate(rated):
            without = X[user].copy()
            without[item] = 0
            left[place] = log_softmax(model.coef_ @ without + model.intercept_)[inferred]
        expected = X[user].copy()
        expected[rated[np.argsort(left)[:3]]] = 0
        np.testing.assert_array_equal(got[user], expected)


@pytest.mark.parametrize("name", ["random-deletions", "telling-deletions"])
def test_who_has_fewer_loses_all(name):
    X = csr_array(np.array([[0.2, 0, 0, 0], [0.2, 0.2, 0.2, 0.2], [0, 0, 0, 0]]))
    after = fitted(name).release_for(X, 3, 0)
    assert np.diff(after.indptr).tolist() == [0, 1, 0]
