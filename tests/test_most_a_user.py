"""A limit of one's own for each user: no draw makes more changes than that, whatever the goal and the budget."""

from __future__ import annotations

import numpy as np
import pytest

import attriguard as ag
from attriguard.goals.crossfit import CrossFitted


@pytest.fixture(scope="module")
def world():
    data = ag.load_dataset("twin", n_users=700, n_items=100, n_values=3, seed=3)
    learning, users = data.take(np.arange(400)), data.take(np.arange(400, 700))
    guard = ag.AttriGuard(goal="both", split=0.5, members=1, budget=3.0, scale=data.scale, random_state=0)
    return guard.fit(learning.X, learning.y), users, np.random.default_rng(0).integers(0, 5, 300)


def changes(X, released):
    return np.diff((released != X).tocsr().indptr)


@pytest.mark.parametrize("over", ["user", "everyone"])
@pytest.mark.parametrize("goal", ["mislead", "conceal", "both"])
def test_no_user_gets_more_changes_than_his_own_limit(world, goal, over):
    guard, users, most = world
    own = ag.AttriGuard(**guard.get_params()).set_params(goal=goal, budget_over=over)
    own.__dict__ |= {name: value for name, value in vars(guard).items() if name.endswith("_")}
    plan = own.plan(users.X, most=most)
    for i in np.flatnonzero(plan.probabilities.any(axis=0)):
        drawn = plan.probabilities[:, i] > 0
        assert (changes(users.X, plan.candidate(i))[drawn] <= most[drawn]).all()
    assert (changes(users.X, plan.release(0)) <= most).all()
    free = changes(users.X, own.plan(users.X).release(0))
    assert (free > most).sum() > 30  # without a limit, many would get more


def test_one_number_is_the_same_number_for_everybody(world):
    guard, users, _ = world
    one, each = (guard.plan(users.X, most=most) for most in (2, np.full(300, 2)))
    assert (one.probabilities == each.probabilities).all()
    assert (one.release(0) != each.release(0)).nnz == 0


def test_a_cross_fitted_plan_keeps_each_users_limit(world):
    guard, users, most = world
    planner = CrossFitted((guard.planner(), guard.planner()), np.arange(300) % 2)
    released = planner.plan(users.X, most=most, users=users.users).release(0)
    assert (changes(users.X, released) <= most).all()
    assert planner.take(np.arange(0)).plan(users.X[:0], users=users.users[:0]).release(0).shape == (0, 100)


def test_another_turn_is_another_draw_under_the_same_key(world):
    guard, users, _ = world
    plan = guard.plan(users.X, users=users.users)
    first, again, other = (plan.draw(key=b"0123456789abcdef", turn=turn) for turn in (0, 0, 1))
    assert (first == again).all()
    assert (first != other).mean() > 0.1
    assert (first == plan.draw(key=b"0123456789abcdef")).all()
