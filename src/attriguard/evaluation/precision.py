"""What defenses cost a recommender when they protect equally well (figure 10 of the paper).

The strength of each defense is read off its trade-off, so that the attack reaches the same accuracy after each: by
default the lowest accuracy that all defenses reach. At that strength the defense protects the test users' ratings,
without the ratings that are held out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_count
from attriguard._fingerprint import fingerprint
from attriguard.defenses.base import Defense
from attriguard.errors import ParameterError
from attriguard.evaluation.cache import Arrays, Cache, is_of
from attriguard.evaluation.comparison import Tradeoff
from attriguard.evaluation.measure import PLAIN, Measure
from attriguard.progress import Progress, ProgressLike
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
        """The relative loss at every N, over all users."""
        return relative_loss(self.before, self.after)

    @property
    def relative_protected(self) -> NDArray[np.float64]:
        """The relative loss at every N, over the protected users."""
        return relative_loss(self.before_protected, self.after_protected)


def common_level(tradeoffs: Sequence[Tradeoff], attack: str) -> float:
    """The lowest accuracy that all defenses reach."""
    return max(min(tradeoff.curve(attack).accuracy) for tradeoff in tradeoffs)


def strengths_at(
    tradeoffs: Sequence[Tradeoff], defenses: Sequence[Defense], attack: str, accuracy: float
) -> dict[str, float]:
    """By name of the defense: the strength with which it brings the attack down to an accuracy."""
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


@dataclass(frozen=True, eq=False)
class RecommenderSetup:
    """A recommender, the users it serves, and how it is tested.

    Attributes
    ----------
    X
        Everybody's ratings.
    protected
        The rows that the defenses change.
    recommender
        Learns from everybody's ratings, once before protection and once after.
    ns
        The numbers of recommended items at which precision is measured.
    holdouts
        How often the test items are drawn. Hits are few, so precision is averaged over the draws before losses are
        taken.
    """

    X: csr_array
    protected: ArrayLike
    recommender: Recommender
    ns: Sequence[int] = NS
    holdouts: int = 1


def precision_losses(
    setup: RecommenderSetup,
    defenses: Sequence[Defense],
    strengths: Mapping[str, float],
    truth: ArrayLike,
    *,
    measure: Measure = PLAIN,
    progress: ProgressLike = None,
) -> list[PrecisionLoss]:
    """What each defense, fitted before, costs the recommender at its strength.

    ``strengths``: by the name of a defense. ``truth``: the true values of the protected users. The k-th draw of test
    items has the seed ``measure.seed`` + k.
    """
    runs: dict[str, list[dict[str, NDArray[np.float64]]]] = {defense.name: [] for defense in defenses}
    draws = range(check_count(setup.holdouts, name="holdouts"))
    for k, trying in Progress.of(progress).each(draws, lambda _: setup.recommender.name):
        trial = Trial(setup, (measure.seed or 0) + k, measure.cache)
        for defense, _ in trying.each(defenses, lambda defense: f"after {defense.name}"):
            runs[defense.name].append(trial.run(defense, strengths[defense.name], truth))
    return [
        PrecisionLoss(
            defense.name,
            strengths[defense.name],
            np.asarray(setup.ns),
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
    """One draw of the test items; the recommender before protection learns when it is first needed."""

    def __init__(self, setup: RecommenderSetup, seed: int, cache: Cache | None) -> None:
        self.setup, self.seed = setup, seed
        # Results that depend on unseeded chance are not kept.
        self.cache = cache if isinstance(setup.recommender.random_state, int) else None

    @cached_property
    def test(self) -> RecommendationTest:
        """The held-out items, and the recommender's precision before protection."""
        setup = self.setup
        return RecommendationTest(setup.X, setup.protected, setup.recommender, ns=setup.ns, random_state=self.seed)

    def run(self, defense: Defense, strength: float, truth: ArrayLike) -> dict[str, NDArray[np.float64]]:
        """Precision before and after; from the cache, or new."""
        if self.cache is None:
            return self._measured(defense, strength, truth)
        setup, learner = self.setup, self.setup.recommender
        key = fingerprint(
            "precision", learner.name, learner.get_params(), setup.X, np.asarray(setup.protected), tuple(setup.ns),
            self.seed, defense, strength, np.asarray(truth) if defense.needs_truth else None,
        )  # fmt: skip
        found = self.cache.load(key, self._fits)
        if found is None:
            found = self._measured(defense, strength, truth)
            self.cache.save(key, found)
        return found

    def _fits(self, found: Arrays) -> bool:
        """Can these be precisions? One is NaN where none of the users could be tested."""
        shape = (len(self.setup.ns),)
        return all(is_of(np.nan_to_num(found[part]), shape, np.float64, 0.0, 1.0) for part in PARTS)

    def _measured(self, defense: Defense, strength: float, truth: ArrayLike) -> dict[str, NDArray[np.float64]]:
        release = defense.release_for(self.test.X_protected, strength, self.seed, truth=truth)
        loss = self.test.loss(release)
        return {part: np.asarray(getattr(loss, part)) for part in PARTS}
