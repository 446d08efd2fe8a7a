"""The goal "conceal": the ratings that tell most are removed, so that even an attacker who retrains infers less."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_rng
from attriguard.classifiers.base import Classifier
from attriguard.classifiers.bayes import learn_weighed_bayes
from attriguard.classifiers.ensemble import Ensemble, fit_ensemble
from attriguard.classifiers.factory import check_classifier
from attriguard.errors import ParameterError
from attriguard.goals.base import Goal, Learnt, Settings, Training, Truth
from attriguard.goals.price import Price
from attriguard.goals.removing import Removals, SharedRemovals, at_price
from attriguard.mechanism.shared import SharedCounts
from attriguard.mechanism.strategies import Counts, Mechanism
from attriguard.noise.policy import Policy
from attriguard.noise.removals import UNKNOWN, Target
from attriguard.plan import Finder
from attriguard.progress import Progress

ENSEMBLE = "ensemble"


class Conceal(Goal):
    """Make one change after another, each the one after which a user's ratings tell least."""

    name = "conceal"
    plain_name = "remove what tells most"
    summary = "What tells most is removed, so that even an attacker who knows the guard and retrains infers less."
    needs = (ENSEMBLE,)
    options = ("members",)
    marks_seen_users = False
    uses_truth = True
    shares_budget = True
    how = "The guard makes one change after another, each the one after which the ratings tell least."
    regained = (
        "gets back a part of what he lost: what was removed he cannot get back, but what is left still tells him "
        "something."
    )

    def check(self, settings: Settings) -> None:
        """Whole ratings are removed, so the cost counts them."""
        if settings.cost != "l0":
            raise ParameterError(f"the goal {self.name!r} counts ratings: its cost is 'l0'")

    def learn(self, settings: Settings, users: Training, progress: Progress) -> Learnt:
        """Learn the ensemble: small networks and a naive Bayes."""
        if users.checkpoint is not None:
            raise ParameterError("a guard that conceals learns small networks, which need no checkpoint")
        if isinstance(settings.classifier, str):
            check_classifier(settings.classifier)
        return Learnt(self.name, {ENSEMBLE: learn_ensemble(settings, users, progress)}, users.counts, 1.0)

    def finder(self, settings: Settings, learnt: Learnt, locked: csr_array | None = None) -> Finder:
        """The changes that lower most what the ensemble can tell."""
        return _for_budget(settings, removals(settings, learnt, locked))

    def informed_finder(
        self, settings: Settings, learnt: Learnt, truth: Truth, locked: csr_array | None = None
    ) -> Finder:
        """The changes after which the ensemble can tell least of a user's own value."""
        return _for_budget(settings, removals(settings, learnt, locked, truth))

    def learn_from_release(
        self, learnt: Learnt, released: csr_array, codes: NDArray[np.int64], chance: np.random.Generator
    ) -> Learnt:
        """A naive Bayes that has learnt from released rows joins the ensemble: what they tell tells less then."""
        joined = ensemble_of(learnt).joined_by(learn_weighed_bayes(released, codes, chance))
        return replace(learnt, models={**learnt.models, ENSEMBLE: joined})

    def remembering(self, finder: Finder, own: csr_array) -> Finder:
        """How likely each value is, users' own ratings say: rows of later releases say little already."""
        return finder.remembering(own) if isinstance(finder, (Removals, SharedRemovals)) else finder

    def mechanism(self, settings: Settings, learnt: Learnt) -> Mechanism:
        """The whole budget is spent, on one of two counts of changes."""
        return SharedCounts(settled=settings.price is not None) if settings.shared else Counts()

    def settle(
        self, settings: Settings, learnt: Learnt, X: csr_array, progress: Progress, truth: Truth | None = None
    ) -> Price:
        """What a removed rating must lower the leakage by."""
        shared = SharedRemovals(removals=removals(settings, learnt, truth=truth))
        found = shared.share(X, settings.budget * X.shape[0], progress)
        return Price(self.name, settings.budget, removal=found.price)

    def model(self, learnt: Learnt) -> Classifier:
        """The ensemble."""
        return learnt.models[ENSEMBLE]

    def changes(self, policy: Policy) -> str:
        """Existing ratings are removed, never changed, and none is added beside them."""
        return "remove existing ratings only" if policy.modify else policy.meaning


def removals(
    settings: Settings, learnt: Learnt, locked: csr_array | None = None, truth: Truth | None = None
) -> Removals:
    """Phase I on the learnt ensemble."""
    target = UNKNOWN if truth is None else Target(truth.codes, truth.share)
    return Removals(ensemble=ensemble_of(learnt), constraints=settings.constraints, locked=locked, target=target)


def _for_budget(settings: Settings, finder: Removals) -> Finder:
    """The same number of changes for each user, or so many on average."""
    if not settings.shared:
        return finder
    return at_price(finder, settings.price)


def learn_ensemble(settings: Settings, users: Training, progress: Progress) -> Ensemble:
    """Small networks that differ by chance alone, and a naive Bayes."""
    chance = check_rng(settings.random_state)
    return fit_ensemble(users.X, users.codes, members=settings.members, chance=chance, progress=progress)


def ensemble_of(learnt: Learnt) -> Ensemble:
    """The learnt ensemble, with its type."""
    ensemble = learnt.models[ENSEMBLE]
    if not isinstance(ensemble, Ensemble):
        raise ParameterError(f"a guard conceals with an ensemble, got {type(ensemble).__name__}")
    return ensemble
