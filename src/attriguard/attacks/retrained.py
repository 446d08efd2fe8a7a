"""An attacker who knows the guard: he protects users of his own with it, and learns from those."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from attriguard._checks import check_number, check_rng
from attriguard.attacks.base import Attack, check_guard


class Retrained(Attack):
    """Any attack, trained on rows protected by the very guard that protects its victims.

    ``fit`` takes the attacker's own users as they are. They must not be the guard's: a guard looks different on users
    it was learnt from (``evaluation.protocol.three_groups`` keeps them apart).

    Parameters
    ----------
    base
        The attack to train; it is not changed.
    guard
        The fitted guard.
    draws
        How often each of the attacker's users is protected.
    budget
        The budget he expects; None: the guard's own.
    """

    summary = "knows the guard and retrains"
    needs_guard: ClassVar[bool] = True
    follows_budget: ClassVar[bool] = True

    def __init__(
        self,
        base: Attack,
        guard: Any = None,
        *,
        draws: int = 4,
        budget: float | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.name = f"{base.name} retrained"
        self.base = base
        self.guard = check_guard(guard, self.name)
        self.draws = draws
        self.budget = budget
        self.random_state = random_state

    def with_budget(self, budget: float) -> Attack:
        return self.untrained(budget=budget)

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        check_number(self.draws, name="draws", low=1)
        self._report("protecting the attacker's users", 0)
        rows = protected_rows(self.guard, X, self.draws, self.budget, check_rng(self.random_state))
        self._attack = self.base.untrained().fit(
            rows, np.tile(codes, self.draws), work=self._work, progress=self._report
        )

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        return self._attack.predict_proba(X)


def protected_rows(
    guard: Any, X: csr_array, draws: int, budget: float | None, chance: np.random.Generator
) -> csr_array:
    """Several releases of the same users, one below the other."""
    plan = guard.plan(X, budget=budget)
    return csr_array(vstack([plan.release(chance) for _ in range(draws)], format="csr"))
