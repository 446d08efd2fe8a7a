"""The naive Bayes that a regression weighs, and what it is in an ensemble."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.naive_bayes import BernoulliNB

from attriguard.attacks import lineup
from attriguard.classifiers.bayes import NaiveBayes, learn_weighed_bayes
from attriguard.classifiers.ensemble import BAYES_SHARE, Ensemble, fit_ensemble
from attriguard.errors import ParameterError


def network(weights, X):
    """What a network says, in float64."""
    outputs = np.maximum(X @ weights.W1.astype(np.float64) + weights.b1, 0) @ weights.W2 + weights.b2
    return np.exp(outputs - outputs.max(axis=1, keepdims=True))


@pytest.fixture(scope="module")
def likes(small_twin):
    X = csr_array((np.ones_like(small_twin.X.data), small_twin.X.indices, small_twin.X.indptr), small_twin.X.shape)
    return X, small_twin.y


def test_it_leads_as_another_naive_bayes_does(likes):
    """scikit-learn's, whose smoothing is another: with few items and many users that hardly matters."""
    X, y = likes
    popular = np.argsort(-np.bincount(X.indices, minlength=X.shape[1]))[:10]
    few = csr_array(X[:, popular])
    theirs = BernoulliNB(alpha=1.0).fit(few, y).predict_log_proba(few)
    ours = NaiveBayes(few, y, 4).infer(few)
    assert np.abs(np.exp(ours) - np.exp(theirs)).max() < 0.1
    assert (ours.argmax(axis=1) == theirs.argmax(axis=1)).mean() > 0.9


def test_as_a_network_it_says_what_a_regression_on_its_leads_says(likes):
    X, y = likes
    weights = learn_weighed_bayes(X, y, np.random.default_rng(0))
    assert weights.W1.shape == (X.shape[1], 8)
    leads = NaiveBayes(X, y, 4).leads(X)
    assert np.allclose(leads.sum(axis=1), 0.0)
    hidden = X @ weights.W1.astype(np.float64) + weights.b1
    assert hidden == pytest.approx(np.hstack([leads, -leads]), abs=1e-3)
    assert (weights.W2[:4] == -weights.W2[4:]).all()


def test_it_infers_what_the_attacker_of_its_kind_infers(small_twin):
    data = small_twin
    learn, test = np.arange(600), np.arange(600, 900)
    weights = learn_weighed_bayes(data.X[learn], data.y[learn], np.random.default_rng(0))
    attacker = lineup(["NB-A"], random_state=0)[0].fit(data.X[learn], data.y[learn])
    right = (network(weights, data.X[test]).argmax(axis=1) == data.y[test]).mean()
    assert right == pytest.approx((attacker.predict(data.X[test]) == data.y[test]).mean(), abs=0.05)
    assert right > 0.5


def test_of_two_values_it_is_as_sure_as_users_are_many(likes):
    """A regression's mean is right of its own users; twice the lead would be surer than that."""
    X, y = likes
    y = (y > 1).astype(np.int64)
    said = network(learn_weighed_bayes(X, y, np.random.default_rng(0)), X)
    said = said[:, 1] / said.sum(axis=1)
    assert said.mean() == pytest.approx(y.mean(), abs=0.03)
    sure = said > 0.75
    assert said[sure].mean() - 0.1 < y[sure].mean() <= 1.0


def test_an_item_that_nobody_has_rated_says_nothing(likes):
    X, y = likes
    wider = csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], X.shape[1] + 1))
    assert (learn_weighed_bayes(wider, y, np.random.default_rng(0)).W1[-1] == 0).all()


def test_a_guard_s_ensemble_has_it_beside_its_networks(likes, tmp_path):
    X, y = likes
    ensemble = fit_ensemble(X, y, members=3, chance=np.random.default_rng(0))
    assert len(ensemble.members) == 4
    assert ensemble.shares == pytest.approx([BAYES_SHARE, *[(1 - BAYES_SHARE) / 3] * 3])
    again = Ensemble.from_tensors(ensemble.tensors())
    assert (again.predict_proba(X) == ensemble.predict_proba(X)).all()
    fewer = ensemble.fewer(2)
    assert len(fewer.members) == 3
    assert fewer.shares == pytest.approx([0.5, 0.25, 0.25])


def test_shares_of_an_earlier_guard_are_alike(likes):
    X, y = likes
    ensemble = fit_ensemble(X, y, members=2, chance=np.random.default_rng(0))
    tensors = {name: part for name, part in ensemble.tensors().items() if name != "shares"}
    assert Ensemble.from_tensors(tensors).shares == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("shares", [[0.5], [0.5, 0.6, 0.1], [1.2, -0.2], [0.5, np.nan]])
def test_shares_that_do_not_add_up_are_refused(likes, shares):
    X, y = likes
    members = fit_ensemble(X, y, members=1, chance=np.random.default_rng(0)).members
    with pytest.raises(ParameterError, match="shares"):
        Ensemble(members, np.full(4, 0.25), shares)
