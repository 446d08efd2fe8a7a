"""A publisher's own table in an experiment: all of its users are protected, each by a guard that learnt from others."""

from __future__ import annotations

import copy
from functools import partial
from typing import NamedTuple

from attriguard.attacks import lineup
from attriguard.data.public_data import PublicData
from attriguard.evaluation.check import Checker
from attriguard.evaluation.inference import divide, divide_for_guards
from attriguard.evaluation.informed import BestOf, best_budget, best_share
from attriguard.goals.base import Truth
from attriguard.goals.crossfit import CrossFitted
from attriguard.goals.price import EVERYONE
from attriguard.guard import AttriGuard
from attriguard.plan import Plan
from attriguard.progress import Progress

# Who says how much an informed release tells: one who retrains, and some who do not.
TRIED, UNAWARE = "NB-A", ("LR-A", "MLP-A", "NB-A")


class Way(NamedTuple):
    """A goal, whose budget it has, and whether it is told the users' values."""

    goal: str
    over: str
    informed: bool = False

    @property
    def name(self) -> str:
        """For tables."""
        return f"{self.goal}, {'everyone' if self.over == EVERYONE else 'each user'}{', informed' * self.informed}"


class OwnTable:
    """Users whose values are known, the guards that learn from them, and those who attack what is released.

    Parameters
    ----------
    users
        All of them disclose the attribute. Their ratings are what is protected.
    guard
        The options of the guards; one learns from the users of all groups but one, and protects that one.
    seed
        Decides the groups, another for the attackers than for the guards.
    """

    def __init__(self, users: PublicData, guard: AttriGuard, seed: int) -> None:
        self.users = users
        self.group = divide_for_guards(users.y, seed)
        numbers = range(int(self.group.max()) + 1)
        self.guards = [copy.copy(guard).fit(users.X[self.group != k], users.y[self.group != k]) for k in numbers]
        self.checker = Checker(users.X, users.y, divide(users.y, seed + 1), lineup(UNAWARE, random_state=seed))

    def plan(self, way: Way, budget: float, progress: Progress) -> Plan:
        """The plan for all users; of informed ones, the one that tells least."""
        options = {"goal": way.goal, "budget": budget, "budget_over": way.over}
        planners = tuple(copy.copy(guard).set_params(**options).planner() for guard in self.guards)
        planner = CrossFitted(planners, self.group)

        def plan(planner: CrossFitted, budget: float | None, share: float | None, part: Progress) -> Plan:
            truth = None if share is None else Truth(self.users.y, share)
            return planner.plan(self.users.X, budget=budget, truth=truth, users=self.users.users, progress=part)

        def search(budget: float | None, part: Progress) -> BestOf:
            return best_share(
                partial(plan, planner, budget),
                lambda tried: self.checker.told(tried.release(0), TRIED, UNAWARE),
                lambda tried, *rest: plan(planner.learning_from(tried.release(0), self.users.y), budget, *rest),
                part,
            )

        return best_budget(search, None, progress)[0].plan if way.informed else plan(planner, None, None, progress)
