"""The goal "mislead", the paper's: an attacker who does not know the guard infers another value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard.classifiers.base import Classifier
from attriguard.classifiers.factory import check_classifier, fit_classifier
from attriguard.goals.base import Goal, Learnt, Settings, Training, Truth
from attriguard.goals.confidence import check_confidence, noise_within
from attriguard.goals.price import Price
from attriguard.mechanism.shared import SharedDivergence, price_of_noise
from attriguard.mechanism.strategies import Divergence, Mechanism
from attriguard.mechanism.targets import make_target
from attriguard.noise.base import LINEAR, NoiseSearch
from attriguard.noise.constraints import Constraints
from attriguard.noise.costs import get_cost
from attriguard.noise.edits import Edits
from attriguard.plan import AtMost, Finder, Most
from attriguard.progress import Progress

CLASSIFIER = "classifier"


@dataclass(frozen=True, eq=False, kw_only=True)
class RepresentativeNoise:
    """Phase I of the paper: for every value i the noise r_i with which the classifier infers i (equation 2)."""

    classifier: Classifier
    search: NoiseSearch
    constraints: Constraints
    cost: str
    confidence: float | None  # κ; None: as much as the budget pays for
    target: NDArray[np.float64]
    locked: csr_array | None = None

    @property
    def follows_budget(self) -> bool:
        """Without a lead the inferred value costs nothing, so the noise fits any budget."""
        return self.confidence != 0.0

    def covers(self, X: csr_array, edits: Edits, budget: NDArray[np.float64]) -> bool:
        """Noise without a lead serves every budget; noise with a lead only its own."""
        return not self.follows_budget

    def limited(self, most: Most) -> Finder:
        """The same where no user gets more changes than that."""
        return AtMost(self, most)

    def find(self, X: csr_array, budget: NDArray[np.float64], progress: Progress) -> Edits:
        """The noise of every user and value, with a lead that the budget pays for."""

        cost = get_cost(self.cost)
        task = self.search.prepare(self.classifier, X, self.constraints, locked=self.locked)

        def find(confidence: ArrayLike, part: Progress) -> Edits:
            return self.search.run(self.classifier, task, confidence, cost, part)

        return noise_within(find, self.confidence, self.target, budget, progress)


class Mislead(Goal):
    """Draw a value from the target distribution, and change just the ratings that make a classifier infer it."""

    name = "mislead"
    plain_name = "point to another value"
    summary = "An attacker who does not know the guard infers another value: the paper's guard."
    needs = (CLASSIFIER,)
    options = ("classifier", "search", "target", "step", "confidence", "maxiter")
    learns_by_chance = False
    shares_budget = True
    how = "The guard draws a value at random, mostly by how frequent it is, and changes just what points to it."
    regained = "gets back most of what he lost. Changing a few ratings misleads; it does not erase what the others say."

    def check(self, settings: Settings) -> None:
        """The search must be able to keep the constraints."""
        check_confidence(settings.confidence, otherwise=0.0)
        settings.search.check_constraints(settings.constraints)

    def learn(self, settings: Settings, users: Training, progress: Progress) -> Learnt:
        """Learn the defender's classifier C."""
        check_classifier(settings.classifier, users.checkpoint, linear_only=LINEAR in settings.search.needs)
        return Learnt(self.name, {CLASSIFIER: learn_classifier(settings, users, progress)}, users.counts, 0.0)

    def finder(self, settings: Settings, learnt: Learnt, locked: csr_array | None = None) -> RepresentativeNoise:
        """Algorithm 1, or another search, on the learnt classifier."""
        return representative_noise(settings, learnt, locked, otherwise=0.0)

    def mechanism(self, settings: Settings, learnt: Learnt) -> Mechanism:
        """The paper's M*; under a budget of everyone, with one multiplier for all users."""
        return divergence(settings, learnt)

    def settle(
        self, settings: Settings, learnt: Learnt, X: csr_array, progress: Progress, truth: Truth | None = None
    ) -> Price:
        """What a unit of cost must lower the divergence by."""
        edits = self.finder(settings, learnt).find(X, np.full(X.shape[0], settings.budget), progress)
        target = make_target(settings.target, learnt.counts)
        noise = price_of_noise(target, edits.costs_in_reach, settings.budget)
        return Price(self.name, settings.budget, noise=noise)

    def model(self, learnt: Learnt) -> Classifier:
        """The defender's classifier."""
        return learnt.models[CLASSIFIER]


def divergence(settings: Settings, learnt: Learnt) -> Mechanism:
    """The distribution closest to p, within each user's budget or within that of all users together."""
    target = make_target(settings.target, learnt.counts)
    if not settings.shared:
        return Divergence(target)
    return SharedDivergence(target, None if settings.price is None else settings.price.noise)


def learn_classifier(settings: Settings, users: Training, progress: Progress) -> Classifier:
    """The defender's classifier C, trained."""
    progress.tell("the classifier learns")
    return fit_classifier(
        settings.classifier,
        users.X,
        users.codes,
        checkpoint=users.checkpoint,
        random_state=settings.random_state,
        progress=progress,
    )


def representative_noise(
    settings: Settings, learnt: Learnt, locked: csr_array | None, *, otherwise: float | str
) -> RepresentativeNoise:
    """Phase I on the learnt classifier; ``otherwise`` is the confidence where none was asked for."""
    return RepresentativeNoise(
        classifier=learnt.models[CLASSIFIER],
        search=settings.search,
        constraints=settings.constraints,
        cost=settings.cost,
        confidence=check_confidence(settings.confidence, otherwise=otherwise),
        target=make_target(settings.target, learnt.counts),
        locked=locked,
    )
