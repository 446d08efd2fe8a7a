"""How far the ratings of a publisher's own users are moved away from their values.

Too little leaves what they tell; too much makes them point away from the value, and that tells, too. How far to go
depends on the table and on the budget, so it is tried out: as far as possible without attackers who learnt from
original rows doing worse than a coin.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attriguard.plan import Plan
from attriguard.progress import Progress

# What may be left of the mass of a user's own value, from not using the truth to going far.
SHARES = (1.0, 0.7, 0.5, 0.35, 0.2, 0.1, 0.05, 0.02)
COIN = 0.5


def farthest(
    plan: Callable[[float, Progress], Plan], unaware: Callable[[Plan], float], progress: Progress
) -> tuple[Plan, float]:
    """The plan that goes furthest without making attackers worse than a coin, and its share.

    ``plan`` makes the plan that leaves a share; ``unaware`` says what AUC attackers who learnt from original rows have
    on its release: the farther, the smaller. The smallest share that passes is found by halving.
    """
    parts = iter(progress.parts(*[1.0] * (int(np.log2(len(SHARES))) + 2)))
    best = plan(SHARES[0], next(parts))
    low, high = 0, len(SHARES)  # SHARES[low] is not too far, SHARES[high] would be
    while high - low > 1:
        middle = (low + high) // 2
        tried = plan(SHARES[middle], next(parts))
        if unaware(tried) >= COIN:
            low, best = middle, tried
        else:
            high = middle
    return best, SHARES[low]
