"""AttriGuard behind the base class of all defenses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.data.scale import RatingScale
from attriguard.defenses.base import Defense
from attriguard.guard import AttriGuard
from attriguard.plan import Plan
from attriguard.progress import Progress, ProgressLike


class Guarded(Defense):
    """The paper's defense. Each option is the option of `AttriGuard` with the same name.

    It has a plan, so an evaluation computes exact expectations instead of drawing releases.
    """

    name = "AttriGuard"
    plain_name = "this guard"
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

    def plan(self, X: Any, budget: float, *, progress: ProgressLike = None) -> Plan:
        """Phase I, and Phase II for a budget; ``with_budget`` of the plan gives any smaller budget."""
        rows = self._rows(X)
        return self.guard_.plan(rows, budget=budget, progress=Progress.of(progress))

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        self.guard_ = AttriGuard(**self.get_params(deep=False)).fit(X, codes, progress=self._progress)

    def _release(
        self, X: csr_array, strength: float, chance: np.random.Generator, truth: NDArray[np.int64] | None
    ) -> csr_array:
        return self.guard_.plan(X, budget=strength).release(chance)
