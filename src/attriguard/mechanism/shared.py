"""Phase II under a budget of everyone: an average over users, spent where it helps most, at one price for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from attriguard.kernels.threads import over_users
from attriguard.noise.edits import Edits

# Steps of a bisection on the logarithm of a price, the prices between which it looks, and what share of the budget may
# be left over.
STEPS, CLOSE = 60, 1e-4
LOWEST, HIGHEST = 1e-9, 1e300
# Users on whom a price is looked for first, so that all of them are looked at only a few times.
SAMPLE = 20_000
# How far the price of a sample may be from everybody's, as a factor.
SLACK = 1.1


def price_of_changes(gains: NDArray[np.float32], total: float) -> float:
    """What a change must gain so that ``total`` changes are made; 0 where fewer changes gain anything."""
    worth = gains[gains > 0]
    if total >= worth.size:
        return 0.0
    last = worth.size - max(int(np.ceil(total)), 1)
    return float(np.partition(worth, last)[last])


def counts_at(gains: NDArray[np.float32], price: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many changes gain more than the price, and how many at least as much, user by user."""
    least = np.float32(price)
    return (gains > least).sum(axis=1), ((gains >= least) & (gains > 0)).sum(axis=1)


@dataclass(frozen=True)
class SharedCounts:
    """Two counts of changes for each user: those that gain more than the price, and those that gain at least as much.

    Everybody gets the second with the same probability, so that the expected changes of all users are the budget.
    """

    settled: bool = False  # the price is a given one: everybody gets the second
    shared: ClassVar[bool] = True

    @property
    def target(self) -> None:
        """Nothing is drawn by value."""
        return None

    def probabilities(self, edits: Edits, budget: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probabilities of both counts, the same for all users."""
        fewer, more = edits.cost.sum(axis=0)
        share = 1.0 if self.settled or more <= fewer else float(np.clip((budget.sum() - fewer) / (more - fewer), 0, 1))
        return np.tile([1.0 - share, share], (edits.n_users, 1))


@dataclass(frozen=True, eq=False)
class SharedDivergence:
    """The paper's M* with one multiplier for all users: the sum of their divergences is least within all budgets."""

    target: NDArray[np.float64]
    price: float | None = None  # None: found for the users at hand
    shared: ClassVar[bool] = True

    def probabilities(self, edits: Edits, budget: NDArray[np.float64]) -> NDArray[np.float64]:
        """M of every user at the price."""
        costs = edits.costs_in_reach
        price = price_of_noise(self.target, costs, float(budget.mean())) if self.price is None else self.price
        return mechanism_at(self.target, costs, price)


def mechanism_at(target: NDArray[np.float64], costs: NDArray[np.float64], price: float) -> NDArray[np.float64]:
    """The M that minimises KL(p ‖ M) + price · Σ M_i cost_i, of every user."""
    from attriguard.kernels.kkt import priced_rows

    M = np.empty(costs.shape)
    over_users(costs.shape[0], lambda start, stop: priced_rows(target, costs, price, start, stop, M), smallest=256)
    return M


def price_of_noise(target: NDArray[np.float64], costs: NDArray[np.float64], budget: float) -> float:
    """The lowest price of a unit of cost at which users spend no more than the budget, on average."""
    if not costs.shape[0] or spent(target, costs, 0.0) <= budget:
        return 0.0
    low, high = LOWEST, HIGHEST
    if costs.shape[0] > 2 * SAMPLE:
        some = costs[np.linspace(0, costs.shape[0] - 1, SAMPLE).astype(np.int64)]
        near = price_of_noise(target, some, budget)
        low, high = _around(target, costs, budget, max(near, LOWEST))
    for _ in range(STEPS):
        middle = float(np.sqrt(low) * np.sqrt(high))
        cost = spent(target, costs, middle)
        low, high = (middle, high) if cost > budget else (low, middle)
        if 0 <= budget - cost <= CLOSE * budget:
            break
    return high


def _around(
    target: NDArray[np.float64], costs: NDArray[np.float64], budget: float, price: float
) -> tuple[float, float]:
    """Prices below and above the one that is looked for, near a given one."""
    low = high = price
    while low > LOWEST and spent(target, costs, low) <= budget:
        low /= SLACK
    while high < HIGHEST and spent(target, costs, high) > budget:
        high *= SLACK
    return low, high


def spent(target: NDArray[np.float64], costs: NDArray[np.float64], price: float) -> float:
    """The expected cost at a price, on average over users."""
    M = mechanism_at(target, costs, price)
    return float((M * np.where(M > 0, costs, 0.0)).sum() / costs.shape[0])
