"""The goal "both": part of the budget removes what tells most, the rest points to another value."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_matrix
from attriguard.classifiers.base import Classifier
from attriguard.classifiers.factory import check_classifier
from attriguard.errors import ParameterError
from attriguard.goals.base import Goal, Learnt, Settings, Training, Truth
from attriguard.goals.conceal import ENSEMBLE, learn_ensemble, removals
from attriguard.goals.confidence import AUTO, check_confidence
from attriguard.goals.mislead import (
    CLASSIFIER,
    RepresentativeNoise,
    divergence,
    learn_classifier,
    representative_noise,
)
from attriguard.goals.price import Price
from attriguard.goals.removing import NEVER, Removals, SharedRemovals, at_price
from attriguard.goals.trial import find_split
from attriguard.mechanism.shared import price_of_noise
from attriguard.mechanism.strategies import Mechanism
from attriguard.mechanism.targets import make_target
from attriguard.noise.base import LINEAR
from attriguard.noise.constraints import check_locked
from attriguard.noise.edits import Edits
from attriguard.noise.removals import ChangeSequences
from attriguard.plan import AtMost, Finder, Most
from attriguard.progress import Progress

# About how long the ensemble, the classifier and the trial of a split take to learn.
WEIGHTS = (4.0, 1.0, 6.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class RemovalsAndNoise:
    """Phase I: every candidate removes the same ratings of a user, and then adds the noise for value i."""

    removals: Removals
    noise: RepresentativeNoise
    split: float  # the share of the budget that removes
    shared: SharedRemovals | None = None  # what removes under a budget of everyone
    left: float | None = None  # of a budget of everyone, for noise; None: what the removals leave
    own: csr_array | None = None  # users' own ratings, where earlier releases have changed what is searched

    @property
    def follows_budget(self) -> bool:
        """How many ratings are removed depends on the budget."""
        return True

    def covers(self, X: csr_array, edits: Edits, budget: NDArray[np.float64]) -> bool:
        """Another budget removes another number of ratings."""
        return False

    def find(self, X: csr_array, budget: NDArray[np.float64], progress: Progress) -> Edits:
        """Remove what tells most, then search for noise on the rows that are left, with the rest of the budget."""
        removing, adding = progress.parts(1, 2)
        fixed = check_locked(self.noise.locked, X)
        found, counts, rest = self.remove(self.without_added(X), budget, removing)
        rows = found.of_counts(counts).apply(X, np.zeros_like(counts))
        # A removed rating must not come back as noise.
        noise = replace(self.noise, locked=_with_changed(fixed, found, counts)).find(rows, rest, adding)
        return joined(noise, found, counts).with_cost(self.noise.cost, X)

    def without_added(self, X: csr_array) -> csr_array:
        """The rows without what earlier releases have added: whoever retrains looks past that, and so do removals.

        With it, ratings that tell the truth would seem to make users less sure to tell, and would stay.
        """
        return X if self.own is None else check_matrix(csr_array(X.multiply(self.own != 0)).astype(X.dtype))

    def remembering(self, own: csr_array) -> RemovalsAndNoise:
        """The same for rows that earlier releases have changed."""
        shared = None if self.shared is None else self.shared.remembering(own)
        return replace(self, removals=self.removals.remembering(own), shared=shared, own=own)

    def remove(
        self, X: csr_array, budget: NDArray[np.float64], progress: Progress
    ) -> tuple[ChangeSequences, NDArray[np.int64], NDArray[np.float64]]:
        """The changes of each user, how many of them are made, and what is left of the budget for noise."""
        if self.shared is not None:
            found, counts = self._remove_shared(X, float(self.split * budget.sum()), progress)
            left = max(float(budget.mean() - counts.mean()), 0.0) if self.left is None else self.left
            return found, counts, np.full(budget.size, left)
        counts = self.counts(budget)
        found = self.removals.changes(X, int(counts.max(initial=0)), NEVER, progress)
        counts = np.minimum(counts, found.lengths)
        return found, counts, budget - counts

    def _remove_shared(
        self, X: csr_array, total: float, progress: Progress
    ) -> tuple[ChangeSequences, NDArray[np.int64]]:
        """Every change that gains more than the price is made; what is left over goes to noise."""
        assert self.shared is not None
        found = self.shared.share(X, total, progress)
        return found.found, found.counts()[0 if self.left is None else 1]

    def limited(self, most: Most) -> Finder:
        """The same where no user gets more changes than that."""
        shared = None if self.shared is None else self.shared.limited(most)
        return AtMost(replace(self, shared=shared), most)

    def counts(self, budget: NDArray[np.float64]) -> NDArray[np.int64]:
        """How many ratings are removed: the split's part of the budget, in whole ratings."""
        finite = np.minimum(budget, self.noise.constraints.n_items)
        return np.minimum(np.floor(self.split * finite + 0.5), np.floor(finite)).astype(np.int64)


class Both(Goal):
    """Remove what tells most with a part of the budget, and mislead with the rest."""

    name = "both"
    plain_name = "remove, then point elsewhere"
    summary = "Part of the changes removes what tells most, the rest points to another value."
    needs = (CLASSIFIER, ENSEMBLE)
    options = ("classifier", "search", "target", "step", "confidence", "maxiter", "members", "split")
    shares_budget = True
    how = (
        "The guard first removes the ratings that tell most, then draws a value at random, mostly by how frequent it "
        "is, and changes what points to it."
    )
    regained = "gets back much of what he lost: he learns to look past what points elsewhere, but not what was removed."

    def check(self, settings: Settings) -> None:
        """Whole ratings are removed, so the cost counts them; the search must be able to keep the constraints."""
        if settings.cost != "l0":
            raise ParameterError(f"the goal {self.name!r} counts ratings: its cost is 'l0'")
        check_confidence(settings.confidence, otherwise=AUTO)
        settings.search.check_constraints(settings.constraints)

    def learn(self, settings: Settings, users: Training, progress: Progress) -> Learnt:
        """Learn both models; where no split was asked for, try out which one protects best."""
        check_classifier(settings.classifier, users.checkpoint, linear_only=LINEAR in settings.search.needs)
        removing, misleading, trial = progress.parts(*WEIGHTS)
        ensemble = learn_ensemble(settings, users, removing)
        classifier = learn_classifier(settings, users, misleading)
        split = find_split(self, settings, users, trial) if settings.split is None else float(settings.split)
        return Learnt(self.name, {CLASSIFIER: classifier, ENSEMBLE: ensemble}, users.counts, split)

    def finder(self, settings: Settings, learnt: Learnt, locked: csr_array | None = None) -> RemovalsAndNoise:
        """Removals first, then noise. Half a budget leads by little, so the lead is as large as the budget pays for."""
        price, shared, removing = settings.price, None, removals(settings, learnt, locked)
        if settings.shared:
            shared = at_price(removing, price)
        return RemovalsAndNoise(
            removals=removing,
            noise=representative_noise(settings, learnt, locked, otherwise=AUTO),
            split=float(learnt.split if settings.split is None else settings.split),
            shared=shared,
            left=None if price is None else price.left,
        )

    def remembering(self, finder: Finder, own: csr_array) -> Finder:
        """Removals look past what earlier releases have added; noise does not."""
        return finder.remembering(own) if isinstance(finder, RemovalsAndNoise) else finder

    def mechanism(self, settings: Settings, learnt: Learnt) -> Mechanism:
        """The paper's M*, on candidates that all remove the same ratings."""
        return divergence(settings, learnt)

    def settle(
        self, settings: Settings, learnt: Learnt, X: csr_array, progress: Progress, truth: Truth | None = None
    ) -> Price:
        """Both prices: of a removed rating, and of a unit of noise beside the removals."""
        finder, budget = self.finder(settings, learnt), settings.budget
        assert finder.shared is not None
        removing, adding = progress.parts(1, 3)
        found = finder.shared.share(X, finder.split * budget * X.shape[0], removing)
        left = max(budget - float(found.counts()[1].mean()), 0.0)
        price = Price(self.name, budget, removal=found.price, left=left)
        priced = replace(finder, shared=at_price(finder.removals, price), left=left)
        edits = priced.find(X, np.full(X.shape[0], budget), adding)
        noise = price_of_noise(make_target(settings.target, learnt.counts), edits.costs_in_reach, budget)
        return replace(price, noise=noise)

    def model(self, learnt: Learnt) -> Classifier:
        """The classifier that is misled."""
        return learnt.models[CLASSIFIER]


def _with_changed(fixed: csr_array, found: ChangeSequences, counts: NDArray[np.int64]) -> csr_array:
    """The locked pattern, and the first ``counts`` changed items of every user."""
    user, k = np.nonzero(np.arange(found.most) < counts[:, None])
    changed = csr_array((np.ones(user.size, dtype=np.float32), (user, found.items[user, k])), shape=fixed.shape)
    pattern = csr_array(fixed + changed)
    pattern.data = np.ones_like(pattern.data)
    return pattern


def joined(noise: Edits, found: ChangeSequences, counts: NDArray[np.int64]) -> Edits:
    """Every candidate's noise and its user's first ``counts`` changes, which touch other items, sorted."""
    m = noise.m
    reached = np.flatnonzero(noise.success.ravel())
    user, k = np.nonzero(np.arange(found.most) < counts[:, None])
    per_pair = np.where(noise.success, counts[:, None], 0).ravel()
    begin = np.concatenate([[0], np.cumsum(counts)])
    # The user's changes, repeated for each of the user's reached values.
    pair = np.repeat(reached, per_pair[reached])
    offset = np.arange(pair.size) - np.repeat(np.cumsum(per_pair[reached]) - per_pair[reached], per_pair[reached])
    source = begin[pair // m] + offset
    pairs = np.concatenate([np.repeat(np.arange(noise.success.size), np.diff(noise.indptr)), pair])
    items = np.concatenate([noise.items, found.items[user, k][source]])
    values = np.concatenate([noise.values, found.values[user, k][source]])
    order = np.lexsort((items, pairs))
    lengths = np.diff(noise.indptr) + per_pair
    return replace(
        noise, indptr=np.concatenate([[0], np.cumsum(lengths)]), items=items[order], values=values[order], bound=None
    )
