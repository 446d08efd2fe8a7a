"""Every attack of the registry, from one table; and what the base class promises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import attriguard as ag
from attriguard.errors import DataError, NotFittedError, ParameterError

OPTIONS = {"RF-A": {"n_trees": 20, "random_state": 0}}


@pytest.fixture(params=["BA-A", "LR-A", "RF-A"])
def attack(request):
    return ag.attacks.get(request.param, **OPTIONS.get(request.param, {}))


def test_it_learns_and_gives_probabilities(attack, small_twin):
    train, test = small_twin.split()
    proba = attack.fit(train.X, train.y).predict_proba(test.X)
    assert proba.shape == (test.n_users, small_twin.m)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    predicted = attack.predict(test.X)
    guess = np.bincount(test.y).max() / test.n_users
    assert (predicted == test.y).mean() >= (guess + 0.1 if attack.name != "BA-A" else guess - 0.05)


def test_labels_keep_their_meaning(attack, small_twin):
    y = np.where(small_twin.y == 0, -1, small_twin.y)  # the first value is not disclosed by anybody
    attack.fit(small_twin.X, y)
    assert attack.classes_.tolist() == [1, 2, 3]
    assert set(attack.predict(small_twin.test.X)) <= {1, 2, 3}


def test_mistakes_are_named(attack, small_twin):
    with pytest.raises(NotFittedError, match=attack.name):
        attack.predict(small_twin.X)
    with pytest.raises(DataError, match="at least two values"):
        attack.fit(small_twin.X, np.zeros(small_twin.n_users, dtype=int))
    attack.fit(small_twin.X, small_twin.y)
    with pytest.raises(DataError, match="columns"):
        attack.predict(csr_array((2, 7)))


def test_every_registered_attack_is_in_these_tests():
    assert set(ag.attacks.names()) == {"BA-A", "LR-A", "RF-A"}
    for name in ag.attacks.names():
        assert ag.attacks.get(name).name == name


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ParameterError, match="unknown attack 'SVM-A'; known: BA-A, LR-A, RF-A"):
        ag.attacks.get("SVM-A")
