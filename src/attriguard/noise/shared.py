"""Phase I of the goal "both": first what tells most is taken away, then noise is found for every value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._progress import Progress
from attriguard.classifiers.ensemble import Ensemble
from attriguard.noise.constraints import Constraints, check_locked
from attriguard.noise.edits import Edits
from attriguard.noise.removals import ChangeSequences, find_changes


@dataclass(frozen=True, eq=False, kw_only=True)
class Both:
    """Candidates of the goal "both": what is taken away from a user, together with the noise for value i."""

    ensemble: Ensemble
    # Of rows, what is locked, and what is left of the budget.
    noise: Callable[[csr_array, csr_array, NDArray[np.float64], Progress | None], Edits]
    X: csr_array
    rules: Constraints
    split: float
    cost: str
    locked: Any = None

    def find(self, budget: NDArray[np.float64], progress: Progress | None = None) -> Edits:
        """Phase I for these budgets, on rows that have lost what tells most."""
        fixed, counts = check_locked(self.locked, self.X), self.counts(budget)
        found = find_changes(
            self.ensemble, self.X, self.rules, int(counts.max(initial=0)), locked=fixed, progress=progress
        )
        counts = np.minimum(counts, found.lengths)
        rows = found.prefixes().apply(self.X, counts)
        # What was taken away stays away.
        noise = self.noise(rows, _with_changed(fixed, found, counts), budget - counts, progress)
        return joined(noise, found, counts).with_cost(self.cost, self.X)

    def counts(self, budget: NDArray[np.float64]) -> NDArray[np.int64]:
        """How many ratings are taken away: the split's part of the budget, in whole ratings."""
        finite = np.minimum(budget, self.rules.n_items)
        return np.minimum(np.floor(self.split * finite + 0.5), np.floor(finite)).astype(np.int64)


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
