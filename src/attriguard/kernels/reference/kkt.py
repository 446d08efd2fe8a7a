"""Twin of Phase II: bisection instead of Newton's method."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def solve_row(p: NDArray[np.float64], cost: NDArray[np.float64], budget: float) -> NDArray[np.float64]:
    """M* of one user: bisection on the price ν of a unit of cost.

    M_i = p_i s / (1 + ν d_i) with d_i the cost above the cheapest value, s such that the M_i sum to 1; the expected
    cost falls as ν rises. A value of weight 0 is only used where nothing else fits, and then the first of the
    cheapest: it takes part with weight 1e-300.
    """
    q = np.where(np.isfinite(cost), p, 0.0)
    q[np.argmin(cost)] = max(q[np.argmin(cost)], 1e-300)
    q /= q.sum()
    c = np.where(np.isfinite(cost), cost, 0.0)
    if q @ c <= budget:
        return q
    d = c - c[q > 0].min()

    def mechanism(log_price: float) -> NDArray[np.float64]:
        # In logarithms, since the price may run far beyond what a float holds.
        log_weight = np.where(q > 0, np.log(np.maximum(q, 1e-320)), -np.inf) - np.logaddexp(
            0.0, log_price + np.log(np.maximum(d, 1e-320))
        )
        weight = np.exp(log_weight - log_weight.max())
        return np.asarray(weight / weight.sum())

    low, high = -800.0, 1600.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if mechanism(middle) @ c > budget else (low, middle)
    return mechanism(high)


def priced_row(p: NDArray[np.float64], cost: NDArray[np.float64], price: float) -> NDArray[np.float64]:
    """The M that minimises KL(p ‖ M) + price · Σ M_i cost_i: bisection on the s of M_i = p_i / (s + price · d_i)."""
    q = np.where(np.isfinite(cost), p, 0.0)
    if not q.any():
        return np.asarray(np.arange(p.size) == np.argmin(cost), dtype=np.float64)
    q /= q.sum()
    d = np.where(q > 0, cost, 0.0) - cost[q > 0].min()

    def total(s: float) -> float:
        return float((q[q > 0] / (s + price * d[q > 0])).sum())

    low, high = 0.0, 1.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if total(middle) > 1.0 else (low, middle)
    M = np.where(q > 0, q / (high + price * d), 0.0)
    return np.asarray(M / M.sum())


def priced_rows(
    p: NDArray[np.float64],
    cost: NDArray[np.float64],
    price: float,
    start: int,
    stop: int,
    M: NDArray[np.float64],
) -> None:
    """`priced_row` for users ``start`` to ``stop``."""
    for u in range(start, stop):
        M[u] = priced_row(p, cost[u], price)


def solve_rows(
    p: NDArray[np.float64],
    cost: NDArray[np.float64],
    budget: NDArray[np.float64],
    start: int,
    stop: int,
    M: NDArray[np.float64],
) -> None:
    """`solve_row` for users ``start`` to ``stop``."""
    for u in range(start, stop):
        M[u] = solve_row(p, cost[u], float(budget[u]))
