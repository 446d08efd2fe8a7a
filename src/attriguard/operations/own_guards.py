"""Guards for a publisher's own table: every user is protected by a guard that learnt from others."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attriguard.data.public_data import PublicData
from attriguard.evaluation.inference import check_values, divide_for_guards
from attriguard.goals.crossfit import CrossFitted
from attriguard.guard import AttriGuard
from attriguard.operations.inputs import make_guard
from attriguard.operations.memory import Memory
from attriguard.operations.protector import Protector, planner_for
from attriguard.operations.wishes import Wishes
from attriguard.progress import Progress


@dataclass(frozen=True, eq=False)
class Guards:
    """Several guards, of which guard k learnt from nobody whose ``group`` is k."""

    guards: tuple[AttriGuard, ...]
    group: NDArray[np.int64]

    def protector(self, wishes: Wishes, goal: str, memory: Memory | None = None) -> Protector:
        """What releases the table; ``goal`` may be any that the guards have learnt for."""
        planners = tuple(planner_for(copy.copy(guard).set_params(goal=goal), wishes) for guard in self.guards)
        planner = CrossFitted(planners, self.group)
        return Protector(guard=self.guards[0], planner=planner, name="the guard", wishes=wishes, memory=memory)


def learn_guards(data: PublicData, options: Mapping[str, Any], *, seed: int, progress: Progress) -> Guards:
    """Divide the users, and learn for each group a guard from the users of the others whose value is known."""
    check_values(data.y, data.values, data.attribute)
    group = divide_for_guards(data.y, seed)
    number = int(group.max()) + 1
    parts = progress.each(range(number), lambda k: f"guard {k + 1} of {number}")
    learnt = [_learn(data, data.disclosed & (group != k), options, seed + k, part) for k, part in parts]
    return Guards(tuple(learnt), group)


def _learn(
    data: PublicData, mine: NDArray[np.bool_], options: Mapping[str, Any], seed: int, progress: Progress
) -> AttriGuard:
    guard = make_guard(data, options, seed)
    guard.fit(data.X[mine], data.y[mine], items=data.items, values=data.values, progress=progress)
    guard.metadata_["attribute"] = data.attribute
    return guard
