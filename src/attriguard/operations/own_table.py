"""The main job: a publisher's own table, the values of whose users are known, is protected and attacked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from attriguard.data.public_data import PublicData
from attriguard.errors import DataError, ParameterError
from attriguard.goals import get as get_goal
from attriguard.operations.aim import Aim, Candidate, Search
from attriguard.operations.checking import ReleaseChecker
from attriguard.operations.inputs import SAFEST_GOAL, DataLike, as_data, split_options
from attriguard.operations.own_guards import Guards, learn_guards
from attriguard.operations.released import Released
from attriguard.operations.wishes import Wishes
from attriguard.progress import Progress

# For an aim, guards of this goal are learnt from other users than they protect: they serve all three goals.
EVERY_GOAL = ("both", "conceal", "mislead")
# About how long learning from all users, learning from others, planning and the check take.
LEARNING, CROSS_FITTING, PLANNING, CHECKING = 4.0, 16.0, 1.0, 8.0


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
        goal = own.pop("goal", None)
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
        """Learn, protect and attack. Where a guard that saw the users' values makes matters worse, others learn."""
        goal = self.named_goal or SAFEST_GOAL
        others_only = self.wishes.cross_fit or get_goal(goal).marks_seen_users
        first, again = progress.parts(1, 0)
        checker = ReleaseChecker(self.data, self._seed("check")) if check else None
        released = self._released(goal, others_only, checker, first)
        if others_only or not released.refused:
            return released
        note = "guards that had learnt from these users made it worse; every user's guard has learnt from others"
        return self._released(goal, True, checker, again, note)

    def _aimed(self, aim: Aim, progress: Progress) -> Released:
        """The cheapest goal and budget whose checked release meets the aim."""
        if "budget" in self.options:
            raise ParameterError("give either a budget or an aim: the aim finds the budget")
        learning, searching = progress.parts(1, 3)
        checker = ReleaseChecker(self.data, self._seed("check"))
        found = Search(aim, checker, self.chance).cheapest(self._candidates(learning), searching)
        note = f"goal {found.goal} with budget {found.budget:g} meets the aim with the fewest changes of all tried"
        return Released(found.block, found.goal, found.protector.guard, found.check, (note,))

    def _released(
        self, goal: str, cross_fit: bool, checker: ReleaseChecker | None, progress: Progress, *notes: str
    ) -> Released:
        learning, planning, checking = progress.parts(
            CROSS_FITTING if cross_fit else LEARNING, PLANNING, CHECKING * (checker is not None)
        )
        protector = self._guards(goal, cross_fit, learning).protector(self.wishes, goal)
        block = protector.protect(self.data, self.chance, planning)
        found = None if checker is None else checker.check(block, checking.named("the check"))
        return Released(block, goal, protector.guard, found, notes)

    def _candidates(self, progress: Progress) -> list[Candidate]:
        """The goal that was named, or all of them; "conceal" also with a guard that learnt from all users."""
        wanted = (self.named_goal,) if self.named_goal else EVERY_GOAL
        informed, others = progress.parts(LEARNING, CROSS_FITTING)
        learnt: list[tuple[str, Guards]] = []
        if SAFEST_GOAL in wanted:
            learnt.append((SAFEST_GOAL, self._guards(SAFEST_GOAL, False, informed)))
        apart = self._guards(wanted[0], True, others)
        learnt += [(goal, apart) for goal in wanted]
        candidates = []
        for goal, guards in learnt:
            protector = guards.protector(self.wishes, goal)
            prepared = protector.prepare(self.data)
            candidates.append(Candidate(goal, protector, prepared, protector.plan(prepared, Progress())))
        return candidates

    def _guards(self, goal: str, cross_fit: bool, progress: Progress) -> Guards:
        options = {**self.options, "goal": goal}
        return learn_guards(self.data, options, cross_fit=cross_fit, seed=self._seed("guards"), progress=progress)

    def _seed(self, purpose: str) -> int:
        return self.wishes.seed(self.chance, self.data.attribute, purpose)
