"""Cross-fitting: the joint plan is made of the plans of guards that did not see the user."""

from __future__ import annotations

import numpy as np
import pytest

import attriguard as ag
from attriguard.evaluation.inference import divide
from attriguard.goals.crossfit import CrossFitted

KEY = b"0123456789abcdef"


@pytest.fixture(scope="module")
def data():
    return ag.load_dataset("twin", n_users=200, n_items=80, n_values=3, seed=1)


@pytest.fixture(scope="module", params=["mislead", "conceal", "both"])
def joint(request, data):
    group = divide(data.y, 0, 3)
    planners = tuple(
        ag.AttriGuard(goal=request.param, scale=data.scale, members=2, split=0.5, random_state=k)
        .fit(data.X[group != k], data.y[group != k])
        .planner()
        for k in range(3)
    )
    return CrossFitted(planners, group)


@pytest.mark.parametrize("budget", [None, 6.5])
def test_every_user_gets_the_plan_of_a_guard_that_learnt_from_others(joint, data, budget):
    plan = joint.plan(data.X, users=data.users)
    if budget is not None:
        plan = plan.with_budget(budget)
    released = plan.release(key=KEY)
    for k, planner in enumerate(joint.planners):
        mine = np.flatnonzero(joint.group == k)
        own = planner.plan(data.X[mine], users=data.users[mine], budget=budget)
        assert plan.expected_cost[mine] == pytest.approx(own.expected_cost)
        assert (released[mine] != own.release(key=KEY)).nnz == 0


def test_nobody_gets_more_changes_than_he_accepts(joint, data):
    plan = joint.plan(data.X, users=data.users, most=2)
    sizes = np.diff(plan.edits.indptr).reshape(plan.success.shape)
    assert sizes[plan.probabilities > 0].max() == 2
    assert plan.probabilities.sum(axis=1) == pytest.approx(1.0)
    again = plan.with_budget(9.0)
    assert np.diff(again.edits.indptr).reshape(again.success.shape)[again.probabilities > 0].max() == 2


def test_the_joint_plan_is_in_the_order_of_the_table(joint, data):
    order = np.random.default_rng(0).permutation(data.n_users)
    shuffled = CrossFitted(joint.planners, joint.group[order])
    one, other = joint.plan(data.X, users=data.users), shuffled.plan(data.X[order], users=data.users[order])
    assert other.expected_cost == pytest.approx(one.expected_cost[order])
    assert (other.release(key=KEY) != one.release(key=KEY)[order]).nnz == 0
