"""How much the ratings of a publisher's own users may still say of their values.

Too much tells the value; too little makes the ratings point away from it, and that tells, too. Where the best lies
depends on the table and on the budget, so it is tried out: an attacker, who retrains or does not, is asked each time.
What the best release still tells, its guards then learn, and plan once more.
"""

from __future__ import annotations

from collections.abc import Callable

from attriguard.plan import Plan
from attriguard.progress import Progress

# What ratings may say of a user's own value, as a multiple of its prior.
SHARES = (1.4, 1.2, 1.1, 1.0, 0.7, 0.5, 0.35, 0.2, 0.1)
AT_THE_PRIOR = SHARES.index(1.0)


def best_share(
    plan: Callable[[float, Progress], Plan],
    told: Callable[[Plan], float],
    again: Callable[[Plan, float, Progress], Plan],
    progress: Progress,
) -> tuple[Plan, float]:
    """The plan whose release tells least of all that are tried, and its share.

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
    return (second if told(second) < least else chosen), share
