"""One way to release a publisher's own table: a goal and its guards, for any budget.

Where the goal uses what the publisher knows, what a user's ratings say of his own value is removed; how much of it is
tried out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from attriguard.evaluation.informed import BestOf, best_budget, best_share
from attriguard.goals.base import Truth
from attriguard.goals.crossfit import CrossFitted
from attriguard.operations.checking import ReleaseChecker
from attriguard.operations.protector import Block, Prepared, Protector
from attriguard.plan import Plan
from attriguard.progress import Progress


@dataclass(frozen=True, eq=False)
class Candidate:
    """A goal with the guards that serve it, and what tries out its releases."""

    goal: str
    protector: Protector
    prepared: Prepared
    checker: ReleaseChecker
    chance: np.random.Generator | None

    def release(self, budget: float | None, progress: Progress) -> tuple[Block, tuple[str, ...]]:
        """The table, released within a budget (None: the guards' own), and what was tried out for it."""
        if not (self.protector.wishes.informed and self.protector.planner.goal.uses_truth):
            return self.protector.release(self.prepared, self._plan(budget, None, progress), self.chance), ()
        found, spent = best_budget(self._search, budget, progress)
        notes = [f"tried out: of a user's value the ratings may say {found.share:g} times what is known without them"]
        if not spent:
            notes.append("the budget is not used up: with more removals ratings would point away from the value")
        return self.protector.release(self.prepared, found.plan, self.chance), tuple(notes)

    def _search(self, budget: float | None, progress: Progress) -> BestOf:
        """The best of all plans within a budget."""
        return best_share(
            lambda share, part: self._plan(budget, share, part),
            lambda plan: self.checker.told(self._shown(plan)),
            lambda plan, share, part: self._after(plan)._plan(budget, share, part),
            progress,
        )

    def _shown(self, plan: Plan) -> csr_array:
        """Everybody's rows in a release."""
        return self.prepared.whole(plan.release(0))

    def _after(self, plan: Plan) -> Candidate:
        """The same with guards that have seen what a release tells."""
        planner = self.protector.planner
        assert isinstance(planner, CrossFitted)
        seen = planner.learning_from(self._shown(plan), self.prepared.data.y)
        return replace(self, protector=replace(self.protector, planner=seen))

    def _plan(self, budget: float | None, share: float | None, progress: Progress) -> Plan:
        truth = None if share is None else Truth(self.prepared.data.y, share)
        return self.protector.plan(self.prepared, progress, budget, truth)
