"""The main job: a publisher's own table, the values of whose users are known, is protected and attacked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from attriguard.data.public_data import PublicData
from attriguard.errors import DataError, ParameterError
from attriguard.operations.aim import Aim, Search
from attriguard.operations.candidate import Candidate
from attriguard.operations.checking import ReleaseChecker
from attriguard.operations.inputs import SAFEST, DataLike, as_data, split_options
from attriguard.operations.memory import Memory
from attriguard.operations.own_guards import Guards, learn_guards
from attriguard.operations.released import Released
from attriguard.operations.wishes import Wishes
from attriguard.progress import Progress

# Guards of the first goal serve all three.
EVERY_GOAL = ("both", "conceal", "mislead")
# About how long learning, planning (where the truth is used, several times) and the check take.
LEARNING, PLANNING, CHECKING = 8.0, 2.0, 8.0


@dataclass(frozen=True, eq=False)
class OwnTable:
    """A table with the values of its users, and what its publisher wants."""

    data: PublicData
    options: Mapping[str, Any]  # of the guards
    wishes: Wishes
    chance: np.random.Generator | None  # None: the key decides
    named_goal: str | None = None

    @classmethod
    def of(
        cls, ratings: DataLike, wishes: Wishes, options: Mapping[str, Any], chance: np.random.Generator | None
    ) -> OwnTable:
        """Read the table; options that were not named have defaults."""
        reading, own = split_options(options)
        data = as_data(ratings, reading)
        if not data.disclosed.any():
            raise DataError("nobody's value is known: name a table with the users' values (attributes), or a guard")
        goal, own = own.pop("goal", None), {"budget_over": SAFEST["budget_over"]} | own
        if wishes.additions is not None:
            own["additions"] = wishes.additions
        if wishes.locked.items:
            own["locked"] = list(wishes.locked.items)
        return cls(data, own, wishes, chance, goal)

    def protect(self, accuracy: float | None, auc: float | None, check: bool, progress: Progress) -> Released:
        """Release the table; ``accuracy`` or ``auc`` is what the strongest attacker may have at most."""
        aim = Aim.of(accuracy, auc, self.data)
        return self._release(check, progress) if aim is None else self._aimed(aim, progress)

    def _release(self, check: bool, progress: Progress) -> Released:
        """Learn, protect and attack."""
        goal = self.named_goal or SAFEST["goal"]
        learning, planning, checking = progress.parts(LEARNING, PLANNING, CHECKING * check)
        candidate = self._candidate(goal, self._guards(goal, learning))
        block, notes = candidate.release(None, planning)
        found = candidate.checker.check(block, checking.named("the check")) if check else None
        entry = candidate.protector.entry(block)
        return Released(block, goal, candidate.protector.guard, found, notes, entry=entry)

    def _aimed(self, aim: Aim, progress: Progress) -> Released:
        """The cheapest goal and budget whose checked release meets the aim."""
        if "budget" in self.options:
            raise ParameterError("give either a budget or an aim: the aim finds the budget")
        learning, searching = progress.parts(1, 3)
        wanted = (self.named_goal,) if self.named_goal else EVERY_GOAL
        guards = self._guards(wanted[0], learning)
        found = Search(aim).cheapest([self._candidate(goal, guards) for goal in wanted], searching)
        note = f"goal {found.goal} with budget {found.budget:g} meets the aim with the fewest changes of all tried"
        entry = guards.protector(self.wishes, found.goal, self.memory).entry(found.block)
        return Released(found.block, found.goal, guards.guards[0], found.check, (note, *found.notes), entry=entry)

    def _candidate(self, goal: str, guards: Guards) -> Candidate:
        protector = guards.protector(self.wishes, goal, self.memory)
        return Candidate(goal, protector, protector.prepare(self.data), self.checker, self.chance)

    @cached_property
    def memory(self) -> Memory | None:
        """Of earlier releases of this table."""
        return Memory.of(self.wishes, self.data.attribute)

    @cached_property
    def checker(self) -> ReleaseChecker:
        """What attacks releases of this table."""
        return ReleaseChecker(self.data, self._seed("check"))

    def _guards(self, goal: str, progress: Progress) -> Guards:
        options = {**self.options, "goal": goal}
        return learn_guards(self.data, options, seed=self._seed("guards"), progress=progress)

    def _seed(self, purpose: str) -> int:
        return self.wishes.seed(self.chance, self.data.attribute, purpose)
