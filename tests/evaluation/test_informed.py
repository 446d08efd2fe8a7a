"""How much ratings may say of a known value is found by trial: down from the prior while it helps, else up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from attriguard.evaluation.informed import SHARES, BestOf, best_budget, best_share
from attriguard.progress import Progress


def tried(told):
    """The share that is found where a release tells so much, and the shares that were tried."""
    asked = []

    def plan(share, part):
        asked.append(share)
        return share

    found = best_share(plan, told, lambda made, share, part: made, Progress())
    assert found.plan == found.share
    assert found.told == told(found.share)
    return found.share, asked


@pytest.mark.parametrize("best", SHARES)
def test_the_least_is_found_where_there_is_one_valley(best):
    share, asked = tried(lambda share: abs(SHARES.index(share) - SHARES.index(best)))
    assert share == best
    assert len(asked) == len(set(asked)) <= len(SHARES)


def test_it_stays_at_the_prior_where_nothing_helps():
    share, asked = tried(lambda share: 0.6)
    assert share == 1.0
    assert asked == [1.0, 0.7, 1.1]


def test_it_never_tells_more_than_at_the_prior():
    told = dict(zip(SHARES, (0.9, 0.8, 0.75, 0.7, 0.69, 0.72, 0.5, 0.9, 0.9), strict=True))
    share, _ = tried(told.get)
    assert told[share] <= told[1.0]
    assert share == 0.7  # the first valley, not the deepest: every trial is a plan for the whole table


@pytest.mark.parametrize(("second", "taken"), [(0.4, "second"), (0.6, "first")])
def test_what_guards_plan_that_have_seen_the_release_is_taken_where_it_tells_less(second, taken):
    told = {"first": 0.5, "second": second}
    found = best_share(lambda share, part: "first", told.get, lambda made, share, part: "second", Progress())
    assert found == (taken, 1.0, told[taken])


@dataclass
class Spending:
    """A plan of one user."""

    budget: np.ndarray
    expected_cost: np.ndarray


def budgets_tried(asked, told, most):
    """What is found where no plan makes more than ``most`` changes and a budget tells so much, and what was tried."""
    tried = []

    def search(budget, part):
        tried.append(budget)
        plan = Spending(np.array([budget]), np.array([min(budget, most)]))
        return BestOf(plan, 1.0, told(budget))

    found, spent = best_budget(search, asked, Progress())
    return float(found.plan.budget[0]), spent, tried


def test_a_budget_that_is_used_up_is_the_only_one_that_is_tried():
    assert budgets_tried(4.0, lambda budget: budget, most=9) == (4.0, True, [4.0])


def test_where_a_budget_is_not_used_up_smaller_ones_are_tried_until_one_is():
    marks = {16.0: 0.69, 8.0: 0.70, 4.0: 0.6, 2.0: 0.5}
    assert budgets_tried(16.0, marks.get, most=7) == (4.0, False, [16.0, 8.0, 4.0])
    assert budgets_tried(16.0, lambda budget: -budget, most=7) == (16.0, False, [16.0, 8.0, 4.0])


def test_without_a_limit_the_next_budget_is_what_was_spent():
    assert budgets_tried(np.inf, lambda budget: 1.0, most=7)[2] == [np.inf, 7.0]
