"""Names for content: the same for the same, another for anything else, none for unseeded chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

import attriguard as ag
from attriguard._fingerprint import fingerprint
from attriguard.attacks.detector import Detector
from attriguard.attacks.retrained import Retrained


@dataclass(frozen=True)
class Point:
    x: float
    y: float


class Plugin:
    """An attack of another package, as far as names go."""

    revision = 1

    def __init__(self, *, strength=1.0, random_state=0):
        self.strength, self.random_state = strength, random_state

    def get_params(self):
        raise AssertionError("the options are read from the constructor")


DIFFERENT = [
    None, 0, 0.0, False, "0", b"0", (), (0,), ((0,),), (0, 0), np.float32(0), np.zeros(1), np.zeros((1, 1)),
    np.zeros(1, dtype=np.float32), np.array(["a"], dtype=object), np.array(["b"], dtype=object),
    csr_array([[0.5, 0]]), csr_array([[0, 0.5]]), {"a": 1}, {"b": 1}, Point(0, 1), Point(1, 0),
]  # fmt: skip


def test_different_content_has_different_names():
    names = [fingerprint(part) for part in DIFFERENT]
    assert None not in names
    assert len(set(names)) == len(names)
    assert names == [fingerprint(part) for part in DIFFERENT]
    assert fingerprint("a", "b") != fingerprint("ab")
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})


def test_objects_with_a_revision_count_by_class_revision_and_options():
    assert fingerprint(Plugin()) == fingerprint(Plugin()) is not None
    changed = type("Plugin", (Plugin,), {"revision": 2, "__module__": Plugin.__module__})
    assert len({fingerprint(each) for each in (Plugin(), Plugin(strength=2.0), changed())}) == 3
    trained = Plugin()
    trained.classes_ = np.arange(3)
    assert fingerprint(trained) == fingerprint(Plugin())


@pytest.mark.parametrize("state", [None, np.random.default_rng(0)])
def test_unseeded_chance_has_no_name(state):
    assert fingerprint(Plugin(random_state=state)) is None
    assert fingerprint("data", [Plugin(random_state=state)]) is None


def test_foreign_objects_have_no_name():
    assert fingerprint(object()) is None


def test_fitted_models_count_by_what_they_have_learnt():
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    one, two = LogisticRegression().fit(X, y), LogisticRegression().fit(X, 1 - y)
    assert fingerprint(one) == fingerprint(LogisticRegression().fit(X, y)) != fingerprint(two)


def test_guards_and_attackers_who_know_them(small_twin, small_guard):
    other = ag.AttriGuard().fit(small_twin.X[:500], small_twin.y[:500])
    attack = ag.attacks.get("LR-A")
    names = {
        fingerprint(make(guard))
        for guard in (small_guard, other)
        for make in (lambda g: g, lambda g: Retrained(attack, g, random_state=0), lambda g: Detector(g, random_state=0))
    }
    assert len(names) == 6
    assert None not in names
    assert fingerprint(Detector(small_guard)) is None


def test_a_defense_counts_with_what_it_has_learnt_from(small_twin):
    def defense():
        return ag.defenses.get("BlurMe", scale=small_twin.scale)

    one, two = defense().fit(small_twin.X, small_twin.y), defense().fit(small_twin.X[:500], small_twin.y[:500])
    assert len({fingerprint(each) for each in (defense(), one, two)}) == 3
