"""Phase I of the goal "conceal": one change after another, each the one that tells least afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._progress import Progress
from attriguard.classifiers.ensemble import Ensemble
from attriguard.kernels.rows import rows_of
from attriguard.kernels.threads import over_users
from attriguard.noise.base import Rules, check_locked
from attriguard.noise.edits import Edits

# Items that are tried for an addition, at most: those that pull most to each value.
POOL = 200
# Users a thread works on at a time.
FEWEST_USERS = 8


@dataclass(frozen=True, eq=False)
class Sequences:
    """Every user's changes in the order they are made: ``found`` of them, the item and its new value (0: removed).

    ``told`` (n, most + 1) is what the ensemble can tell before the first change and after each: how far its posterior
    is from the prior, as a Kullback-Leibler divergence in nats.
    """

    found: NDArray[np.int64]
    items: NDArray[np.int32]
    values: NDArray[np.float32]
    told: NDArray[np.float32]

    @property
    def most(self) -> int:
        return int(self.items.shape[1])

    def prefixes(self) -> Edits:
        """Candidate k: the first k changes; out of reach where there are fewer."""
        n, width = self.found.size, self.most + 1
        success = np.arange(width) <= self.found[:, None]
        lengths = np.where(success, np.arange(width), 0)
        indptr = np.concatenate([[0], np.cumsum(lengths.ravel())])
        items, values = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1], dtype=np.float32)
        for k in range(1, width):
            users = np.flatnonzero(success[:, k])
            order = np.argsort(self.items[users, :k], axis=1)
            place = indptr[users * width + k][:, None] + np.arange(k)
            items[place] = np.take_along_axis(self.items[users, :k], order, axis=1)
            values[place] = np.take_along_axis(self.values[users, :k], order, axis=1)
        cost = lengths.astype(np.float64)
        return Edits(
            indptr=indptr, items=items, values=values, cost=cost, success=success, extended=np.zeros((n, width), bool)
        )


def find_sequences(
    ensemble: Ensemble,
    X: csr_array,
    rules: Rules,
    most: int,
    *,
    locked: Any = None,
    progress: Progress | None = None,
) -> Sequences:
    """At most ``most`` changes a user: removals where the policy lets existing ratings change, else additions."""
    fixed, (indptr, indices, data) = check_locked(locked, X), rows_of(X)
    n = X.shape[0]
    free = np.full(indices.size, rules.policy.modify) & (rules.upper[indices] >= 0)
    pool = np.empty(0, dtype=np.int32) if rules.policy.modify else addition_pool(ensemble, rules)
    given = (indptr, indices, data, free.astype(np.uint8), pool, rules.upper[pool].astype(np.float32))
    model = (ensemble.W1, ensemble.b1, ensemble.ends, ensemble.outputs, ensemble.b2, ensemble.prior)
    result = Sequences(
        np.zeros(n, dtype=np.int64),
        np.zeros((n, most), dtype=np.int32),
        np.zeros((n, most), dtype=np.float32),
        np.zeros((n, most + 1), dtype=np.float32),
    )
    out = (result.found, result.items, result.values, result.told)
    held = rows_of(fixed)[:2]

    def work(start: int, stop: int) -> int:
        from attriguard.kernels.conceal import conceal_rows

        conceal_rows(*given, *held, *model, start, stop, *out)
        return stop - start

    for done in over_users(n, work, smallest=FEWEST_USERS):
        if progress is not None:
            progress("looking for what tells most", done)
    return result


def addition_pool(ensemble: Ensemble, rules: Rules) -> NDArray[np.int32]:
    """The items that pull most to each value, by first order, of those that may be added."""
    addable = np.flatnonzero(rules.upper > 0).astype(np.int32)
    if addable.size <= POOL:
        return addable
    pull = (ensemble.W1[addable] @ ensemble.outputs.T) * rules.upper[addable, None]
    pull -= pull.mean(axis=1, keepdims=True)
    each = max(1, POOL // ensemble.m)
    best = np.argsort(-pull, axis=0, kind="stable")[:each]
    return np.unique(addable[best])
