"""What attackers infer now: every user who discloses is attacked by such who learnt from other users.

One division of the users into groups is enough where its answer is beyond doubt. Otherwise the verdict could hang on
the chance of the division, so users are divided anew several times, and the figures are means.

Attackers of different groups have learnt from each other's users, so their figures go together, and an interval that
takes them for independent is too narrow. It is widened as by C. Nadeau and Y. Bengio, *Inference for the
Generalization Error*, Machine Learning 52, 2003: after R divisions into k groups by √(1/R + k/(k - 1)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_rng
from attriguard.attacks.base import Attack
from attriguard.evaluation.engine import name_of
from attriguard.evaluation.inference import MANY_USERS, Estimate, Inference, divide, inference, mean_of, out_of_group
from attriguard.evaluation.verdict import Verdict, error_of_guessing, judge
from attriguard.progress import Progress

# How often users are divided where one division does not settle it: few users, and `MANY_USERS` or more.
DIVISIONS, DIVISIONS_OF_MANY = 10, 5
# An AUC that is so many standard errors above 0.5 settles it.
SETTLED = 6.0
FIGURES = ("accuracy", "balanced", "auc")


@dataclass(frozen=True, eq=False)
class Exposure:
    """What attackers infer from the ratings as they are, about all users who disclose the attribute."""

    found: tuple[Inference, ...]
    guesses: tuple[Inference, ...]  # of attackers who do not look at the data
    guessing: float  # the share of users with the most frequent value
    n_users: int
    groups: int
    divisions: int

    @property
    def verdict(self) -> Verdict:
        """Is it given away?"""
        guess = error_of_guessing([each.users for each in self.found[0].by_value])
        return judge(self.found, guess * widening(self.divisions, self.groups))


def expose(X: csr_array, y: NDArray[np.int64], attacks: Sequence[Attack], seed: int, progress: Progress) -> Exposure:
    """Attack everyone. ``y`` holds codes 0 … m - 1, each of which has two users or more (see `check_values`)."""
    chance, most = check_rng(seed), divisions_for(y.size)
    first, *others = progress.parts(most, *[1.0] * (most - 1))  # mostly, the first settles it
    runs: list[tuple[Inference, ...]] = []
    for part in (first, *others):
        group = divide(y, chance)
        runs.append(_attacked(X, y, attacks, group, part))
        exposure = _exposure(runs, attacks, y, int(group.max()) + 1)
        if exposure.verdict.standard_errors > SETTLED:
            break
    progress.tell("", 1.0)
    return exposure


def divisions_for(n_users: int) -> int:
    """How often so many users are divided at most: few users more often, since they are attacked quickly."""
    return DIVISIONS if n_users < MANY_USERS else DIVISIONS_OF_MANY


def is_baseline(attack: Attack) -> bool:
    """Does the attack guess without looking at the data?"""
    return bool(getattr(attack, "is_baseline", attack.name == "BA-A"))


def _attacked(
    X: csr_array, y: NDArray[np.int64], attacks: Sequence[Attack], group: NDArray[np.int64], progress: Progress
) -> tuple[Inference, ...]:
    found = []
    for attack, part in progress.each(attacks, name_of):
        (sure,) = out_of_group(attack, X, [X], y, group, part)
        found.append(inference(attack.name, "original", sure, y, group))
    return tuple(found)


def _exposure(
    runs: Sequence[tuple[Inference, ...]], attacks: Sequence[Attack], y: NDArray[np.int64], groups: int
) -> Exposure:
    means = [averaged(of_attack, groups) for of_attack in zip(*runs, strict=True)]
    return Exposure(
        found=tuple(mean for mean, attack in zip(means, attacks, strict=True) if not is_baseline(attack)),
        guesses=tuple(mean for mean, attack in zip(means, attacks, strict=True) if is_baseline(attack)),
        guessing=float(np.bincount(y).max() / y.size),
        n_users=y.size,
        groups=groups,
        divisions=len(runs),
    )


def averaged(runs: Sequence[Inference], groups: int) -> Inference:
    """The mean over divisions into so many groups, with intervals that are widened as said above."""
    mean = mean_of(runs)
    factor = widening(len(runs), groups)

    def widened(figure: str) -> Estimate:
        of_one = np.sqrt(np.mean([np.square(getattr(run, figure).influence).sum() for run in runs]))
        estimate: Estimate = getattr(mean, figure)
        size = np.sqrt(np.square(estimate.influence).sum())
        return Estimate(estimate.value, estimate.influence * (factor * of_one / size if size else 0.0))

    return replace(mean, accuracy=widened("accuracy"), balanced=widened("balanced"), auc=widened("auc"))


def widening(divisions: int, groups: int) -> float:
    """What the standard error of one division is to be multiplied with: see above."""
    return float(np.sqrt(1.0 / divisions + groups / (groups - 1)))
