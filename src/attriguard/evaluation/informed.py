"""How much the ratings of a publisher's own users may still say of their values.

Too much tells the value; too little makes the ratings point away from it, and that tells, too. Where the best lies
depends on the table and on the budget, so it is tried out: an attacker, who retrains or does not, is asked each time.
What the best release still tells, its guards then learn, and plan once more. Where a budget is not used up, smaller
ones are tried, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from attriguard.plan import Plan
from attriguard.progress import Progress

# What ratings may say of a user's own value, as a multiple of its prior.
SHARES = (1.4, 1.2, 1.1, 1.0, 0.7, 0.5, 0.35, 0.2, 0.1)
AT_THE_PRIOR = SHARES.index(1.0)
# A plan that spends a smaller share of its budget does not use it up. Then smaller budgets are tried, so often at most.
USED_UP, HALVINGS = 0.95, 6


class BestOf(NamedTuple):
    """The plan whose release tells least of those that were tried, its share, and what its release tells."""

    plan: Plan
    share: float
    told: float

    @property
    def spent(self) -> bool:
        """Whether the plan uses up its budget, or nearly so."""
        return bool(self.plan.expected_cost.sum() >= USED_UP * self.plan.budget.sum())


def best_budget(
    search: Callable[[float | None, Progress], BestOf], budget: float | None, progress: Progress
) -> tuple[BestOf, bool]:
    """What ``search`` finds for the budget, or for half of it, a quarter and so on, where that tells less.

    The second result: is the whole budget used up? Where it is not, the plan has changes that gain nothing by the
    guards' own measure, and these may mark the values.
    """
    parts = iter(progress.parts(1.0, *[0.1] * HALVINGS))
    whole = best = found = search(budget, next(parts))
    for part in parts:
        if found.spent:
            break
        asked, cost = (float(each.mean()) for each in (found.plan.budget, found.plan.expected_cost))
        found = search(asked / 2 if np.isfinite(asked) else cost, part)
        best = min(best, found, key=lambda each: each.told)
    return best, best is whole and whole.spent


def best_share(
    plan: Callable[[float, Progress], Plan],
    told: Callable[[Plan], float],
    again: Callable[[Plan, float, Progress], Plan],
    progress: Progress,
) -> BestOf:
    """The plan whose release tells least of all that are tried.

    ``plan`` makes the plan for a share; ``told`` says what an attacker infers from its release; ``again`` plans for a
    share with guards that have seen a plan's release. From the prior it goes down for as long as that helps; where it
    does not, up.
    """
    parts = iter(progress.parts(*[1.0] * (len(SHARES) + 1)))

    def tried(at: int) -> tuple[float, Plan, float]:
        found = plan(SHARES[at], next(parts))
        return told(found), found, SHARES[at]

    best = tried(AT_THE_PRIOR)
    for way in (range(AT_THE_PRIOR + 1, len(SHARES)), range(AT_THE_PRIOR - 1, -1, -1)):
        for at in way:
            found = tried(at)
            if found[0] >= best[0]:
                break
            best = found
        if best[2] != 1.0:
            break
    least, chosen, share = best
    second = again(chosen, share, next(parts))
    after = told(second)
    return BestOf(second, share, after) if after < least else BestOf(chosen, share, least)
