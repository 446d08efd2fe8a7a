"""The accuracy of an attack over budgets: what is known of it, and which budgets are allowed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from attriguard.errors import ParameterError

# Quantile of the normal distribution that a 95 % interval needs.
Z95 = 1.96


@dataclass(frozen=True)
class Curve:
    """One attack over budgets: its accuracy, and what the release costs a user on average."""

    attack: str
    budgets: tuple[float, ...]
    accuracy: tuple[float, ...]
    expected_cost: tuple[float, ...]
    n_users: int
    before: float | None = None  # the accuracy on untouched data
    expected_l2: tuple[float, ...] = ()  # the length of the noise, where it was measured
    intervals: tuple[float, ...] = ()  # of a sampled evaluation: half the width of a 95 % interval

    def margin(self) -> tuple[float, ...]:
        """Half the width of a 95 % interval: how far other users of the same kind may lie from these."""
        if self.intervals:
            return self.intervals
        return tuple(Z95 * float(np.sqrt(a * (1 - a) / self.n_users)) for a in self.accuracy)


def check_budgets(budgets: Iterable[float]) -> tuple[float, ...]:
    """The budgets as numbers; refused where they do not rise from 0 or more."""
    ladder = tuple(float(budget) for budget in budgets)
    if not ladder or any(not np.isfinite(b) or b < 0 for b in ladder):
        raise ParameterError("budgets must be finite numbers, 0 or more, and at least one")
    if any(later <= earlier for earlier, later in pairwise(ladder)):
        raise ParameterError(f"budgets must rise from one to the next, got {', '.join(f'{b:g}' for b in ladder)}")
    return ladder
