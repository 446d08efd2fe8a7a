"""Phase II, compiled: the mechanism M* of one user from the KKT conditions (equations 5 to 9).

With costs and budget shifted so that the cheapest value with p_i > 0 costs nothing (d_i = c_i - c_min,
B = β - c_min), equations 6 and 8 say M_i = p_i B / (λ B + (1 - λ) d_i). That the M_i sum to 1 is an equation in λ
which λ = 1 (no budget) always solves; divided by 1 - λ it becomes

    g(λ) = Σ p_i (B - d_i) / (λ B + (1 - λ) d_i) = 0,

which is strictly decreasing and has one root in [Σ{p_i : d_i = 0}, 1]. Newton's method, kept inside a bracket.

Under a budget of everyone the price ν of a unit of cost is the same for all users, and given. Then
M_i = p_i / (s + ν d_i), and that the M_i sum to 1 is an equation in s, whose left side is convex and falls: Newton's
method from the lower end of [Σ{p_i : d_i = 0}, 1] rises to the root.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.core import types as nb

from attriguard.kernels.types import const, out

MAX_NEWTON = 200
# A Newton step this short, as a share of λ, is the last.
CONVERGED = 1e-10
# A budget this much smaller than the costs is spent as no budget at all.
TINY = 1e-290


@njit(
    nb.UniTuple(nb.float64, 2)(out(nb.float64, 1), out(nb.float64, 1), nb.int64, nb.float64, nb.float64),
    cache=True,
    nogil=True,
    fastmath={"reassoc", "contract"},
)  # lets the sums run in vector registers
def _value_and_slope(p: Any, d: Any, size: int, B: float, lam: float) -> tuple[float, float]:
    """g(λ) and its derivative."""
    g, slope = 0.0, 0.0
    for i in range(size):
        ratio = (B - d[i]) / (lam * B + (1.0 - lam) * d[i])
        g += p[i] * ratio
        slope -= p[i] * ratio * ratio
    return g, slope


@njit(
    nb.float64(out(nb.float64, 1), out(nb.float64, 1), nb.int64, nb.float64, nb.float64, nb.float64),
    cache=True,
    nogil=True,
)
def _root(p: Any, d: Any, size: int, B: float, low: float, guess: float) -> float:
    """The λ in [low, 1] where g changes sign."""
    high = 1.0
    lam, before = min(max(guess, low), 1.0), np.inf
    for _ in range(MAX_NEWTON):
        g, slope = _value_and_slope(p, d, size, B, lam)
        if g > 0.0:
            low = lam
        else:
            high = lam
        after = lam - g / slope
        if abs(after - lam) <= CONVERGED * lam:  # Newton doubles the digits, so `after` is exact to rounding
            return min(max(after, low), high)
        # Where Newton leaves the bracket or crawls (near 0, g falls like 1 / λ), halve the bracket's logarithm.
        if not low < after < high or abs(g) > 0.25 * before:
            after = np.sqrt(low * high)
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
    # The values within reach that have weight: their index, weight, and cost above the cheapest of them.
    index, q, d = np.empty(m, np.int64), np.empty(m), np.empty(m)
    for u in range(start, stop):
        total, low, size = 0.0, np.inf, 0
        cheapest = 0
        for i in range(m):
            M[u, i] = 0.0
            c = cost[u, i]
            if c < cost[u, cheapest]:
                cheapest = i
            if p[i] > 0.0 and c < np.inf:
                index[size], q[size], d[size] = i, p[i], c
                size += 1
                total += p[i]
                low = min(low, c)
        if size == 0:  # p has no weight on any value within reach
            M[u, cheapest] = 1.0
            continue
        mean, free = 0.0, 0.0
        for s in range(size):
            q[s] /= total
            d[s] -= low
            mean += q[s] * d[s]
            if d[s] == 0.0:
                free += q[s]
        B = budget[u] - low
        if mean <= B:  # the constraint is slack
            for s in range(size):
                M[u, index[s]] = q[s]
            continue
        extra = low - cost[u, cheapest]
        if extra > 0.0:
            # A value of weight 0 is the cheapest: it takes what the others cannot use up.
            used = 0.0
            for s in range(size):
                M[u, index[s]] = q[s] * (B + extra) / (d[s] + extra)
                used += M[u, index[s]]
            if used <= 1.0:
                M[u, cheapest] = 1.0 - used
                continue
        if B <= TINY:
            for s in range(size):
                M[u, index[s]] = q[s] / free if d[s] == 0.0 else 0.0
            continue
        # Exact if all other values cost the same, namely mean / (1 - free) each.
        guess = free / (1.0 - B * (1.0 - free) / mean)
        lam = _root(q, d, size, B, free, guess)
        used = 0.0
        for s in range(size):
            q[s] *= B / (lam * B + (1.0 - lam) * d[s])
            used += q[s]
        for s in range(size):
            M[u, index[s]] = q[s] / used


@njit(
    nb.void(
        const(nb.float64, 1), const(nb.float64, 2), nb.float64, nb.int64, nb.int64,
        out(nb.float64, 2),
    ),
    cache=True,
    nogil=True,
)  # fmt: skip
def priced_rows(p: Any, cost: Any, price: float, start: int, stop: int, M: Any) -> None:
    """Fill M for users `start` to `stop`: it minimises KL(p ‖ M) + `price` · Σ M_i cost_i.

    An infinite cost marks a value out of reach. Where p has no weight on any other, the cheapest value is taken.
    """
    m = p.shape[0]
    index, q, d = np.empty(m, np.int64), np.empty(m), np.empty(m)
    for u in range(start, stop):
        total, low, size, cheapest = 0.0, np.inf, 0, 0
        for i in range(m):
            M[u, i] = 0.0
            c = cost[u, i]
            if c < cost[u, cheapest]:
                cheapest = i
            if p[i] > 0.0 and c < np.inf:
                index[size], q[size], d[size] = i, p[i], c
                size += 1
                total += p[i]
                low = min(low, c)
        if size == 0:
            M[u, cheapest] = 1.0
            continue
        s = 0.0
        for k in range(size):
            q[k] /= total
            d[k] = price * (d[k] - low)
            if d[k] == 0.0:
                s += q[k]
        for _ in range(MAX_NEWTON):
            value, slope = -1.0, 0.0
            for k in range(size):
                ratio = q[k] / (s + d[k])
                value += ratio
                slope -= ratio / (s + d[k])
            after = min(s - value / slope, 1.0)
            if abs(after - s) <= CONVERGED * s:
                s = after
                break
            s = after
        used = 0.0
        for k in range(size):
            q[k] /= s + d[k]
            used += q[k]
        for k in range(size):
            M[u, index[k]] = q[k] / used
