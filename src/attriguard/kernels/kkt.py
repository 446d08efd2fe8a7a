"""Phase II, compiled: the mechanism M* of one user from the KKT conditions (equations 5 to 9).

With costs and budget shifted so that the cheapest value with p_i > 0 costs nothing (d_i = c_i - c_min,
B = β - c_min), equations 6 and 8 say M_i = p_i B / (λ B + (1 - λ) d_i). That the M_i sum to 1 is an equation in λ
which λ = 1 (no budget) always solves; divided by 1 - λ it becomes

    g(λ) = Σ p_i (B - d_i) / (λ B + (1 - λ) d_i) = 0,

which is strictly decreasing and has one root in [Σ{p_i : d_i = 0}, 1]. Newton's method, kept inside a bracket.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.core import types as nb

from attriguard.kernels.types import const, out

MAX_NEWTON = 100
# A budget this much smaller than the costs is spent as no budget at all.
TINY = 1e-290


@njit(cache=True, nogil=True, inline="never")
def _root(p: Any, d: Any, B: float, low: float) -> float:
    """The λ in [low, 1] where g changes sign."""
    high = 1.0
    lam, before = low, np.inf
    for _ in range(MAX_NEWTON):
        g, slope = 0.0, 0.0
        for i in range(p.shape[0]):
            if p[i] > 0.0:
                ratio = (B - d[i]) / (lam * B + (1.0 - lam) * d[i])
                g += p[i] * ratio
                slope -= p[i] * ratio * ratio
        if g > 0.0:
            low = lam
        else:
            high = lam
        after = lam - g / slope
        # Where Newton leaves the bracket or crawls (near 0, g falls like 1 / λ), halve the bracket's logarithm.
        if not low < after < high or abs(g) > 0.25 * before:
            after = np.sqrt(low * high)
        if g == 0.0 or abs(after - lam) <= 1e-16 * lam or high - low <= 1e-16 * high:
            return lam
        lam, before = after, abs(g)
    return low


@njit(
    nb.void(
        const(nb.float64, 1), const(nb.float64, 2), const(nb.float64, 1), nb.int64, nb.int64,
        out(nb.float64, 2),
    ),
    cache=True,
    nogil=True,
)  # fmt: skip
def solve_rows(p: Any, cost: Any, budget: Any, start: int, stop: int, M: Any) -> None:
    """Fill M for users `start` to `stop`. An infinite cost marks a value out of reach.

    The caller has made sure that every user can afford the cheapest value.
    """
    m = p.shape[0]
    q, d = np.empty(m), np.empty(m)
    for u in range(start, stop):
        M[u, :] = 0.0
        total = 0.0
        cheapest, cheapest_p = -1, -1
        for i in range(m):
            if np.isinf(cost[u, i]):
                continue
            total += p[i]
            if cheapest < 0 or cost[u, i] < cost[u, cheapest]:
                cheapest = i
            if p[i] > 0.0 and (cheapest_p < 0 or cost[u, i] < cost[u, cheapest_p]):
                cheapest_p = i
        if cheapest_p < 0:  # p has no weight on any value within reach
            M[u, cheapest] = 1.0
            continue
        mean, weight_free = 0.0, 0.0
        low = cost[u, cheapest_p]
        for i in range(m):
            q[i] = 0.0 if np.isinf(cost[u, i]) else p[i] / total
            d[i] = 0.0 if q[i] == 0.0 else cost[u, i] - low
            mean += q[i] * (cost[u, i] if q[i] > 0.0 else 0.0)
            if d[i] == 0.0:
                weight_free += q[i]
        if mean <= budget[u]:  # the constraint is slack
            M[u, :] = q
            continue
        if cost[u, cheapest] < low:
            # A value of weight 0 is the cheapest: its multiplier is 0 where the rest cannot use up all probability.
            spare = budget[u] - cost[u, cheapest]
            used = 0.0
            for i in range(m):
                if q[i] > 0.0:
                    M[u, i] = q[i] * spare / (cost[u, i] - cost[u, cheapest])
                    used += M[u, i]
            if used <= 1.0:
                M[u, cheapest] = 1.0 - used
                continue
        B = budget[u] - low
        if B <= TINY:
            for i in range(m):
                M[u, i] = q[i] / weight_free if d[i] == 0.0 else 0.0
            continue
        lam = _root(q, d, B, weight_free)
        used = 0.0
        for i in range(m):
            M[u, i] = q[i] * B / (lam * B + (1.0 - lam) * d[i]) if q[i] > 0.0 else 0.0
            used += M[u, i]
        for i in range(m):
            M[u, i] /= used
