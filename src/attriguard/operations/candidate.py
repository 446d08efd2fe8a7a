"""One way to release a publisher's own table: a goal and its guards, for any budget.

Where the goal uses what the publisher knows, a user's ratings are moved away from his own value. Too little leaves what
they tell; too much makes them point away from it, and that tells, too. How far to go depends on the table and on the
budget, so it is tried out: as far as possible without attackers who learnt from original rows doing worse than a coin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attriguard.goals.base import Truth
from attriguard.operations.checking import ReleaseChecker
from attriguard.operations.protector import Block, Prepared, Protector
from attriguard.plan import Plan
from attriguard.progress import Progress

# What may be left of the mass of a user's own value, from not using the truth to going far.
SHARES = (1.0, 0.7, 0.5, 0.35, 0.2, 0.1, 0.05, 0.02)
COIN = 0.5


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
        if not self.protector.planner.goal.uses_truth:
            return self.protector.release(self.prepared, self._plan(budget, None, progress), self.chance), ()
        plan, share = self._tried_out(budget, progress)
        note = f"tried out: of a user's own value {share:.0%} is left in what the user's ratings shall point to"
        return self.protector.release(self.prepared, plan, self.chance), (note,)

    def _tried_out(self, budget: float | None, progress: Progress) -> tuple[Plan, float]:
        """The plan that goes furthest without making attackers worse than a coin; the farther, the worse they are."""
        parts = iter(progress.parts(*[1.0] * (int(np.log2(len(SHARES))) + 2)))
        best = self._plan(budget, SHARES[0], next(parts))
        low, high = 0, len(SHARES)  # SHARES[low] is not too far, SHARES[high] would be
        while high - low > 1:
            middle = (low + high) // 2
            plan = self._plan(budget, SHARES[middle], next(parts))
            if self.checker.unaware(self.prepared.whole(plan.release(0))) >= COIN:
                low, best = middle, plan
            else:
                high = middle
        return best, SHARES[low]

    def _plan(self, budget: float | None, share: float | None, progress: Progress) -> Plan:
        truth = None if share is None else Truth(self.prepared.data.y, share)
        return self.protector.plan(self.prepared, progress, budget, truth)
