"""Phase II as an object: turns the candidates that Phase I found, and a budget, into the probability of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from attriguard.mechanism.solver import solve_mechanism
from attriguard.noise.edits import Edits


class Mechanism(Protocol):
    """How a release is drawn from the candidates."""

    @property
    def target(self) -> NDArray[np.float64] | None:
        """The distribution p over the candidates; None where the mechanism has none."""

    @property
    def shared(self) -> bool:
        """Whether the budget is an average over users."""

    def probabilities(self, edits: Edits, budget: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, candidates): how likely each is; the expected cost of a user stays within the user's budget."""


@dataclass(frozen=True, eq=False)
class Divergence:
    """The paper's M*: the distribution closest to p within the budget (equation 3)."""

    target: NDArray[np.float64]
    shared: ClassVar[bool] = False

    def probabilities(self, edits: Edits, budget: NDArray[np.float64]) -> NDArray[np.float64]:
        """M* of every user."""
        return solve_mechanism(self.target, edits.costs_in_reach, budget)


@dataclass(frozen=True)
class Counts:
    """Candidate k makes the first k of a sequence of changes: the budget is spent whole, on one of two counts.

    A budget between two costs is met by drawing: 2.5 is two changes or three, with equal probability.
    """

    shared: ClassVar[bool] = False

    @property
    def target(self) -> None:
        """Nothing is drawn by value."""
        return None

    def probabilities(self, edits: Edits, budget: NDArray[np.float64]) -> NDArray[np.float64]:
        """All weight on the two counts next to the budget; on the last one where there is nothing left to change."""
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
        return M
