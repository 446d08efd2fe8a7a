"""The engine: exact, sampled, kept, and refusing what it cannot do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import attriguard as ag
from attriguard._fingerprint import fingerprint
from attriguard.attacks.retrained import Retrained
from attriguard.errors import DataError, NotFittedError, ParameterError
from attriguard.evaluation.aware import evaluate_aware
from attriguard.evaluation.cache import Cache
from attriguard.evaluation.engine import evaluate
from attriguard.evaluation.measure import Measure
from attriguard.evaluation.protocol import halves, three_groups

BUDGETS = [0.0, 1.0, 3.0]


class Counting(ag.attacks.Attack):
    """Logistic regression that counts how often it learns."""

    name, summary = "counting", "counts"
    fits = 0

    def __init__(self, *, C=1.0):
        self.C = C

    def _fit(self, X, codes):
        Counting.fits += 1
        self._inner = ag.attacks.get("LR-A", C=self.C).fit(X, codes)

    def _predict_proba(self, X):
        return self._inner.predict_proba(X)


@pytest.fixture
def parts(small_twin, small_guard):
    train, test = small_twin.split()
    Counting.fits = 0
    return (train.X, train.y), test, small_guard.plan(test.X)


def test_exact_curves_are_those_of_the_definition(parts):
    train, test, plan = parts
    curve = evaluate(plan, [Counting()], test.y, BUDGETS, train=train)[0]
    attack = ag.attacks.get("LR-A").fit(*train)
    hits = np.column_stack([attack.predict(plan.candidate(i)) == test.y for i in range(plan.edits.m)])
    plans = [plan.with_budget(budget) for budget in BUDGETS]
    assert curve.accuracy == tuple((each.probabilities * hits).sum(axis=1).mean() for each in plans)
    assert curve.expected_cost == tuple(each.expected_cost.mean() for each in plans)
    assert curve.before == curve.accuracy[0]


def test_nothing_is_trained_twice(parts, tmp_path):
    train, test, plan = parts
    cache = Cache(tmp_path)
    first = evaluate(plan, [Counting()], test.y, BUDGETS, train=train, measure=Measure(cache=cache))
    # Other budgets are arithmetic.
    again = evaluate(plan, [Counting()], test.y, [0.5, 2.0], train=train, measure=Measure(cache=cache))
    assert Counting.fits == 1
    assert again[0].before == first[0].before
    evaluate(plan, [Counting(C=0.5)], test.y, BUDGETS, train=train, measure=Measure(cache=cache))
    assert Counting.fits == 2
    evaluate(plan, [Counting()], test.y, BUDGETS, train=(train[0][:700], train[1][:700]), measure=Measure(cache=cache))
    assert Counting.fits == 3
    for file in (tmp_path / "predictions").iterdir():
        file.write_bytes(b"cut")
    assert evaluate(plan, [Counting()], test.y, BUDGETS, train=train, measure=Measure(cache=cache)) == first
    assert Counting.fits == 4


def test_a_killed_run_goes_on(parts, tmp_path):
    train, test, plan = parts

    class Killed(Counting):
        name = "killed"

        def _predict_proba(self, X):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(plan, [Counting(), Killed()], test.y, BUDGETS, train=train, measure=Measure(cache=Cache(tmp_path)))
    assert Counting.fits == 2
    evaluate(plan, [Counting()], test.y, BUDGETS, train=train, measure=Measure(cache=Cache(tmp_path)))
    assert Counting.fits == 2


def test_unseeded_chance_is_never_taken_from_the_cache(parts, tmp_path, small_guard):
    assert fingerprint(ag.attacks.get("RF-A")) is None
    assert fingerprint(ag.attacks.get("RF-A", random_state=1)) != fingerprint(ag.attacks.get("RF-A", random_state=2))
    seeded = ag.attacks.get("RF-A", random_state=1)
    assert fingerprint(Retrained(seeded, small_guard)) is None
    one, two = (Retrained(seeded, small_guard, random_state=0, budget=b) for b in (1.0, 2.0))
    assert fingerprint(one) == fingerprint(one.untrained()) != fingerprint(two)


def test_one_who_adapts_learns_for_every_budget(parts, small_guard, tmp_path):
    train, test, plan = parts
    attack = Retrained(Counting(), small_guard, draws=1, random_state=0)
    curve = evaluate(plan, [attack], test.y, BUDGETS, train=train, measure=Measure(cache=Cache(tmp_path)))[0]
    assert Counting.fits == len(BUDGETS)
    trained = attack.with_budget(3.0).fit(*train)
    assert curve.accuracy[2] == evaluate(plan, [trained], test.y, [3.0])[0].accuracy[0]
    assert curve.before is None


class PlanAsDefense:
    """The guard itself, as a defense that only draws."""

    def __init__(self, plan):
        self.plan = plan

    def release_for(self, X, budget, random_state):
        return self.plan.with_budget(budget).release(random_state)


def test_sampling_agrees_with_the_expectation_within_its_interval(parts):
    train, test, plan = parts
    exact = evaluate(plan, [Counting()], test.y, BUDGETS, train=train)[0]
    sampled = evaluate(
        PlanAsDefense(plan), [Counting()], test.y, BUDGETS, train=train, X=test.X, measure=Measure(0, draws=40)
    )[0]
    assert sampled.before == exact.before
    np.testing.assert_allclose(sampled.accuracy, exact.accuracy, atol=0.03)
    np.testing.assert_allclose(sampled.expected_cost, exact.expected_cost, atol=0.1)
    assert sampled.accuracy[0] == exact.accuracy[0]
    assert all(0 < half < 0.15 for half in sampled.margin())
    assert sampled.margin() == sampled.intervals


def test_bad_input_is_named(parts, small_twin, small_guard):
    train, test, plan = parts
    attack = Counting()
    for budgets in ([], [2, 1], [-1], [float("nan")]):
        with pytest.raises(ParameterError, match="budgets"):
            evaluate(plan, [attack], test.y, budgets, train=train)
    with pytest.raises(NotFittedError, match="pass train="):
        evaluate(plan, [attack], test.y, BUDGETS)
    with pytest.raises(DataError, match="one value for each"):
        evaluate(plan, [attack], [1, 2], BUDGETS, train=train)
    with pytest.raises(DataError, match="do not disclose"):
        evaluate(plan, [attack], np.where(test.y == 1, -1, test.y), BUDGETS, train=train)
    never = np.where(train[1] == 2, -1, train[1])
    with pytest.raises(DataError, match="never saw in training"):
        evaluate(plan, [attack], test.y, BUDGETS, train=(train[0], never))
    single = np.where((train[1] == 2) & (np.cumsum(train[1] == 2) > 1), -1, train[1])
    with pytest.raises(DataError, match="single training user"):
        evaluate(plan, [attack], test.y, BUDGETS, train=(train[0], single))
    with pytest.raises(ParameterError, match="needs the data to protect"):
        evaluate(PlanAsDefense(plan), [attack], test.y, BUDGETS, train=train)
    with pytest.raises(ParameterError, match="a plan, or a defense"):
        evaluate(object(), [attack], test.y, BUDGETS, train=train, X=test.X)
    aware = Retrained(attack, small_guard, random_state=0)
    with pytest.raises(ParameterError, match="this defense has none"):
        evaluate(PlanAsDefense(plan), [aware], test.y, BUDGETS, train=train, X=test.X)


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(DataError, match="cannot be used as a working folder"):
        Cache(tmp_path / "taken")


def test_three_groups_share_nobody(small_twin):
    groups = three_groups(small_twin, 0)
    users = [set(group.users.tolist()) for group in groups]
    assert len(set.union(*users)) == sum(map(len, users))
    assert users[2] == set(small_twin.test.users.tolist())
    assert abs(len(users[0]) - len(users[1])) <= small_twin.m
    for one, two in zip(*(np.bincount(group.y) for group in groups[:2]), strict=True):
        assert abs(one - two) <= 1
    assert set(three_groups(small_twin, 1).guard_users.users.tolist()) != users[0]
    train, test = small_twin.split()
    y = np.where((train.y == 2) & (np.cumsum(train.y == 2) > 1), 1, train.y)
    rare = ag.PublicData(
        X=train.X, users=train.users, items=train.items, scale=train.scale, attribute="city", y=y, values=train.values
    )
    with pytest.raises(DataError, match="single training user"):
        halves(rare, test)


def test_aware_attackers_side_by_side(small_twin, tmp_path):
    plain = ag.attacks.get("LR-A")
    found = evaluate_aware(
        three_groups(small_twin, 0), ag.AttriGuard(), [plain], [1.0, 4.0], inversion=[plain], detector=True,
        measure=Measure(draws=1, cache=Cache(tmp_path)),
    )  # fmt: skip
    assert [curve.attack for curve in (*found.unaware, *found.retrained, *found.inversion)] == [
        "LR-A", "LR-A retrained", "mechanism inversion with LR-A",
    ]  # fmt: skip
    assert len(found.detection) == 2
    assert all(0.4 < auc <= 1 for auc in found.detection)
    assert found.n_guard + found.n_attacker == small_twin.train.n_users
    assert found.worst.accuracy[-1] >= found.retrained[0].accuracy[-1]


def test_removals_are_undone_by_weighing_them(small_twin):
    plain = ag.attacks.get("LR-A")
    guard = ag.AttriGuard(goal="conceal", members=2, random_state=0)
    found = evaluate_aware(
        three_groups(small_twin, 0), guard, [plain], [2.0], inversion=[plain], measure=Measure(draws=1)
    )
    assert [curve.attack for curve in found.inversion] == ["removal inversion with LR-A"]
    assert 0.2 < found.inversion[0].accuracy[0] < 1


def test_the_cache_tells_guards_apart(small_twin):
    def guard(**options):
        return ag.AttriGuard(**options).fit(small_twin.X, small_twin.y)

    assert fingerprint(guard()) == fingerprint(guard()) == fingerprint(guard(random_state=3))
    assert len({fingerprint(guard()), fingerprint(guard(policy="add_new")), fingerprint(guard(search="panda"))}) == 3
    assert fingerprint(csr_array([[0.5, 0]])) != fingerprint(csr_array([[0, 0.5]]))
    assert fingerprint(object()) is None
