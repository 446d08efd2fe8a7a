"""Attackers who know the guard: they get back what it took."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import attriguard as ag
from attriguard.attacks import Detector, DetectThenAttack, MechanismInversion, Retrained
from attriguard.errors import DataError, NotFittedError, ParameterError
from attriguard.evaluation.protocol import three_groups


@pytest.fixture(scope="module")
def world():
    """Three groups, a guard learnt from the first, and a release of the third."""
    data = ag.load_dataset("twin", n_users=4000, n_items=600, n_values=6, seed=1)
    groups = three_groups(data, 0)
    guard = ag.AttriGuard(search="panda").fit(groups.guard_users.X, groups.guard_users.y)
    test = groups.test_users
    return groups, guard, guard.plan(test.X, users=test.users)


def accuracy(attack, plan, y):
    """The exact expectation over what may be released."""
    hits = np.column_stack([attack.predict(plan.candidate(i)) == y for i in range(plan.edits.m)])
    return float((plan.probabilities * hits).sum(axis=1).mean())


def test_one_who_retrains_and_one_who_undoes_it_beat_one_who_does_not_know(world):
    groups, guard, plan = world
    own, y = groups.attacker_users, groups.test_users.y
    plain = ag.attacks.get("LR-A")
    unaware = accuracy(plain.untrained().fit(own.X, own.y), plan, y)
    retrained = Retrained(plain, guard, draws=2, random_state=0).fit(own.X, own.y)
    undone = MechanismInversion(plain, guard).fit(own.X, own.y)
    assert retrained.name == "LR-A retrained"
    assert not hasattr(plain, "classes_")  # what was given is not changed
    assert accuracy(retrained, plan, y) > unaware + 0.05
    assert accuracy(undone, plan, y) > unaware + 0.05
    proba = undone.predict_proba(plan.release(0))
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_allclose(undone.predict_proba(plan.release(0)[5:7]), proba[5:7])  # a user alone, or in a batch


def test_undoing_finds_the_very_original(world):
    """With one candidate left that explains the release, what is inferred is what the original says."""
    groups, guard, plan = world
    own = groups.attacker_users
    attack = MechanismInversion(ag.attacks.get("LR-A"), guard).fit(own.X, own.y)
    inner = attack._attack
    away = attack.guard.plan(plan.X)
    i = int(np.argmax(plan.target))
    changed = np.flatnonzero((away.cost[:, i] >= 1) & (away.cost[:, i] <= 4))
    z = plan.candidate(i)[changed]
    same = inner.predict(plan.X[changed]) == attack.predict(z)
    assert same.mean() > 0.8 > (inner.predict(plan.X[changed]) == inner.predict(z)).mean()


def test_undoing_also_finds_ratings_that_are_not_at_the_top(world):
    """A guard may be told what to add, with which rating; the attacker who knows it looks for those."""
    groups, _, plan = world
    theirs, own, test = groups
    guard = ag.AttriGuard(search="panda", policy="add_new", additions=dict.fromkeys(range(0, 600, 2), 0.6))
    guard.fit(theirs.X, theirs.y)
    plan = guard.plan(test.X)
    assert np.isclose(np.unique(plan.edits.values), 0.6).all()
    plain = ag.attacks.get("LR-A")
    undone = MechanismInversion(plain, guard).fit(own.X, own.y)
    unaware = plain.untrained().fit(own.X, own.y)
    assert accuracy(undone, plan, test.y) > accuracy(unaware, plan, test.y) + 0.05


def test_each_draw_is_the_guards_own_release(world):
    groups, guard, _ = world

    class Spy(ag.attacks.Attack):
        name, summary = "spy", "keeps what it is given"
        seen = None

        def __init__(self):
            pass

        def _fit(self, X, codes):
            Spy.seen = X, codes

        def _predict_proba(self, X):
            return np.ones((X.shape[0], self.classes_.size))

    own = groups.attacker_users
    Retrained(Spy(), guard, draws=3, budget=0.0, random_state=0).fit(own.X, own.y)
    X, codes = Spy.seen
    assert (own.X != X).nnz == 0  # budget 0: nothing changes, and every draw would be the same
    np.testing.assert_array_equal(codes, own.y)
    attack = Retrained(Spy(), guard, random_state=0)
    assert attack.with_budget(2.0).get_params()["budget"] == 2.0
    attack.with_budget(2.0).fit(own.X, own.y)
    changed = np.asarray((Spy.seen[0][: own.n_users] != own.X).sum(axis=1)).ravel()
    assert 0 < changed.mean() <= 2.2


def test_a_detector_tells_protected_rows(world):
    groups, guard, plan = world
    detector = Detector(guard, random_state=0).fit(groups.attacker_users.X)
    test = groups.test_users
    auc = detector.auc(test.X, plan.release(0))
    assert 0.6 < auc < 1.0
    assert detector.auc(test.X, test.X) == 0.5
    statistics = detector.statistics(test.X)
    assert np.isfinite(statistics).all()
    assert (statistics[:, -1] > 0).all()  # a dimensionality
    again = Detector(guard, random_state=0).fit(groups.attacker_users.X)
    np.testing.assert_array_equal(again.score_samples(test.X), detector.score_samples(test.X))


def test_dimensionality_of_known_data(small_guard):
    """Points on a circle have one dimension, whatever the number of items."""
    angle = np.linspace(0.05, 1.5, 800)
    X = np.zeros((800, 300), dtype=np.float32)
    X[:, 0], X[:, 1] = np.cos(angle), np.sin(angle)
    detector = Detector(small_guard, neighbours=40, references=400, random_state=0).fit(csr_array(X))
    assert np.median(detector._dimensionality(csr_array(X))) == pytest.approx(1.0, abs=0.35)


def test_routing_goes_by_the_detector(world):
    groups, guard, plan = world
    own, test = groups.attacker_users, groups.test_users
    plain = ag.attacks.get("LR-A")
    aware = Retrained(plain, guard, draws=2, random_state=0)
    route = DetectThenAttack(plain, aware, Detector(guard, random_state=0)).fit(own.X, own.y)
    z = plan.release(0)
    protected = route._detector.score_samples(z) >= 0.5
    assert 0 < protected.sum() < protected.size
    expected = np.where(protected, route._aware.predict(z), route._unaware.predict(z))
    np.testing.assert_array_equal(route.predict(z), expected)
    unaware = (route._unaware.predict(z) == test.y).mean()
    assert (route.predict(z) == test.y).mean() > unaware
    assert route.with_budget(1.0).detector.budget == 1.0


def test_mistakes_are_named(small_guard, small_twin):
    plain = ag.attacks.get("LR-A")
    for make in (Retrained, MechanismInversion):
        with pytest.raises(ParameterError, match="needs it: pass guard="):
            make(plain).fit(small_twin.X, small_twin.y)
        with pytest.raises(ParameterError, match="needs a fitted guard"):
            make(plain, ag.AttriGuard()).check_options()
    with pytest.raises(ParameterError, match="the detector adapts to the guard"):
        Detector().fit(small_twin.X)
    with pytest.raises(NotFittedError, match="detector has not been trained"):
        Detector(small_guard).score_samples(small_twin.X)
    with pytest.raises(DataError, match="at least 20 users"):
        Detector(small_guard).fit(small_twin.X[:5])
    with pytest.raises(ParameterError, match="draws"):
        Retrained(plain, small_guard, draws=0).fit(small_twin.X, small_twin.y)
