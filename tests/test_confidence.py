"""Confidence: a lead that is asked for, or that spends what the budget leaves."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest


def test_auto_confidence_spends_what_the_budget_leaves_and_no_more(small_twin, small_guard):
    X = small_twin.test.X
    plain = small_guard.plan(X, budget=6.0)
    guard = deepcopy(small_guard).set_params(confidence="auto", budget=6.0)
    auto = guard.plan(X)
    assert auto.expected_cost.mean() > plain.expected_cost.mean() + 0.5
    assert (auto.expected_cost <= 6.0 * (1 + 1e-9)).all()
    fits = (plain.cost @ plain.target) <= 6.0
    np.testing.assert_allclose(auto.probabilities[fits], np.tile(auto.target, (fits.sum(), 1)), atol=1e-12)


@pytest.mark.parametrize("confidence", [0.0, 4.0, "auto"])
@pytest.mark.parametrize(("first", "then"), [(0.0, 6.0), (6.0, 0.0), (6.0, 2.0)])
def test_another_budget_is_the_same_as_planning_for_it(small_twin, small_guard, confidence, first, then):
    X = small_twin.test.X[:30]
    guard = deepcopy(small_guard).set_params(confidence=confidence)
    planned, moved = guard.plan(X, budget=then), guard.plan(X, budget=first).with_budget(then)
    np.testing.assert_array_equal(moved.probabilities, planned.probabilities)
    np.testing.assert_array_equal(moved.cost, planned.cost)
    for i in range(small_twin.m):
        assert (moved.candidate(i) != planned.candidate(i)).nnz == 0


def test_later_searches_of_a_plan_are_not_reported_to_who_watched_the_first(small_twin, small_guard):
    seen = []
    guard = deepcopy(small_guard).set_params(confidence="auto")
    plan = guard.plan(small_twin.test.X[:10], budget=4.0, progress=lambda *step: seen.append(step))
    seen.clear()
    plan.with_budget(2.0)
    assert seen == []


def test_a_confidence_beyond_the_budget_still_keeps_the_budget(small_twin, small_guard):
    guard = deepcopy(small_guard).set_params(confidence=6.0, budget=0.1)
    plan = guard.plan(small_twin.test.X)
    assert (plan.cost[np.arange(plan.X.shape[0]), plan.inferred] == 0).any()
    assert (plan.expected_cost <= 0.1 * (1 + 1e-9)).all()
