"""M*: the distribution over the representative noises closest to p within the budget (equation 3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attriguard._checks import check_budget, check_distribution
from attriguard.errors import ParameterError
from attriguard.kernels.threads import over_users


def solve_mechanism(p: ArrayLike, cost: ArrayLike, budget: ArrayLike) -> NDArray[np.float64]:
    """The mechanism M* of every user: minimise KL(p ‖ M) subject to Σ M_i cost_i ≤ budget.

    ``p`` (m,) is the target distribution, ``cost`` (n, m) the cost of each noise, infinite (or NaN) where a value is
    out of reach: such values get probability 0, and p is renormalised over the others. ``budget`` is one number, or
    one a user. Returns (n, m); every row sums to 1.
    """
    target = check_distribution(p)
    costs = check_costs(cost, target.size)
    budgets = check_budget(budget, costs.shape[0])
    short = unaffordable(costs, budgets)
    if short.any():
        raise ParameterError(
            f"{int(short.sum())} of {short.size} users cannot stay within the budget: even their cheapest value costs "
            f"more; the first is row {int(np.argmax(short))}"
        )
    from attriguard.kernels.kkt import solve_rows

    M = np.empty(costs.shape)
    over_users(costs.shape[0], lambda start, stop: solve_rows(target, costs, budgets, start, stop, M), smallest=256)
    return M


def unaffordable(cost: NDArray[np.float64], budget: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which users' cheapest value costs more than the budget (or has no value within reach)."""
    cheapest = cost.min(axis=1)
    return ~np.isfinite(cheapest) | (cheapest > budget)


def check_costs(cost: ArrayLike, m: int) -> NDArray[np.float64]:
    """(n, m) costs that are not negative; NaN counts as out of reach."""
    try:
        costs = np.array(cost, dtype=np.float64, order="C", ndmin=2)
    except (TypeError, ValueError):
        raise ParameterError("cost must be an array of numbers, one row a user and one column a value") from None
    if costs.ndim != 2 or costs.shape[1] != m:
        raise ParameterError(f"cost must have {m} columns, one a value, got shape {costs.shape}")
    if (costs < 0).any():
        raise ParameterError("cost must not be negative")
    costs[np.isnan(costs)] = np.inf
    return costs


def kl_divergence(p: ArrayLike, M: ArrayLike) -> NDArray[np.float64]:
    """KL(p ‖ M) of every row of M."""
    target, rows = np.asarray(p, dtype=np.float64), np.atleast_2d(np.asarray(M, dtype=np.float64))
    weighed = target > 0
    with np.errstate(divide="ignore"):
        return np.asarray((target[weighed] * (np.log(target[weighed]) - np.log(rows[:, weighed]))).sum(axis=1))
