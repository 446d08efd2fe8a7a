"""Defenses side by side: what each costs a user, and what attackers infer after it (figure 9 of the paper).

AttriGuard's points are exact expectations over M*; the others' are means over draws, the same draws for every attack.
One attack is trained at a time, and what it inferred of a release is kept, so that a run goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from attriguard._checks import check_labels, check_matrix
from attriguard._fingerprint import fingerprint
from attriguard.attacks.base import Attack
from attriguard.defenses.base import Defense
from attriguard.errors import ParameterError
from attriguard.evaluation.accuracy import Curve
from attriguard.evaluation.engine import Sampled, exact_curve, name_of, sampled_curve, seeds_of
from attriguard.evaluation.job import Job, check_training, check_truth
from attriguard.evaluation.measure import PLAIN, Measure, Training
from attriguard.plan import Plan
from attriguard.progress import Progress, ProgressLike

# How often a defense that leaves something to chance is drawn for every strength.
DRAWS = 5


@dataclass(frozen=True)
class Tradeoff:
    """One defense: a curve an attack, over the defense's own strengths, from the least noise to the most."""

    defense: str
    strength: str  # what its strengths are called
    needs_truth: bool
    strengths: tuple[float, ...]
    curves: tuple[Curve, ...]

    @property
    def l0(self) -> tuple[float, ...]:
        """Changed ratings a user, for every strength."""
        return self.curves[0].expected_cost

    @property
    def l2(self) -> tuple[float, ...]:
        """The length of the noise of a user, for every strength."""
        return self.curves[0].expected_l2

    def curve(self, attack: str) -> Curve:
        """The curve of one attack, by its name."""
        return next(curve for curve in self.curves if curve.attack == attack)

    def noise_for(self, attack: str, accuracy: float) -> float | None:
        """The least changes a user at which the attack infers no more than this; None where it always infers more."""
        return _first_below(self.curve(attack), self.l0, accuracy)

    def strength_for(self, attack: str, accuracy: float) -> float | None:
        """The strength that goes with `noise_for`; between two measured ones, a line."""
        return _first_below(self.curve(attack), self.strengths, accuracy, from_zero=False)


def _first_below(curve: Curve, along: Sequence[float], accuracy: float, *, from_zero: bool = True) -> float | None:
    """Where a line through the measured points first comes down to an accuracy."""
    points = list(zip(along, curve.accuracy, strict=True))
    if curve.before is not None and from_zero:
        points.insert(0, (0.0, curve.before))
    for k, (place, level) in enumerate(points):
        if level <= accuracy:
            if k == 0 or points[k - 1][1] == level:
                return float(place)
            earlier, above = points[k - 1]
            return float(earlier + (place - earlier) * (above - accuracy) / (above - level))
    return None


class Contender:
    """A defense that learns when it is first needed: where all figures are in the cache, it never learns."""

    def __init__(self, defense: Defense, ladder: tuple[float, ...], train: Training, X: csr_array) -> None:
        self.defense, self.ladder, self.train, self.X = defense, ladder, train, X
        self.needs_truth = defense.needs_truth
        self.progress = Progress()  # of the attack that is at work, which may be the first to need the defense

    @cached_property
    def ready(self) -> Defense:
        """The defense, fitted."""
        self.progress.tell("learns")
        return self.defense.unfitted().fit(*self.train, progress=self.progress)

    @cached_property
    def known_by(self) -> tuple[Defense, str | None]:
        """What its releases depend on: its options, and the users that it learns from (as `Defense.fit` notes them)."""
        rows = check_matrix(self.train[0])
        codes = check_labels(self.train[1], rows.shape[0])[1]
        return self.defense.unfitted(), fingerprint(rows, codes)

    @cached_property
    def plan(self) -> Plan | None:
        """The plan of a defense that knows the probability of each candidate: its evaluation is exact."""
        return self.ready.plan(self.X, max(self.ladder)) if self.defense.has_plan else None

    def release_for(
        self, X: csr_array, budget: float, random_state: np.random.Generator, truth: ArrayLike | None = None
    ) -> csr_array:
        """One release, as the engine asks for it."""
        return self.ready.release_for(X, budget, random_state, truth=truth)


def compare(
    defenses: Sequence[Defense],
    attacks: Sequence[Attack],
    X: csr_array,
    y: ArrayLike,
    *,
    train: Training,
    strengths: Mapping[str, Sequence[float]] | None = None,
    measure: Measure = PLAIN,
    progress: ProgressLike = None,
) -> list[Tradeoff]:
    """One trade-off a defense.

    Parameters
    ----------
    X, y
        The users who are protected and attacked, and their values.
    train
        The users that attacks and defenses learn from, and their values.
    strengths
        By the name of a defense: other strengths than its own ``ladder``.
    measure
        A defense that leaves something to chance is drawn ``draws`` times for every strength (5).
    """
    _check_lineup(defenses, attacks)
    X, truth = check_matrix(X), check_truth(y, X.shape[0])
    given = strengths or {}
    ladders = [_ladder(defense, given.get(defense.name, defense.ladder_for(X.shape[1]))) for defense in defenses]
    check_training(train)
    contenders = [Contender(*each, train, X) for each in zip(defenses, ladders, strict=True)]
    found: list[list[Curve]] = [[] for _ in defenses]
    job = Job(truth, train, measure.cache)
    try:
        for attack, attacking in Progress.of(progress).each(attacks, name_of):
            places = list(zip(contenders, found, strict=True))
            for (contender, curves), part in attacking.each(places, lambda place: place[0].defense.name):
                curves.append(_curve(job, contender, attack, measure, part))
    finally:
        job.finish()
    return [
        Tradeoff(defense.name, defense.strength, defense.needs_truth, ladder, tuple(curves))
        for defense, ladder, curves in zip(defenses, ladders, found, strict=True)
    ]


def _curve(job: Job, contender: Contender, attack: Attack, measure: Measure, progress: Progress) -> Curve:
    """One attack on one defense: exact where the defense has a plan, sampled otherwise."""
    contender.progress = progress
    if contender.plan is not None:
        return exact_curve(job, contender.plan, attack, contender.ladder, progress)
    draws = measure.draws_or(DRAWS) if contender.defense.is_random else 1
    seeds = seeds_of(measure.seed, len(contender.ladder), draws)
    releases = Sampled(contender, contender.X, contender.ladder, seeds, contender.known_by)
    return sampled_curve(job, releases, attack, progress)


def _check_lineup(defenses: Sequence[Defense], attacks: Sequence[Attack]) -> None:
    if not defenses or not attacks:
        raise ParameterError("a comparison needs at least one defense and one attack")
    twice = [defense.name for k, defense in enumerate(defenses) if defense.name in {d.name for d in defenses[:k]}]
    if twice:
        raise ParameterError(f"{twice[0]} was named twice; compare it with itself by its strengths")


def _ladder(defense: Defense, strengths: Sequence[float]) -> tuple[float, ...]:
    """Checked, each and all: from the least noise to the most, that is all rising or all falling."""
    ladder = tuple(defense.check_strength(strength) for strength in strengths)
    rising, falling = tuple(sorted(set(ladder))), tuple(sorted(set(ladder), reverse=True))
    if not ladder or ladder not in (rising, falling):
        shown = ", ".join(f"{strength:g}" for strength in ladder)
        raise ParameterError(f"{defense.name} needs strengths ({defense.strength}) in order, each once, got: {shown}")
    return ladder
