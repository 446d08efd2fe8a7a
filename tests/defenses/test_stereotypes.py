"""SBO and PerBlur: known answers, the chances they promise, and what they may touch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

import attriguard as ag
from attriguard.defenses.stereotypes import stereotypicality
from attriguard.errors import ParameterError

# Ten users of value 0, ten of value 1. Item 0: 8 and 2 raters; item 1: 0 and 10; item 2: 6 and 6; item 3: 4 and 0,
# too few to say; item 4: nobody.
RATED = np.zeros((20, 5))
RATED[:8, 0] = RATED[10:12, 0] = RATED[10:, 1] = RATED[:6, 2] = RATED[10:16, 2] = RATED[:4, 3] = 1
RATINGS = csr_array(RATED * np.array([1.0, 0.6, 0.4, 0.2, 0.0]))
VALUES = np.repeat([0, 1], 10)


def sbo(**options):
    return ag.defenses.get("SBO", scale=(1, 5), **options).fit(RATINGS, VALUES)


def test_stereotypicality_by_hand():
    scores = stereotypicality(RATINGS, VALUES, 2)
    np.testing.assert_allclose(scores[0], [(0.8 - 0.2) / 0.8, -1, 0, 0, 0])
    np.testing.assert_allclose(scores[1], -scores[0])


def test_of_three_values_each_stands_against_the_others():
    X = csr_array(np.repeat([[1.0], [1.0], [0.0]], [6, 2, 10], axis=0))
    codes = np.repeat([0, 1, 2, 1, 2], [6, 2, 6, 2, 2])  # 6 of 6; 2 of 4; 0 of 8
    np.testing.assert_allclose(stereotypicality(X, codes, 3)[:, 0], [1 - 2 / 12, (0.5 - 6 / 14) / 0.5, -1])


def test_the_most_typical_ratings_go_and_the_least_typical_items_come():
    row = csr_array(np.array([[1.0, 0.6, 0.4, 0.2, 0.0]]))
    gone = sbo(by_chance=False).release_for(row, 1, truth=[0]).toarray()[0]
    np.testing.assert_allclose(gone, [0, 0.6, 0.4, 0.2, 0], atol=1e-6)
    gone = sbo(by_chance=False).release_for(row, 4, truth=[1]).toarray()[0]
    np.testing.assert_allclose(gone, [1, 0, 0.4, 0.2, 0], atol=1e-6)  # nothing else is typical of value 1
    bare = csr_array(np.array([[0.0, 0.0, 0.4, 0.0, 0.0]]))
    come = sbo(by_chance=False, action="add").release_for(bare, 2, truth=[0]).toarray()[0]
    np.testing.assert_allclose(come, [0, 0.6, 0.4, 0, 0], atol=1e-6)  # only item 1 speaks against value 0
    both = csr_array(np.array([[1.0, 0.0, 0.4, 0.0, 0.0]]))
    swapped = sbo(by_chance=False, action="both").release_for(both, 2, truth=[0]).toarray()[0]
    np.testing.assert_allclose(swapped, [0, 0.6, 0.4, 0, 0], atol=1e-6)


def test_each_change_is_as_likely_as_its_score():
    n = 8000
    X = csr_array(np.tile([1.0, 0.0, 0.4, 0.0, 0.0], (n, 1)))
    kept = sbo().release_for(X, 2, 0, truth=np.zeros(n, dtype=int)).toarray()
    share = 1 - (kept[:, 0] > 0).mean()
    assert abs(share - 0.75) < 4 * np.sqrt(0.75 * 0.25 / n)
    assert (kept[:, 2] > 0).all()  # its score is 0


def test_who_is_not_typical_is_left_alone():
    X = csr_array(np.array([[1.0, 0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.4, 0.2, 0.0]]))  # on average 0.75 and 0.25
    after = sbo(by_chance=False, threshold=0.3).release_for(X, 1, truth=[0, 0])
    assert np.diff(after.indptr).tolist() == [0, 3]


@pytest.mark.parametrize("options", [{"action": "swap"}, {"threshold": 2.0}])
def test_wrong_options_of_sbo_are_named(options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        sbo(**options)


def test_perblur_by_its_definition(small_twin):
    train, test = small_twin.split()
    defense = ag.defenses.get("PerBlur", scale=train.scale, liked=30, neighbours=10).fit(train.X, train.y)
    X, rated = test.X.toarray(), train.X.toarray() > 0
    got = defense.release_for(test.X, 5, truth=test.y).toarray()
    length = np.linalg.norm(train.X.toarray(), axis=1)
    for user in range(12):
        own = LogisticRegression(solver="liblinear", max_iter=1000).fit(train.X, train.y == test.y[user]).coef_[0]
        alike = train.X.toarray() @ X[user] / (length * np.linalg.norm(X[user]))
        votes = rated[np.argsort(-alike, kind="stable")[:10]].sum(axis=0) * (X[user] == 0)
        liked = (votes > 0) & (votes >= np.sort(votes)[-30]) & (own < 0)
        added = sorted(np.flatnonzero(liked), key=lambda item: own[item])[:3]
        removed = [item for item in np.argsort(-own, kind="stable") if X[user, item] and own[item] > 0][:2]
        assert set(np.flatnonzero((got[user] > 0) & (X[user] == 0))) == set(added)
        assert set(np.flatnonzero((got[user] == 0) & (X[user] > 0))) == set(removed)


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(0, 5), name=st.sampled_from(["SBO", "PerBlur"]))
def test_no_more_changes_than_asked_for_and_no_other_rating(seed, k, name):
    chance = np.random.default_rng(seed)
    options = {"action": "both"} if name == "SBO" else {"removal": bool(seed % 2), "neighbours": 3}
    defense = ag.defenses.get(name, scale=(1, 5), **options).fit(RATINGS, VALUES)
    X = csr_array(((chance.random((6, 5)) < chance.random()) * 0.4).astype(np.float32))
    before = X.toarray()
    after = defense.release_for(X, k, chance, truth=chance.integers(0, 2, 6)).toarray()
    assert ((before != after).sum(axis=1) <= k).all()
    stayed = (before > 0) & (after > 0)
    np.testing.assert_array_equal(after[stayed], before[stayed])
    if name == "PerBlur" and not defense.removal:
        assert stayed[before > 0].all()


def test_wrong_options_of_perblur_are_named():
    for option in ("liked", "neighbours"):
        with pytest.raises(ParameterError, match=option):
            ag.defenses.get("PerBlur", **{option: 0}).fit(RATINGS, VALUES)
