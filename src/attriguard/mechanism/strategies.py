"""Phase II as an object: what a plan keeps to turn a budget into the probability of every candidate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from attriguard._progress import Progress
from attriguard.errors import ParameterError
from attriguard.mechanism.solver import solve_mechanism
from attriguard.noise.edits import Edits

# Budgets whose candidates are remembered: a ladder is climbed again for every attacker.
REMEMBERED = 16


class Mechanism(Protocol):
    """Takes what Phase I found, and gives it back with the probability of each candidate."""

    searches_again: ClassVar[bool]  # another budget has other candidates

    @property
    def target(self) -> NDArray[np.float64] | None:
        """p over the candidates; None where the mechanism has none."""

    def solve(self, edits: Edits, budget: NDArray[np.float64]) -> tuple[Edits, NDArray[np.float64]]: ...


@dataclass(frozen=True, eq=False)
class Divergence:
    """The paper's: the distribution closest to p within the budget (equation 3)."""

    searches_again: ClassVar[bool] = False
    target: NDArray[np.float64]

    def solve(self, edits: Edits, budget: NDArray[np.float64]) -> tuple[Edits, NDArray[np.float64]]:
        return edits, solve_mechanism(self.target, edits.costs_in_reach, budget)


@dataclass(frozen=True)
class Counts:
    """Candidate k makes the first k of a sequence of changes: the budget is spent whole, on one of two counts.

    A budget between two costs is met by drawing: 2.5 is two changes or three, with equal probability.
    """

    searches_again: ClassVar[bool] = False
    most: float  # changes that were searched for; infinite where all there are were

    @property
    def target(self) -> None:
        return None

    def solve(self, edits: Edits, budget: NDArray[np.float64]) -> tuple[Edits, NDArray[np.float64]]:
        # Who ran out of changes before the last candidate has all there are, and can have any budget.
        if (budget[edits.success[:, -1]] > self.most).any():
            raise ParameterError(
                f"this plan was made for budgets up to {self.most:g}; plan again for a larger one: "
                "guard.plan(X, budget=...)"
            )
        user = np.arange(edits.n_users)
        low = (edits.success & (edits.cost <= budget[:, None])).sum(axis=1) - 1
        after = np.minimum(low + 1, edits.m - 1)
        high = np.where(edits.success[user, after], after, low)
        # Where there is nothing left to change, the rest of the budget is not spent.
        step = np.where(high > low, edits.cost[user, high] - edits.cost[user, low], np.inf)
        share = np.maximum(np.minimum(budget, edits.cost[user, high]) - edits.cost[user, low], 0.0) / step
        M = np.zeros(edits.success.shape)
        M[user, low] = 1.0 - share
        M[user, high] += share
        return edits, M


@dataclass(frozen=True, eq=False)
class PerBudget:
    """The paper's M* where the candidates belong to the budget: another one has others, which ``find`` searches.

    So it is where part of the budget takes ratings away first, and where a lead is asked for that must be affordable.
    """

    searches_again: ClassVar[bool] = True
    target: NDArray[np.float64]
    find: Callable[[NDArray[np.float64], Progress | None], Edits]
    _made: dict[bytes, Edits] = field(default_factory=dict, init=False)

    def edits(self, budget: NDArray[np.float64], progress: Progress | None = None) -> Edits:
        """Phase I for these budgets; what was found is remembered."""
        key = budget.tobytes()
        if key not in self._made:
            if len(self._made) >= REMEMBERED:
                self._made.pop(next(iter(self._made)))
            self._made[key] = self.find(budget, progress)
        return self._made[key]

    def solve(self, edits: Edits, budget: NDArray[np.float64]) -> tuple[Edits, NDArray[np.float64]]:
        return Divergence(self.target).solve(self.edits(budget), budget)
