"""The accuracy of an attack on a plan: an exact expectation over M*, no sampling noise.

An attack predicts once on each of the m candidates x + r_i; every budget after that is arithmetic, as only M* changes:
accuracy = mean over users of Σ_i M*_i [C_a(x + r_i) = s].
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attriguard.attacks.base import Attack
from attriguard.errors import DataError, ParameterError
from attriguard.plan import Plan


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
        return tuple(1.96 * float(np.sqrt(a * (1 - a) / self.n_users)) for a in self.accuracy)


def hits_on_candidates(
    plan: Plan, attack: Attack, y: ArrayLike, *, progress: Callable[[int], None] | None = None
) -> NDArray[np.bool_]:
    """(n, m): is the attack right about user u when r_i was added?"""
    truth = np.asarray(y)
    n, m = plan.probabilities.shape
    if truth.shape != (n,):
        raise DataError(f"y must have one value for each of the plan's {n:,} users, got shape {truth.shape}")
    hits = np.empty((n, m), dtype=np.bool_)
    for i in range(m):
        hits[:, i] = attack.predict(plan.candidate(i)) == truth
        if progress is not None:
            progress(1)
    return hits


def accuracy_over_budgets(
    plan: Plan,
    attack: Attack,
    y: ArrayLike,
    budgets: Iterable[float],
    *,
    progress: Callable[[int], None] | None = None,
) -> Curve:
    """The attack's expected accuracy on the plan's users for every budget (rising)."""
    ladder = check_budgets(budgets)
    plans = [plan.with_budget(budget) for budget in ladder]
    hits = None if plan.mechanism.searches_again else hits_on_candidates(plan, attack, y, progress=progress)
    right = [
        each.probabilities * (hits_on_candidates(each, attack, y, progress=progress) if hits is None else hits)
        for each in plans
    ]
    return Curve(
        attack=attack.name,
        budgets=ladder,
        accuracy=tuple(float(each.sum(axis=1).mean()) for each in right),
        expected_cost=tuple(float(each.expected_cost.mean()) for each in plans),
        n_users=plan.X.shape[0],
    )


def check_budgets(budgets: Iterable[float]) -> tuple[float, ...]:
    ladder = tuple(float(budget) for budget in budgets)
    if not ladder or any(not np.isfinite(b) or b < 0 for b in ladder):
        raise ParameterError("budgets must be finite numbers, 0 or more, and at least one")
    if any(later <= earlier for earlier, later in pairwise(ladder)):
        raise ParameterError(f"budgets must rise from one to the next, got {', '.join(f'{b:g}' for b in ladder)}")
    return ladder
