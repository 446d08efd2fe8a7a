"""AttriGuard behind the base class of all defenses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_matrix
from attriguard.data.scale import RatingScale
from attriguard.defenses.base import Defense
from attriguard.errors import NotFittedError
from attriguard.guard import AttriGuard
from attriguard.plan import Plan


class Guarded(Defense):
    """The paper's defense; each option is the one of `AttriGuard` with its name. Its plan gives an evaluation the exact
    expectation."""

    name = "AttriGuard"
    summary = "few changes that make a classifier infer what p says"
    strength = "budget"
    ladder = (0.25, 0.5, 1, 1.5, 2, 3, 4, 8)
    has_plan = True

    def __init__(
        self,
        *,
        scale: RatingScale | tuple[float, ...] | None = None,
        classifier: Any = "lr",
        search: str = "margin",
        policy: str = "modify_add",
        target: Any = "train",
        confidence: float | str | None = None,
        goal: str = "mislead",
        split: float | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        super().__init__(scale=scale)
        self.classifier = classifier
        self.search = search
        self.policy = policy
        self.target = target
        self.confidence = confidence
        self.goal = goal
        self.split = split
        self.random_state = random_state

    def plan(self, X: csr_array, budget: float) -> Plan:
        """Phase I, and Phase II for a budget; ``with_budget`` gives any smaller one."""
        if not hasattr(self, "guard_"):
            raise NotFittedError(f"{self.name} has not been fitted yet: call fit(X, y) first")
        return self.guard_.plan(check_matrix(X, n_items=self.n_items_), budget=budget, progress=self._report)

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        self.guard_ = AttriGuard(**self.get_params()).fit(X, codes, progress=self._report)

    def _release(
        self, X: csr_array, strength: float, chance: np.random.Generator, truth: NDArray[np.int64] | None
    ) -> csr_array:
        return self.guard_.plan(X, budget=strength, progress=self._report).release(chance)
