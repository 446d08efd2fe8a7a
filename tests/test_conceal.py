"""The goals: what "conceal" and "both" promise, and that "mislead" is what it always was."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone

import attriguard as ag
from attriguard.attacks.detector import Detector
from attriguard.attacks.inversion import MechanismInversion
from attriguard.attacks.retrained import Retrained
from attriguard.errors import ParameterError
from attriguard.evaluation.aware import evaluate_aware
from attriguard.evaluation.engine import evaluate
from attriguard.evaluation.measure import Measure
from attriguard.evaluation.protocol import three_groups
from attriguard.goals.trial import best_share


@pytest.fixture(scope="module")
def data():
    return ag.load_dataset("twin", n_users=2000, n_items=300, n_values=4, seed=2)


@pytest.fixture(scope="module")
def guards(data):
    train = data.train
    return {
        goal: ag.AttriGuard(goal=goal, members=2, random_state=0).fit(train.X, train.y, items=data.items)
        for goal in ("mislead", "conceal", "both")
    }


def test_what_both_takes_away_stays_away_whatever_the_lead(guards, data):
    X = data.test.X
    plan = deepcopy(guards["both"]).set_params(split=0.5, confidence=6.0).plan(X, budget=4.0)
    kept = plan.release(0).multiply(X != 0).astype(bool).sum(axis=1)
    assert (np.diff(X.indptr) - kept >= np.minimum(np.diff(X.indptr), 2)).all()
    assert (plan.expected_cost <= 4.0 * (1 + 1e-9)).all()


def test_mislead_is_the_default_and_unchanged(data, guards):
    train, test = data.split()
    plain = ag.AttriGuard().fit(train.X, train.y).plan(test.X)
    asked = guards["mislead"].plan(test.X)
    assert (plain.probabilities == asked.probabilities).all()
    assert (plain.edits.items == asked.edits.items).all()
    assert guards["mislead"].ensemble_ is None


def test_concealing_removes_what_tells_most(data, guards):
    test, guard = data.test, guards["conceal"]
    plan = guard.plan(test.X, budget=3.0)
    assert plan.edits.m == 4  # no change, and one, two, three of them
    assert plan.target is None
    rated = np.diff(test.X.indptr)
    np.testing.assert_array_equal(plan.expected_cost, np.minimum(rated, 3))
    release = plan.release(0)
    assert (release.multiply(test.X) != release.multiply(release)).nnz == 0  # what is left is as it was
    assert ((test.X - release).count_nonzero(axis=1) == np.minimum(rated, 3)).all()
    before, after = (guard.ensemble_.predict_proba(X).max(axis=1).mean() for X in (test.X, release))
    random = test.X.copy()
    rng = np.random.default_rng(0)
    for u in range(test.n_users):
        random.data[rng.choice(np.arange(*random.indptr[u : u + 2]), min(3, rated[u]), replace=False)] = 0
    random.eliminate_zeros()
    assert after < 0.8 * before
    assert after < guard.ensemble_.predict_proba(random).max(axis=1).mean() - 0.05


@given(st.floats(0, 5), st.integers(0, 1000))
@settings(max_examples=20)
def test_a_budget_is_met_by_drawing_between_two_counts(guards, data, budget, seed):
    plan = guards["conceal"].plan(data.test.X[:40], budget=5.0)
    each = np.random.default_rng(seed).uniform(0, 5, size=40)
    for asked in (budget, each):
        known = plan.with_budget(asked)
        assert known.edits is plan.edits
        np.testing.assert_allclose(known.probabilities.sum(axis=1), 1, atol=1e-12)
        np.testing.assert_allclose(known.expected_cost, np.minimum(asked, np.diff(known.X.indptr)), atol=1e-9)
        counts = [np.flatnonzero(row) for row in known.probabilities]
        assert all(k.size == 1 or (k.size == 2 and k[1] == k[0] + 1) for k in counts)


def test_a_larger_budget_than_planned_is_searched_for(guards, data):
    plan = guards["conceal"].plan(data.test.X, budget=2.0)
    larger, anew = plan.with_budget(5.0), guards["conceal"].plan(data.test.X, budget=5.0)
    assert (larger.probabilities == anew.probabilities).all()
    assert (larger.edits.items == anew.edits.items).all()
    assert larger.with_budget(2.0).expected_cost == pytest.approx(plan.expected_cost)


@pytest.mark.parametrize("goal", ["conceal", "both"])
def test_locked_items_stay(guards, data, goal):
    X = data.test.X[:30]
    free = guards[goal].plan(X, budget=4.0)
    touched = free.edits.apply(X, np.argmax(free.probabilities, axis=1)) != X
    first = csr_array(touched.astype(np.float32))
    plan = guards[goal].plan(X, budget=4.0, locked=first)
    popular = data.items[np.argsort(-np.bincount(data.X.indices, minlength=data.n_items))[:20]].tolist()
    locked = clone(guards[goal]).set_params(locked=popular, split=0.5)
    locked.fit(data.train.X, data.train.y, items=data.items)
    everybody = locked.plan(X, budget=4.0)
    columns = np.flatnonzero(np.isin(data.items, popular))
    for i in range(plan.edits.m):
        moved = (plan.candidate(i) != X).astype(np.float32)
        assert moved.multiply(first).nnz == 0
        assert (everybody.candidate(i)[:, columns] != X[:, columns]).nnz == 0


def test_under_add_new_concealing_only_adds(guards, data):
    guard = guards["conceal"]
    X = data.test.X[:50]
    try:
        plan = guard.set_params(policy="add_new").plan(X, budget=2.5)
    finally:
        guard.set_params(policy="modify_add")
    np.testing.assert_allclose(plan.expected_cost, 2.5)
    release = plan.release(0)
    assert (release.multiply(X != 0) != X).nnz == 0
    after, before = (guard.ensemble_.predict_proba(rows).max(axis=1).mean() for rows in (release, X))
    assert after < before


@pytest.mark.parametrize(
    ("left", "best"),
    [
        ([[0.36, 0.25], [0.28, 0.21], [0.23, 0.24]], 1),  # half holds who knows, and leaves the other least
        ([[0.36, 0.20], [0.28, 0.21], [0.23, 0.24]], 1),  # nothing taken away would not hold who knows
        ([[0.36, 0.25], [0.34, 0.20], [0.23, 0.24]], 2),  # half holds him too little
        ([[0.36, 0.25], [0.28, 0.24], [0.23, 0.21]], 2),
        ([[0.36, 0.25], [0.28, 0.24], [0.23, 0.24]], 2),
        ([[0.30, 0.20], [0.31, 0.10], [0.32, 0.20]], 2),  # where taking away does not hold him, half does not either
    ],
)
def test_the_split_holds_who_knows_and_leaves_least_to_who_does_not(left, best):
    assert best_share(np.array(left)) == best


def test_both_takes_away_and_points_elsewhere(guards, data):
    guard, X = guards["both"], data.test.X
    assert 0 <= guard.split_ <= 1
    guard.set_params(split=0.5)
    try:
        plan = guard.plan(X, budget=4.0)
        smaller = plan.with_budget(2.0)
        anew = guard.plan(X, budget=2.0)
    finally:
        guard.set_params(split=None)
    assert plan.edits.m == data.m
    assert (plan.expected_cost <= 4.0 + 1e-9).all()
    assert (smaller.probabilities == anew.probabilities).all()
    assert (smaller.edits.items == anew.edits.items).all()
    assert plan.with_budget(4.0).edits is plan.edits  # remembered, not searched again
    for i in range(data.m):
        candidate = plan.candidate(i)
        assert (np.argmax(guard.classifier_.decision_function(candidate), axis=1) == i)[plan.success[:, i]].all()
        assert ((candidate != X).astype(int).sum(axis=1) == plan.cost[:, i]).all()
        gone = (X != 0).astype(int).sum(axis=1) - candidate.multiply(X != 0).astype(bool).astype(int).sum(axis=1)
        assert (gone >= np.minimum(np.diff(X.indptr), 2))[plan.success[:, i]].all()
    whole = guard.set_params(split=0.0).plan(X, budget=4.0)
    plain = guard.set_params(split=None, goal="mislead", confidence="auto").plan(X, budget=4.0)
    guard.set_params(goal="both", confidence=None)
    assert (whole.probabilities == plain.probabilities).all()
    assert (whole.edits.items == plain.edits.items).all()


@pytest.mark.parametrize("goal", ["conceal", "both"])
def test_keyed_draws_do_not_depend_on_who_else_is_there(guards, data, goal):
    test = data.test
    key, plan = "a secret of some length", guards[goal].plan(test.X, budget=2.5, users=test.users)
    release = plan.release(key=key)
    assert (release != plan.release(key=key)).nnz == 0
    some = guards[goal].plan(test.X[10:20], budget=2.5, users=test.users[10:20]).release(key=key)
    assert (some != release[10:20]).nnz == 0


@pytest.mark.parametrize("goal", ["conceal", "both"])
def test_guards_of_every_goal_come_back_from_disk(guards, data, goal, tmp_path):
    guard = guards[goal]
    guard.save(tmp_path / "g")
    loaded = ag.load_guard(tmp_path / "g")
    one, two = (g.plan(data.test.X, budget=2.5) for g in (guard, loaded))
    assert (one.probabilities == two.probabilities).all()
    assert (one.edits.items == two.edits.items).all()
    assert (loaded.goal, loaded.split_, loaded.members) == (goal, guard.split_, 2)


def test_what_cannot_be_is_said(guards, data):
    train = data.train
    with pytest.raises(ParameterError, match="unknown goal 'hide'; known: mislead, conceal, both"):
        ag.AttriGuard(goal="hide").fit(train.X, train.y)
    with pytest.raises(ParameterError, match="counts ratings"):
        ag.AttriGuard(goal="conceal", cost="l2").fit(train.X, train.y)
    with pytest.raises(ParameterError, match="counts ratings"):
        ag.AttriGuard(goal="both", cost="l2").fit(train.X, train.y)
    with pytest.raises(ParameterError, match="split"):
        ag.AttriGuard(goal="both", split=1.5).fit(train.X, train.y)
    with pytest.raises(ParameterError, match="members"):
        ag.AttriGuard(goal="conceal", members=0).fit(train.X, train.y)
    with pytest.raises(ParameterError, match="members must be a whole number"):
        ag.AttriGuard(goal="conceal", members=2.7).fit(train.X, train.y)
    with pytest.raises(ParameterError, match="unknown goal 'hide'"):
        deepcopy(guards["both"]).set_params(goal="hide").plan(data.test.X)
    guard = guards["mislead"]
    try:
        with pytest.raises(ParameterError, match="learnt with goal='mislead'; fit it again with goal='conceal'"):
            guard.set_params(goal="conceal").plan(data.test.X)
    finally:
        guard.set_params(goal="mislead")
    with pytest.raises(ParameterError, match="undoes a guard that misleads"):
        MechanismInversion(ag.attacks.get("LR-A"), guards["conceal"]).fit(train.X, train.y)


def test_the_evaluation_knows_all_goals(data):
    """Exact expectations against sampled ones, and the attackers who know."""
    groups = three_groups(data, 0)
    for goal in ("conceal", "both"):
        guard = ag.AttriGuard(goal=goal, members=2, split=None if goal == "conceal" else 0.5, random_state=0)
        found = evaluate_aware(
            groups, guard, [ag.attacks.get("LR-A")], [1.0, 2.5], detector=True, measure=Measure(draws=1)
        )
        test, own = groups.test_users, groups.attacker_users
        plan = guard.plan(test.X, budget=2.5)
        attack = ag.attacks.get("LR-A").fit(own.X, own.y)
        sampled = np.mean([(attack.predict(plan.release(seed)) == test.y).mean() for seed in range(20)])
        assert found.unaware[0].accuracy[1] == pytest.approx(sampled, abs=0.02)
        assert found.unaware[0].expected_cost[0] <= 1.0 + 1e-9
        assert found.unaware[0].accuracy[1] < found.unaware[0].before - 0.1
        curve = evaluate(plan, [attack], test.y, [2.5])[0]
        assert curve.accuracy[0] == pytest.approx(found.unaware[0].accuracy[1])
        assert 0.4 < found.detection[0] <= 1


def test_concealing_holds_against_one_who_retrains():
    data = ag.load_dataset("twin", n_users=5000, n_items=600, n_values=6, seed=1)
    theirs, own, test = three_groups(data, 0)
    accuracy = {}
    for goal in ("mislead", "conceal"):
        guard = ag.AttriGuard(goal=goal, members=3, random_state=0, budget=4.0).fit(theirs.X, theirs.y)
        attack = Retrained(ag.attacks.get("MLP-A", random_state=0), guard, draws=1, random_state=0)
        accuracy[goal] = evaluate(guard.plan(test.X), [attack], test.y, [4.0], train=(own.X, own.y))[0].accuracy[0]
    assert accuracy["conceal"] < accuracy["mislead"] - 0.05


def test_the_detector_learns_every_goal(guards, data):
    detector = Detector(guards["conceal"], budget=3.0, random_state=0).fit(data.train.X)
    assert detector.auc(data.test.X, guards["conceal"].plan(data.test.X, budget=3.0).release(0)) > 0.5
