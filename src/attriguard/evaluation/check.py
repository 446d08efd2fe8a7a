"""The check of a release: it is attacked before it is written, by attackers who retrain and by such who do not know."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.attacks import KEEPING
from attriguard.attacks.base import Attack
from attriguard.attacks.kept import union
from attriguard.evaluation.exposure import averaged
from attriguard.evaluation.forensics import Forensics
from attriguard.evaluation.inference import (
    Estimate,
    Inference,
    Learnt,
    attack_by_group,
    inference,
    learn_by_group,
    strongest,
)
from attriguard.evaluation.kept import attack_history
from attriguard.progress import Progress, ProgressLike

MEASURES = ("auc", "accuracy", "balanced")
# Asked of what attackers have inferred from a release so far: must the others still be asked?
Enough = Callable[[Sequence[Inference]], bool]


@dataclass(frozen=True, eq=False)
class Check:
    """What attackers infer from the original rows, and what from the released ones; about the same users.

    ``before`` holds attackers who learn from original rows and attack original rows. ``after`` holds all who attack
    released rows: those who learnt from released rows (they know the guard and retrain), and those who learnt from
    original rows (they do not know that there is a guard). ``forensics`` says how well the rows that the release added
    can be told from the others; None where it added none.
    """

    n_users: int
    guessing: float  # the share of users with the most frequent value
    before: tuple[Inference, ...]
    after: tuple[Inference, ...]
    forensics: Forensics | None = None

    @property
    def m(self) -> int:
        """The number of values."""
        return len(self.before[0].by_value)

    def strongest_before(self, figure: str = "auc") -> Inference:
        """Who infers most from the original rows."""
        return strongest(self.before, figure)

    def strongest_after(self, figure: str = "auc") -> Inference:
        """Who infers most from the released rows."""
        return strongest(self.after, figure)

    def change(self, figure: str = "auc") -> Estimate:
        """How much more the strongest attacker infers from the release than from the original; hoped to be negative."""
        after, before = self.strongest_after(figure), self.strongest_before(figure)
        return getattr(after, figure).minus(getattr(before, figure))

    @property
    def helps(self) -> bool:
        """Does the release tell less than the original, beyond the interval? Judged by the AUC."""
        change = self.change()
        return change.value < -change.margin

    @property
    def worse(self) -> bool:
        """Does the release tell more than the original, beyond the interval? Judged by the AUC."""
        change = self.change()
        return change.value > change.margin


class Checker:
    """Attacks releases of one table; what is inferred from the original is found once.

    Parameters
    ----------
    X, y
        The original rows of users whose value is known, and their codes 0 … m - 1.
    group
        The group of each user: see `divide`.
    attacks
        Untrained; every one of them attacks.
    """

    def __init__(self, X: csr_array, y: NDArray[np.int64], group: NDArray[np.int64], attacks: Sequence[Attack]) -> None:
        self.X, self.y, self.group, self.attacks = X, y, group, tuple(attacks)
        self._learnt: dict[Attack, tuple[Learnt, Inference]] = {}

    def check(
        self, releases: Sequence[csr_array], progress: ProgressLike = None, enough: Enough | None = None
    ) -> Check:
        """Attack the last release, with all that came before it: the same users, and columns, as the original.

        ``enough`` is asked after each attacker whether the others are still needed; what is left out is not in the
        result. Where there are several releases, those who keep everything attack, too.
        """
        released = union(releases)
        before: list[Inference] = []
        after: list[Inference] = []
        attacking, keepers = Progress.of(progress).parts(len(self.attacks), len(KEEPING) * (len(releases) > 1))
        for attack, part in attacking.each(self.attacks, lambda attack: attack.name):
            first, second = part.parts(float(attack not in self._learnt), 1)
            unaware, original = self._original(attack, first)
            before.append(original)
            after += self._after(attack, unaware, released, second)
            if enough is not None and enough(after):
                break
        else:
            after += attack_history(releases, self.y, self.group, (), keepers) if len(releases) > 1 else ()
        guessing = float(np.bincount(self.y).max() / self.y.size)
        return Check(self.y.size, guessing, tuple(before), tuple(after))

    def told(self, released: csr_array, retrained: str, unaware: Sequence[str]) -> float:
        """How much the strongest of a few attackers infers: one who retrains, and some who learnt from original rows.

        That is the sum of his AUC and his accuracy, since one of them may fall while the other rises.
        """
        found = []
        for attack in (attack for attack in self.attacks if attack.name in {retrained, *unaware}):
            original, _ = self._original(attack, Progress())
            after = self._after(attack, original, released, Progress(), retrains=attack.name == retrained)
            found += [each.auc.value + each.accuracy.value for each in after]
        return max(found)

    def _after(
        self, attack: Attack, unaware: Learnt, released: csr_array, progress: Progress, retrains: bool = True
    ) -> list[Inference]:
        """What an attacker infers from a release who learns from it, and who learnt from original rows."""
        pairs = [("original", unaware)]
        if retrains:
            pairs.insert(0, ("released", learn_by_group(attack, released, self.y, self.group, progress)))
        return [self._found(attack, learnt_from, learnt, released).at_best for learnt_from, learnt in pairs]

    def _original(self, attack: Attack, progress: Progress) -> tuple[Learnt, Inference]:
        """Who learnt from original rows, and what he infers from them; learnt once for all releases."""
        if attack not in self._learnt:
            learnt = learn_by_group(attack, self.X, self.y, self.group, progress)
            self._learnt[attack] = learnt, self._found(attack, "original", learnt, self.X)
        return self._learnt[attack]

    def _found(self, attack: Attack, learnt_from: str, learnt: Learnt, rows: csr_array) -> Inference:
        sure = attack_by_group(learnt, rows, self.group, int(self.y.max()) + 1)
        found = inference(attack.name, learnt_from, sure, self.y, self.group)
        return averaged([found], np.unique(self.group).size)
