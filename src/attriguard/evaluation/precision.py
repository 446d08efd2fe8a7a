"""What defenses cost a recommender when they protect equally well (figure 10 of the paper).

The strength of each defense is read off its trade-off: the one that brings the attack down to the same accuracy, by
default the lowest that all of them reach. At that strength it protects the test users' ratings, less the held-out ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_rng
from attriguard.defenses.base import Defense
from attriguard.errors import ParameterError
from attriguard.evaluation.cache import Cache, key_of
from attriguard.evaluation.comparison import Tradeoff
from attriguard.evaluation.engine import Progress
from attriguard.utility.recommendation import RecommendationTest, relative_loss

PARTS = ("before", "after", "before_protected", "after_protected")


@dataclass(frozen=True, eq=False)
class PrecisionLoss:
    """One defense at one strength: a recommender's precision at every N, before and after, and what was lost."""

    defense: str
    strength: float
    ns: NDArray[np.int64]
    before: NDArray[np.float64]  # over all users, as in the paper
    after: NDArray[np.float64]
    before_protected: NDArray[np.float64]  # over the test users, whose data was changed
    after_protected: NDArray[np.float64]

    @property
    def relative(self) -> NDArray[np.float64]:
        return relative_loss(self.before, self.after)

    @property
    def relative_protected(self) -> NDArray[np.float64]:
        return relative_loss(self.before_protected, self.after_protected)


def common_level(tradeoffs: Sequence[Tradeoff], attack: str) -> float:
    """The lowest accuracy that every one of the defenses reaches."""
    return max(min(tradeoff.curve(attack).accuracy) for tradeoff in tradeoffs)


def strengths_at(
    tradeoffs: Sequence[Tradeoff], defenses: Sequence[Defense], attack: str, accuracy: float
) -> dict[str, float]:
    """The strength with which each brings the attack down to an accuracy."""
    found = {}
    for tradeoff, defense in zip(tradeoffs, defenses, strict=True):
        strength = tradeoff.strength_for(attack, accuracy)
        if strength is None:
            raise ParameterError(
                f"{tradeoff.defense} does not bring {attack} down to {accuracy:.3g} with any of its strengths; name a "
                f"share of {min(tradeoff.curve(attack).accuracy):.3g} or more, or further strengths"
            )
        found[tradeoff.defense] = defense.nearest(strength)
    return found


def precision_losses(
    test: RecommendationTest,
    defenses: Sequence[Defense],
    strengths: dict[str, float],
    truth: ArrayLike,
    *,
    draws: int = 1,
    seed: int = 0,
    cache: Cache | None = None,
    progress: Progress | None = None,
) -> list[PrecisionLoss]:
    """``defenses``: fitted ones; ``truth``: the protected users' values, for those that must be told."""
    report = progress or (lambda what, steps: None)
    chance = check_rng(seed)
    seeds = [int(each) for each in chance.integers(2**62, size=draws)]
    losses = []
    for defense in defenses:
        report(f"{test.recommender.name} after {defense.name}", 0)
        strength = strengths[defense.name]
        runs = [
            _one(test, defense, strength, each, truth, cache) for each in (seeds if defense.is_random else seeds[:1])
        ]
        mean = {part: np.mean([run[part] for run in runs], axis=0) for part in PARTS}
        losses.append(PrecisionLoss(defense.name, strength, test.before.ns, **mean))
        report(f"{test.recommender.name} after {defense.name}", 1)
    return losses


def _one(
    test: RecommendationTest, defense: Defense, strength: float, seed: int, truth: ArrayLike, cache: Cache | None
) -> dict[str, NDArray[np.float64]]:
    key = None
    if cache is not None and isinstance(test.recommender.random_state, int):  # chance without a seed is not kept
        recommender = vars(test.recommender)
        held = test.held_out
        key = key_of(
            "precision", test.recommender.name, recommender, held.X, held.items, test.rows, test.before.ns, defense,
            strength, seed,
        )  # fmt: skip
    stored = None if key is None or cache is None else cache.load(key)
    if stored is not None:
        return stored
    rows: csr_array = test.X_protected
    loss = test.loss(defense.release_for(rows, strength, seed, truth=truth))
    found = {part: np.asarray(getattr(loss, part)) for part in PARTS}
    if key is not None and cache is not None:
        cache.save(key, found)
    return found
