"""Phase I of concealing: one change after another, for a budget of each user or of all users together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.classifiers.ensemble import Ensemble
from attriguard.goals.price import Price
from attriguard.mechanism.shared import counts_at, price_of_changes
from attriguard.noise.constraints import Constraints
from attriguard.noise.edits import Edits
from attriguard.noise.removals import UNKNOWN, ChangeSequences, Target, find_changes
from attriguard.plan import AtMost, Finder, Most
from attriguard.progress import Progress

# A price at which the search goes on.
NEVER = -1.0
# No user gets more than this many times the budget, or a few more of a small one: further changes gain little.
DEEPEST, FEWEST = 4.0, 8
# A price is first looked for on one user in so many; below so many users, on all of them.
ONE_IN, FEW_USERS = 16, 400
# The price of the sample is taken with this caution, so that it is hardly ever too high.
CAUTION = 0.7


@dataclass(frozen=True, eq=False, kw_only=True)
class Removals:
    """Phase I: candidate k makes the first k of the changes after which the ensemble can tell least."""

    ensemble: Ensemble
    constraints: Constraints
    locked: csr_array | None = None
    target: Target = UNKNOWN

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
        return self.changes(X, int(most), NEVER, progress).prefixes()

    def limited(self, most: Most) -> Finder:
        """The same where no user gets more changes than that."""
        return AtMost(self, most)

    def changes(self, X: csr_array, most: int, price: float, progress: Progress) -> ChangeSequences:
        """At most so many changes of each user, and no more than may be worth the price."""
        return find_changes(
            self.ensemble,
            X,
            self.constraints,
            most,
            locked=self.locked,
            target=self.target,
            price=price,
            progress=progress,
        )

    def of_users(self, users: NDArray[np.int64]) -> Removals:
        """The same for some of the users."""
        locked = None if self.locked is None else self.locked[users]
        return replace(self, locked=locked, target=self.target.of_users(users))

    def remembering(self, own: csr_array) -> Removals:
        """The same for rows that earlier releases have changed: users' own ratings say how likely each value is."""
        return replace(self, target=replace(self.target, own=own))

    def possible(self, X: csr_array) -> int:
        """How many changes any user can have."""
        return (
            int(np.diff(X.indptr).max(initial=0))
            if self.constraints.policy.modify
            else int((self.constraints.upper > 0).sum())
        )


@dataclass(frozen=True, eq=False)
class Shared:
    """The changes of all users, and what each of them gains."""

    found: ChangeSequences
    gains: NDArray[np.float32]
    price: float

    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many changes of each user gain more than the price, and how many at least as much."""
        return counts_at(self.gains, self.price)


@dataclass(frozen=True, eq=False, kw_only=True)
class SharedRemovals:
    """Phase I of concealing under a budget of everyone: the candidates are the two counts next to the price.

    Without a price, it is found for the users at hand.
    """

    removals: Removals
    price: float | None = None  # None: found for the users at hand
    most: Most | None = None

    @property
    def follows_budget(self) -> bool:
        """Another budget has another price."""
        return True

    def covers(self, X: csr_array, edits: Edits, budget: NDArray[np.float64]) -> bool:
        """Never: see `follows_budget`."""
        return False

    def limited(self, most: Most) -> SharedRemovals:
        """The same where no user gets more changes than that."""
        return replace(self, most=most)

    def remembering(self, own: csr_array) -> SharedRemovals:
        """The same for rows that earlier releases have changed: see `Removals.remembering`."""
        return replace(self, removals=self.removals.remembering(own))

    def find(self, X: csr_array, budget: NDArray[np.float64], progress: Progress) -> Edits:
        """Candidate 0 makes the changes that gain more than the price, candidate 1 those that gain as much, too."""
        shared = self.share(X, float(budget.sum()), progress)
        return shared.found.of_counts(*shared.counts())

    def share(self, X: csr_array, total: float, progress: Progress) -> Shared:
        """So many changes in all, each the one that gains most."""
        n, depth = X.shape[0], self._depth(X, total / max(X.shape[0], 1))
        if self.price is not None:
            found = self._changes(X, depth, self.price, progress)
            return Shared(found, found.gains(), self.price)
        trying, finding = progress.parts(1, ONE_IN)
        least = CAUTION * self._price_on(np.arange(0, n, ONE_IN), X, depth, total, trying) if n >= FEW_USERS else NEVER
        while True:
            found = self._changes(X, depth, least, finding)
            gains = found.gains()
            price = price_of_changes(gains, total)
            # Changes that are worth less than the least price were not looked for.
            if price >= least:
                return Shared(found, gains, price)
            least = CAUTION * price if price > 0 else NEVER

    def _price_on(self, some: NDArray[np.int64], X: csr_array, depth: int, total: float, progress: Progress) -> float:
        """The price on some of the users, who have their part of all changes."""
        gains = self.removals.of_users(some).changes(X[some], depth, NEVER, progress).gains()
        return price_of_changes(gains, total * some.size / max(X.shape[0], 1))

    def _changes(self, X: csr_array, depth: int, price: float, progress: Progress) -> ChangeSequences:
        found = self.removals.changes(X, depth, price, progress)
        return found if self.most is None else found.at_most(self.most)

    def _depth(self, X: csr_array, budget: float) -> int:
        """How many changes are looked for."""
        deepest = min(max(np.ceil(DEEPEST * budget), FEWEST), self.removals.possible(X))
        return int(deepest if self.most is None else min(deepest, np.max(self.most, initial=0)))


def at_price(removals: Removals, price: Price | None) -> SharedRemovals:
    """Removals under a budget of everyone, at a price that has been settled; or at one that is found (None)."""
    if price is None:
        return SharedRemovals(removals=removals)
    return SharedRemovals(removals=removals, price=price.removal)
