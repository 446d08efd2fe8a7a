"""Protection is asked for instead of a budget: the cheapest goal and budget whose checked release meets it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attriguard.data.public_data import PublicData
from attriguard.errors import ParameterError, ReleaseRefusedError
from attriguard.evaluation.check import Check
from attriguard.evaluation.inference import Inference, strongest
from attriguard.operations.candidate import Candidate
from attriguard.operations.protector import Block
from attriguard.progress import Progress
from attriguard.report.check import NAMES, shown

# Budgets that are tried, and how often the gap between the last that failed and the first that did not is halved.
LADDER = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
HALVINGS = 2


@dataclass(frozen=True)
class Aim:
    """The strongest attacker's figure, "accuracy" or "auc", shall be at most this."""

    figure: str
    most: float

    @classmethod
    def of(cls, accuracy: float | None, auc: float | None, data: PublicData) -> Aim | None:
        """Refused where nobody could reach it: guessing is always left."""
        if accuracy is None and auc is None:
            return None
        if accuracy is not None and auc is not None:
            raise ParameterError("give either an aim for the accuracy or one for the AUC, not both")
        figure, most = ("accuracy", accuracy) if auc is None else ("auc", auc)
        known = data.y[data.disclosed]
        floor = 0.5 if figure == "auc" else float(np.bincount(known).max() / known.size)
        if most is None or not floor < most < 1.0:
            raise ParameterError(
                f"the aim for the {NAMES[figure]} must lie between {floor:.3f}, which guessing gives, and 1, got {most}"
            )
        return cls(figure, float(most))

    def value(self, found: Sequence[Inference]) -> float:
        """The strongest attacker's figure."""
        return float(getattr(strongest(found, self.figure), self.figure).value)

    def missed(self, found: Sequence[Inference]) -> bool:
        """Does one of these attackers infer too much?"""
        return self.value(found) > self.most


@dataclass(frozen=True, eq=False)
class Attempt:
    """A release that was tried, and what attackers infer from it."""

    candidate: Candidate
    budget: float
    block: Block
    notes: tuple[str, ...]
    check: Check

    @property
    def goal(self) -> str:
        """The goal that was tried."""
        return self.candidate.goal

    @property
    def cost(self) -> float:
        """Changes a user, on average."""
        return float(self.block.plan.expected_cost.mean())


class Search:
    """Tries budgets from the smallest up, each with every candidate, until one meets the aim."""

    def __init__(self, aim: Aim) -> None:
        self.aim = aim
        self.best: Attempt | None = None

    def cheapest(self, candidates: Sequence[Candidate], progress: Progress) -> Attempt:
        """The attempt that meets the aim with the fewest changes; refused where none does."""
        parts = progress.parts(*[1.0] * (len(LADDER) + 1))
        below = 0.0
        for budget, part in zip(LADDER, parts[:-1], strict=True):
            each = part.named(f"budget {budget:g}").each(candidates, lambda candidate: candidate.goal)
            tried = [self._attempt(candidate, budget, inner) for candidate, inner in each]
            met = [attempt for attempt in tried if not self.aim.missed(attempt.check.after)]
            if met:
                return self._halved(min(met, key=lambda attempt: attempt.cost), below, parts[-1])
            below = budget
        raise ReleaseRefusedError(self._too_much())

    def _attempt(self, candidate: Candidate, budget: float, progress: Progress) -> Attempt:
        planning, checking = progress.parts(1, 2)
        block, notes = candidate.release(budget, planning)
        check = candidate.checker.check(block, checking, self.aim.missed)
        attempt = Attempt(candidate, budget, block, notes, check)
        if self.best is None or self.aim.value(attempt.check.after) < self.aim.value(self.best.check.after):
            self.best = attempt
        return attempt

    def _halved(self, found: Attempt, below: float, progress: Progress) -> Attempt:
        """A smaller budget that meets the aim, too: the gap to the last that failed is halved."""
        above = found.budget
        for part in progress.parts(*[1.0] * HALVINGS):
            middle = (below + above) / 2
            attempt = self._attempt(found.candidate, middle, part)
            if self.aim.missed(attempt.check.after):
                below = middle
            else:
                above, found = middle, attempt
        return found

    def _too_much(self) -> str:
        name = NAMES[self.aim.figure]
        tried = f"budgets up to {LADDER[-1]:g}"
        if self.best is None:
            return f"no release meets the aim of {name} {self.aim.most:g}; {tried} were tried"
        left = getattr(self.best.check.strongest_after(self.aim.figure), self.aim.figure)
        return (
            f"no release meets the aim of {name} {self.aim.most:g}; {tried} were tried, and the best, goal "
            f"{self.best.goal} with budget {self.best.budget:g}, leaves the strongest attacker {shown(left)}"
        )
