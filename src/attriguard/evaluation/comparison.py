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

from attriguard._checks import check_count, check_labels, check_matrix
from attriguard._progress import Progress
from attriguard.attacks.base import Attack
from attriguard.defenses.base import Defense, fingerprint
from attriguard.errors import ParameterError
from attriguard.evaluation.accuracy import Curve
from attriguard.evaluation.cache import Cache
from attriguard.evaluation.engine import (
    Job,
    check_training,
    check_truth,
    exact_curve,
    sampled_curve,
    seeds_of,
)
from attriguard.plan import Plan


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
        return self.curves[0].expected_l2

    def curve(self, attack: str) -> Curve:
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
    """A defense that learns when it is first needed: what is known already asks for no learning."""

    def __init__(
        self,
        defense: Defense,
        ladder: tuple[float, ...],
        train: tuple[csr_array, ArrayLike],
        X: csr_array,
        progress: Progress,
    ) -> None:
        self.defense, self.ladder, self.train, self.X, self.progress = defense, ladder, train, X, progress
        self.needs_truth = defense.needs_truth

    @cached_property
    def ready(self) -> Defense:
        self.progress(f"{self.defense.name} learns", 0)
        return self.defense.unfitted().fit(*self.train)

    @cached_property
    def plan(self) -> Plan | None:
        """Of a defense that can say what it would do with what probability: the evaluation is exact then."""
        return self.ready.plan(self.X, max(self.ladder)) if self.defense.has_plan else None

    def release_for(
        self, X: csr_array, budget: float, random_state: np.random.Generator, truth: ArrayLike | None = None
    ) -> csr_array:
        return self.ready.release_for(X, budget, random_state, truth=truth)


def compare(
    defenses: Sequence[Defense],
    attacks: Sequence[Attack],
    X: csr_array,
    y: ArrayLike,
    *,
    train: tuple[csr_array, ArrayLike],
    strengths: Mapping[str, Sequence[float]] | None = None,
    draws: int = 5,
    seed: int = 0,
    cache: Cache | None = None,
    progress: Progress | None = None,
) -> list[Tradeoff]:
    """One trade-off a defense. ``train``: the users that attacks and defenses learn from, and their values.

    ``strengths``: other ones than a defense's own ``ladder``, by its name. A defense that leaves something to chance
    is drawn ``draws`` times a strength.
    """
    if not defenses or not attacks:
        raise ParameterError("a comparison needs at least one defense and one attack")
    twice = [defense.name for k, defense in enumerate(defenses) if defense.name in {d.name for d in defenses[:k]}]
    if twice:
        raise ParameterError(f"{twice[0]} was named twice; compare it with itself by its strengths")
    X, truth = check_matrix(X), check_truth(y, X.shape[0])
    number = check_count(draws, name="draws")
    ladders = [
        _ladder(defense, (strengths or {}).get(defense.name, defense.ladder_for(X.shape[1]))) for defense in defenses
    ]
    check_training(train)
    report = progress or (lambda what, steps: None)
    rows = check_matrix(train[0])
    learnt_from = fingerprint(rows, check_labels(train[1], rows.shape[0])[1])
    contenders = [Contender(*each, train, X, report) for each in zip(defenses, ladders, strict=True)]
    found: list[list[Curve]] = [[] for _ in defenses]
    job = Job(truth, (), train, cache, report)
    try:
        for attack in attacks:
            for contender, curves in zip(contenders, found, strict=True):
                job.ladder = ladder = contender.ladder
                if contender.plan is not None:
                    curves.append(exact_curve(job, contender.plan, attack))
                    continue
                seeds = seeds_of(seed, len(ladder), number if contender.defense.is_random else 1)
                known_by = (contender.defense.unfitted(), learnt_from)
                curves.append(sampled_curve(job, contender, X, attack, seeds, known_by=known_by))
    finally:
        if cache is not None:
            cache.clear_networks()
    return [
        Tradeoff(defense.name, defense.strength, defense.needs_truth, ladder, tuple(curves))
        for defense, ladder, curves in zip(defenses, ladders, found, strict=True)
    ]


def comparison_steps(defenses: Sequence[Defense], n_attacks: int, m: int, *, draws: int, n_strengths: int = 8) -> int:
    """How many steps `compare` reports, about: defenses with a plan are attacked m + 1 times, others a draw each."""
    each = [1 + (m if d.has_plan else n_strengths * (draws if d.is_random else 1)) for d in defenses]
    return n_attacks * sum(each)


def _ladder(defense: Defense, strengths: Sequence[float]) -> tuple[float, ...]:
    """Checked, each and all: from the least noise to the most, that is all rising or all falling."""
    ladder = tuple(defense.check_strength(strength) for strength in strengths)
    rising, falling = tuple(sorted(set(ladder))), tuple(sorted(set(ladder), reverse=True))
    if not ladder or ladder not in (rising, falling):
        shown = ", ".join(f"{strength:g}" for strength in ladder)
        raise ParameterError(f"{defense.name} needs strengths ({defense.strength}) in order, each once, got: {shown}")
    return ladder
