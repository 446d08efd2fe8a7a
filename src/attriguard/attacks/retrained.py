"""An attacker who knows the guard: he protects users of his own with it, and learns from the protected rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from attriguard._checks import check_number, check_rng
from attriguard.attacks._aware import KnowsGuard, check_guard
from attriguard.attacks.base import Attack

# A plan whose likeliest candidates are less than this away from certain, on average, is drawn once.
LEFT_TO_CHANCE = 0.01


class Retrained(KnowsGuard, Attack):
    """Any attack, trained on rows protected by the very guard that protects its victims.

    ``fit`` takes the attacker's own users, unprotected. The guard must not have learnt from them, since a guard treats
    users it has learnt from differently (``evaluation.protocol.three_groups`` keeps the groups apart).

    Parameters
    ----------
    base
        The attack to train; it is not changed.
    guard
        The fitted guard.
    draws
        How often each of the attacker's users is protected; once, where every draw would be the same.
    budget
        The budget that the attacker expects; None: the guard's own.
    random_state
        Seeds the draws of the attacker's releases.
    """

    plain_name = "an attack that knows the guard and retrains"
    summary = "another attack, trained on ratings that the guard has protected"
    needs = ("guard",)
    follows_budget = True
    revision = 2

    def __init__(
        self,
        base: Attack,
        guard: Any = None,
        *,
        draws: int = 4,
        budget: float | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.base = base
        self.guard = guard
        self.draws = draws
        self.budget = budget
        self.random_state = random_state

    @property
    def name(self) -> str:  # type: ignore[override]  # of an instance: it depends on the base
        """The name of the base attack, followed by "retrained"."""
        return f"{self.base.name} retrained"

    def check_options(self) -> None:
        """The guard must be there and fitted, and there must be at least one draw."""
        check_guard(self.guard, self.name)
        check_number(self.draws, name="draws", low=1)
        self.base.check_options()

    def with_budget(self, budget: float) -> Attack:
        """A new, untrained attack that protects its users with this budget."""
        return self.untrained(budget=budget)

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        protecting, training = self._progress.parts(1, 3)
        protecting.tell("protecting the attacker's users")
        rows = protected_rows(self.guard, X, self.draws, self.budget, check_rng(self.random_state))
        truth = np.tile(codes, rows.shape[0] // X.shape[0])
        self._attack = self.base.untrained().fit(rows, truth, work=self._work, progress=training)

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        return self._attack.predict_proba(X)


def protected_rows(
    guard: Any, X: csr_array, draws: int, budget: float | None, chance: np.random.Generator
) -> csr_array:
    """Several releases of the same users, one below the other; one where hardly anything is left to chance.

    A second draw would then be the same rows again, and an attack that learns from them twice as long learns them by
    heart.
    """
    plan = guard.plan(X, budget=budget)
    if (1.0 - plan.probabilities.max(axis=1)).mean() < LEFT_TO_CHANCE:
        draws = 1
    return csr_array(vstack([plan.release(chance) for _ in range(draws)], format="csr"))
