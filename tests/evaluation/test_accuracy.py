"""The expected accuracy is what sampling would give, without its noise."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

import attriguard as ag
from attriguard.evaluation.engine import evaluate


@pytest.fixture(scope="module")
def attack(small_twin):
    return ag.attacks.get("LR-A").fit(small_twin.train.X, small_twin.train.y)


def test_budget_0_is_the_accuracy_without_a_guard(small_twin, small_guard, attack):
    test = small_twin.test
    (curve,) = evaluate(small_guard.plan(test.X), [attack], test.y, [0, 1, 3])
    assert curve.accuracy[0] == pytest.approx((attack.predict(test.X) == test.y).mean())
    assert curve.expected_cost[0] == 0
    assert curve.expected_cost[1] <= 1


def test_budget_0_changes_nothing_whatever_the_lead(small_twin, small_guard, attack):
    test = small_twin.test
    plan = deepcopy(small_guard).set_params(confidence=4.0).plan(test.X)
    (curve,) = evaluate(plan, [attack], test.y, [0, 3])
    assert curve.accuracy[0] == pytest.approx((attack.predict(test.X) == test.y).mean())
    assert curve.expected_cost[0] == 0
    assert curve.expected_l2[0] == 0
    assert evaluate(plan, [attack], test.y, [0, 3], train=(small_twin.train.X, small_twin.train.y)) == [curve]


def test_it_is_the_sum_over_candidates(small_twin, small_guard, attack):
    test, plan = small_twin.test, small_guard.plan(small_twin.test.X, budget=2.0)
    known = sum(plan.probabilities[:, i] * (attack.predict(plan.candidate(i)) == test.y) for i in range(plan.edits.m))
    assert evaluate(plan, [attack], test.y, [2.0])[0].accuracy[0] == pytest.approx(known.mean(), rel=1e-12)


def test_the_expectation_is_the_mean_of_many_releases(small_twin, small_guard, attack):
    test = small_twin.test
    plan = small_guard.plan(test.X, budget=1.5)
    expected = evaluate(plan, [attack], test.y, [1.5])[0].accuracy[0]
    rng = np.random.default_rng(0)
    sampled = [(attack.predict(plan.release(rng)) == test.y).mean() for _ in range(150)]
    assert abs(np.mean(sampled) - expected) < 4 * np.std(sampled) / np.sqrt(150)
