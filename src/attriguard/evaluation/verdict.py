"""Is an attribute given away? One of three answers, by a rule without any setting.

The rule looks at the attacker with the highest AUC, and at its 95 % interval. This is so wide (Bonferroni) that it
holds although the strongest of several attackers was picked, and its standard error is never below the one of guessing
among so many users, so that four users who are told apart by luck prove nothing:

- *gives it away*: the interval lies above 0.5, which is guessing.
- *nothing found*: the interval ends below 0.55, the smallest effect that is taken to matter (five more pairs in a
  hundred than guessing), and the AUC is less than half a standard error above 0.5. An AUC below 0.5 counts as 0.5: bad
  luck does not make few users tell more.
- *too few users to tell*: all else. An effect may be there, or none; so many users do not say.

Between the first two lies always the third, about 1.5 standard errors wide. Another division of the same users moves
the AUC by a part of its standard error, and so does not turn one of the two into the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from attriguard.evaluation.accuracy import Z95
from attriguard.evaluation.inference import Inference, strongest

GIVES_AWAY, NOTHING_FOUND, TOO_FEW = "gives it away", "nothing found", "too few users to tell"
GUESSING = 0.5
SMALLEST_EFFECT = 0.55
HINT = 0.5  # standard errors above guessing that are no longer nothing
SIGNIFICANCE = 0.05


@dataclass(frozen=True, eq=False)
class Verdict:
    """The answer, and what it rests on."""

    strongest: Inference
    attackers: int
    error: float  # the standard error of the strongest attacker's AUC

    @property
    def margin(self) -> float:
        """Half the width of the interval of the strongest attacker's AUC."""
        return self.error * float(norm.ppf(1 - SIGNIFICANCE / 2 / self.attackers))

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return max(0.0, self.strongest.auc.value - self.margin)

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return min(1.0, self.strongest.auc.value + self.margin)

    @property
    def smallest_shown(self) -> float:
        """The smallest AUC that would have shown among so many users."""
        return min(1.0, GUESSING + self.margin)

    @property
    def standard_errors(self) -> float:
        """How far above guessing the AUC lies."""
        return (self.strongest.auc.value - GUESSING) / self.error

    @property
    def finding(self) -> str:
        """The answer: one of three."""
        auc = self.strongest.auc.value
        if auc - self.margin > GUESSING:
            return GIVES_AWAY
        if max(auc, GUESSING) + self.margin < SMALLEST_EFFECT and self.standard_errors < HINT:
            return NOTHING_FOUND
        return TOO_FEW


def judge(found: Sequence[Inference], least_error: float) -> Verdict:
    """The verdict on what several attackers have found; ``least_error``: the standard error of a guesser's AUC."""
    best = strongest(found)
    return Verdict(best, len(found), max(best.auc.margin / Z95, least_error))


def error_of_guessing(users: Sequence[int]) -> float:
    """The standard error of the AUC of who guesses, by the number of users of every value.

    For one value against the rest this is Mann and Whitney's. The AUCs of m values count as m - 1 independent ones:
    with two values they are the same.
    """
    counts = np.asarray(users, dtype=np.float64)
    n, m = counts.sum(), counts.size
    return float(np.sqrt(np.mean((n + 1) / (12 * counts * (n - counts))) / (m - 1)))
