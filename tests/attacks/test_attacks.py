"""Every attack of the registry, from one table; and what the base class promises."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

import attriguard as ag
from attriguard.errors import DataError, MissingExtraError, NotFittedError, ParameterError

NETWORK = {"hidden": 48, "epochs": 12, "random_state": 0}
# Options that make each attack small enough for a test.
ATTACKS = {
    "BA-A": {},
    "LR-A": {},
    "RF-A": {"n_trees": 20, "random_state": 0},
    "NN-A": NETWORK,
    "AT-A": NETWORK,
    "DD-A": NETWORK,
    "RC-A": NETWORK | {"n_points": 20},
    "LRA-A": NETWORK | {"rank": 40, "iterations": 30},
    "MLP-A": {"random_state": 0},
}
NEEDS_TORCH = ("NN-A", "AT-A", "DD-A", "RC-A", "LRA-A")


@pytest.fixture(params=ATTACKS)
def attack(request, small_guard):
    if request.param in NEEDS_TORCH:
        pytest.importorskip("torch")
    options = ATTACKS[request.param]
    return ag.attacks.get(request.param, **(options | ({"guard": small_guard} if request.param == "AT-A" else {})))


def test_it_learns_gives_probabilities_and_repeats(attack, small_twin):
    train, test = small_twin.split()
    proba = attack.fit(train.X, train.y).predict_proba(test.X)
    assert proba.shape == (test.n_users, small_twin.m)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    predicted = attack.predict(test.X)
    guess = np.bincount(test.y).max() / test.n_users
    assert (predicted == test.y).mean() >= (guess + 0.1 if attack.name != "BA-A" else guess - 0.05)
    again = attack.untrained().fit(train.X, train.y).predict(test.X)
    np.testing.assert_array_equal(again, predicted)


def test_labels_keep_their_meaning(attack, small_twin):
    few = small_twin.take(np.arange(300))
    y = np.where(few.y == 0, -1, few.y)  # the first value is not disclosed by anybody
    attack.fit(few.X, y)
    assert attack.classes_.tolist() == [1, 2, 3]
    assert set(attack.predict(small_twin.test.X)) <= {1, 2, 3}


def test_mistakes_are_named(attack, small_twin):
    with pytest.raises(NotFittedError, match=attack.name):
        attack.predict(small_twin.X)
    with pytest.raises(DataError, match="at least two values"):
        attack.fit(small_twin.X, np.zeros(small_twin.n_users, dtype=int))
    few = small_twin.take(np.arange(200))
    attack.fit(few.X, few.y)
    with pytest.raises(DataError, match="columns"):
        attack.predict(csr_array((2, 7)))


def test_every_registered_attack_is_in_these_tests(small_guard):
    assert ag.attacks.names() == list(ATTACKS)
    for name, attack in zip(ATTACKS, ag.attacks.lineup(ATTACKS, guard=small_guard, hidden=64), strict=True):
        assert attack.name == name
        assert attack.summary
        assert getattr(attack, "hidden", 64) == (128 if name == "MLP-A" else 64)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ParameterError, match="unknown attack 'SVM-A'; known: BA-A, LR-A, RF-A, NN-A"):
        ag.attacks.get("SVM-A")
    with pytest.raises(ParameterError, match="unknown attack 'SVM-A'"):
        ag.attacks.lineup(["LR-A", "SVM-A"])


@pytest.mark.parametrize("name", NEEDS_TORCH)
def test_without_torch_the_extra_is_named(name, small_twin, small_guard, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    attack = ag.attacks.lineup([name], guard=small_guard, hidden=8)[0]
    with pytest.raises(MissingExtraError, match=r"attriguard\[nn\]"):
        attack.fit(small_twin.X, small_twin.y)


def test_the_small_network_needs_no_extra(small_twin, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    ag.attacks.get("MLP-A", random_state=0, epochs=1).fit(small_twin.X, small_twin.y)


def test_an_attack_that_needs_the_guard_says_so(small_guard):
    with pytest.raises(ParameterError, match="AT-A adapts to the guard and needs it"):
        ag.attacks.get("AT-A")
    with pytest.raises(ParameterError, match="needs a fitted guard"):
        ag.attacks.get("AT-A", guard=ag.AttriGuard())
    with pytest.raises(ParameterError, match="unknown adversarial training 'pgd'"):
        ag.attacks.get("AT-A", guard=small_guard, adversarial="pgd")
    assert ag.attacks.get("AT-A", adversarial="l0-pgd").guard is None
