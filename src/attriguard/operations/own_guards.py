"""Guards for a publisher's own table: learnt from the very users that they protect, or each from others."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attriguard.data.public_data import PublicData
from attriguard.evaluation.inference import GROUPS, check_values, divide
from attriguard.goals.base import Planner
from attriguard.goals.crossfit import CrossFitted
from attriguard.guard import AttriGuard
from attriguard.operations.inputs import make_guard
from attriguard.operations.protector import Protector
from attriguard.operations.wishes import Wishes
from attriguard.progress import Progress


@dataclass(frozen=True, eq=False)
class Guards:
    """One guard for everybody, or several, of which guard k learnt from nobody whose ``group`` is k."""

    guards: tuple[AttriGuard, ...]
    group: NDArray[np.int64] | None = None

    def protector(self, wishes: Wishes, goal: str) -> Protector:
        """What releases the table; ``goal`` may be any that the guards have learnt for."""
        planners = [self._planner(guard, goal) for guard in self.guards]
        planner = planners[0] if self.group is None else CrossFitted(tuple(planners), self.group)
        return Protector(guard=self.guards[0], planner=planner, name="the guard", wishes=wishes)

    def _planner(self, guard: AttriGuard, goal: str) -> Planner:
        return copy.copy(guard).set_params(goal=goal).planner()


def learn_guards(
    data: PublicData, options: Mapping[str, Any], *, cross_fit: bool, seed: int, progress: Progress
) -> Guards:
    """Learn from the users whose value is known: one guard from all of them, or several, each from others."""
    check_values(data.y, data.values, data.attribute)
    known = data.disclosed
    if not cross_fit:
        return Guards((_learn(data, known, options, seed, progress),))
    group = divide(data.y, seed, GROUPS)
    parts = progress.each(range(GROUPS), lambda k: f"guard {k + 1} of {GROUPS}")
    return Guards(tuple(_learn(data, known & (group != k), options, seed + k, part) for k, part in parts), group)


def _learn(
    data: PublicData, mine: NDArray[np.bool_], options: Mapping[str, Any], seed: int, progress: Progress
) -> AttriGuard:
    guard = make_guard(data, options, seed)
    guard.fit(data.X[mine], data.y[mine], items=data.items, values=data.values, progress=progress)
    guard.metadata_["attribute"] = data.attribute
    return guard
