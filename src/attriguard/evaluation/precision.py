"""What defenses cost a recommender when they protect equally well (figure 10 of the paper).

The strength of each defense is read off its trade-off: the one that brings the attack down to the same accuracy, by
default the lowest that all of them reach. At that strength it protects the test users' ratings, less the held-out ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_count
from attriguard._progress import Progress
from attriguard.defenses.base import Defense
from attriguard.errors import ParameterError
from attriguard.evaluation.cache import Cache, key_of
from attriguard.evaluation.comparison import Tradeoff
from attriguard.utility.recommendation import NS, RecommendationTest, relative_loss
from attriguard.utility.recommenders import Recommender

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
    # (hold-outs,): the loss averaged over N, of each draw of the held-out items
    each: NDArray[np.float64]
    each_protected: NDArray[np.float64]

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
    X: csr_array,
    protected: ArrayLike,
    recommender: Recommender,
    defenses: Sequence[Defense],
    strengths: Mapping[str, float],
    truth: ArrayLike,
    *,
    holdouts: int = 1,
    ns: Sequence[int] = NS,
    seed: int = 0,
    cache: Cache | None = None,
    progress: Progress | None = None,
) -> list[PrecisionLoss]:
    """``X``: everybody's ratings; ``protected``: the rows that the defenses (fitted) change; ``truth``: their values.

    Hits are few, so the held-out items are drawn ``holdouts`` times, and precision is averaged before losses are taken.
    """
    report = progress or (lambda what, steps: None)
    runs: dict[str, list[dict[str, NDArray[np.float64]]]] = {defense.name: [] for defense in defenses}
    for each in range(check_count(holdouts, name="holdouts")):
        trial = Trial(X, protected, recommender, ns, seed + each, cache)
        for defense in defenses:
            report(f"{recommender.name} after {defense.name}", 0)
            runs[defense.name].append(trial.run(defense, strengths[defense.name], truth))
            report(f"{recommender.name} after {defense.name}", 1)
    return [
        PrecisionLoss(
            defense.name,
            strengths[defense.name],
            np.asarray(ns),
            **{part: np.mean([run[part] for run in runs[defense.name]], axis=0) for part in PARTS},
            each=_each(runs[defense.name], "before", "after"),
            each_protected=_each(runs[defense.name], "before_protected", "after_protected"),
        )
        for defense in defenses
    ]


def _each(runs: Sequence[dict[str, NDArray[np.float64]]], before: str, after: str) -> NDArray[np.float64]:
    """What was lost with each draw of the held-out items, averaged over those N at which something was found before."""
    losses = [relative_loss(run[before], run[after]) for run in runs]
    return np.array([each[~np.isnan(each)].mean() if (~np.isnan(each)).any() else 0.0 for each in losses])


class Trial:
    """One hold-out; the recommender before protection learns when it is first needed."""

    def __init__(
        self,
        X: csr_array,
        protected: ArrayLike,
        recommender: Recommender,
        ns: Sequence[int],
        seed: int,
        cache: Cache | None,
    ) -> None:
        self.X, self.protected, self.recommender, self.ns, self.seed = X, protected, recommender, ns, seed
        # What chance without a seed has made is not kept.
        self.cache = cache if isinstance(recommender.random_state, int) else None

    @cached_property
    def test(self) -> RecommendationTest:
        return RecommendationTest(self.X, self.protected, self.recommender, ns=self.ns, random_state=self.seed)

    def run(self, defense: Defense, strength: float, truth: ArrayLike) -> dict[str, NDArray[np.float64]]:
        """Precision before and after; from the cache, or new."""
        learner = self.recommender
        key = None
        if self.cache is not None:
            key = key_of(
                "precision", learner.name, learner.get_params(), self.X, np.asarray(self.protected), tuple(self.ns),
                self.seed, defense, strength, np.asarray(truth) if defense.needs_truth else None,
            )  # fmt: skip
        stored = None if key is None or self.cache is None else self.cache.load(key)
        if stored is not None:
            return stored
        release = defense.release_for(self.test.X_protected, strength, self.seed, truth=truth)
        loss = self.test.loss(release)
        found = {part: np.asarray(getattr(loss, part)) for part in PARTS}
        if key is not None and self.cache is not None:
            self.cache.save(key, found)
        return found
