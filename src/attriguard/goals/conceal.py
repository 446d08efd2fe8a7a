"""The goal "conceal": the ratings that tell most are removed, so that even an attacker who retrains infers less."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_rng
from attriguard.classifiers.base import Classifier
from attriguard.classifiers.ensemble import Ensemble, fit_ensemble
from attriguard.classifiers.factory import check_classifier
from attriguard.errors import ParameterError
from attriguard.goals.base import Goal, Learnt, Settings, Training, Truth
from attriguard.mechanism.strategies import Counts
from attriguard.noise.constraints import Constraints
from attriguard.noise.edits import Edits
from attriguard.noise.policy import Policy
from attriguard.noise.removals import find_changes
from attriguard.progress import Progress

ENSEMBLE = "ensemble"


@dataclass(frozen=True, eq=False, kw_only=True)
class Removals:
    """Phase I: candidate k makes the first k of the changes after which the ensemble can tell least."""

    ensemble: Ensemble
    constraints: Constraints
    locked: csr_array | None = None
    prior: NDArray[np.float32] | None = None  # what the ratings of each user shall look like, if not the ensemble's

    @property
    def follows_budget(self) -> bool:
        """A smaller budget takes fewer of the same changes."""
        return False

    def covers(self, X: csr_array, edits: Edits, budget: NDArray[np.float64]) -> bool:
        """Candidates serve every budget up to the number of changes that were searched for."""
        most = edits.m - 1
        return bool(budget.max(initial=0.0) <= most) or most >= self.possible(X)

    def find(self, X: csr_array, budget: NDArray[np.float64], progress: Progress) -> Edits:
        """As many changes as the largest budget may need."""
        most = min(np.ceil(budget.max(initial=0.0)), self.possible(X))
        return find_changes(
            self.ensemble, X, self.constraints, int(most), locked=self.locked, prior=self.prior, progress=progress
        ).prefixes()

    def possible(self, X: csr_array) -> int:
        """How many changes any user can have."""
        return (
            int(np.diff(X.indptr).max(initial=0))
            if self.constraints.policy.modify
            else int((self.constraints.upper > 0).sum())
        )


class Conceal(Goal):
    """Make one change after another, each the one after which a user's ratings tell least."""

    name = "conceal"
    plain_name = "remove what tells most"
    summary = "What tells most is removed, so that even an attacker who knows the guard and retrains infers less."
    needs = (ENSEMBLE,)
    options = ("members",)
    marks_seen_users = False
    uses_truth = True
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
        """Learn the ensemble of small networks."""
        if users.checkpoint is not None:
            raise ParameterError("a guard that conceals learns small networks, which need no checkpoint")
        if isinstance(settings.classifier, str):
            check_classifier(settings.classifier)
        return Learnt(self.name, {ENSEMBLE: learn_ensemble(settings, users, progress)}, users.counts, 1.0)

    def finder(self, settings: Settings, learnt: Learnt, locked: csr_array | None = None) -> Removals:
        """The changes that lower most what the ensemble can tell."""
        return Removals(ensemble=ensemble_of(learnt), constraints=settings.constraints, locked=locked)

    def informed_finder(
        self, settings: Settings, learnt: Learnt, truth: Truth, locked: csr_array | None = None
    ) -> Removals:
        """The changes after which the ensemble can tell least, and less of a user's own value than of the others."""
        return replace(self.finder(settings, learnt, locked), prior=truth.prior(ensemble_of(learnt).prior))

    def mechanism(self, settings: Settings, learnt: Learnt) -> Counts:
        """The whole budget is spent, on one of two counts of changes."""
        return Counts()

    def model(self, learnt: Learnt) -> Classifier:
        """The ensemble."""
        return learnt.models[ENSEMBLE]

    def changes(self, policy: Policy) -> str:
        """Existing ratings are removed, never changed, and none is added beside them."""
        return "remove existing ratings only" if policy.modify else policy.meaning


def learn_ensemble(settings: Settings, users: Training, progress: Progress) -> Ensemble:
    """Small networks that differ by chance alone."""
    chance = check_rng(settings.random_state)
    return fit_ensemble(users.X, users.codes, members=settings.members, chance=chance, progress=progress)


def ensemble_of(learnt: Learnt) -> Ensemble:
    """The learnt ensemble, with its type."""
    ensemble = learnt.models[ENSEMBLE]
    if not isinstance(ensemble, Ensemble):
        raise ParameterError(f"a guard conceals with an ensemble, got {type(ensemble).__name__}")
    return ensemble
