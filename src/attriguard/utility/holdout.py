"""Rated items that are held out: the ones a good recommender would find."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_count, check_matrix, check_rng
from attriguard.errors import DataError

# As in the paper.
HELD_OUT = 5


@dataclass(frozen=True, eq=False, kw_only=True)
class HeldOut:
    """Data without the held-out ratings, and what they were."""

    X: csr_array  # everybody's remaining ratings, rows in the old order
    users: NDArray[np.int64]  # (k,): rows of the users with held-out items
    items: NDArray[np.int64]  # (k, n): their held-out items, sorted
    left_out: int  # users with n ratings or fewer: they keep all of them, and are not tested

    def taken_by(self, X_seen: csr_array) -> NDArray[np.int64]:
        """How many of each user's held-out items are rated in ``X_seen``, of shape (k,)."""
        rated = _pairs(X_seen.indptr, X_seen.indices, X_seen.shape[1])
        held = self.users[:, None] * self.X.shape[1] + self.items
        return np.asarray(np.isin(held, rated).sum(axis=1))


def hold_out(X: csr_array, n: int = HELD_OUT, random_state: int | np.random.Generator | None = None) -> HeldOut:
    """Take ``n`` rated items, drawn at random, from every user who has more than that."""
    X, n = check_matrix(X), check_count(n, name="n")
    lengths = np.diff(X.indptr)
    users = np.flatnonzero(lengths > n)
    if not users.size:
        raise DataError(f"nobody has more than {n} ratings, so nothing can be held out; lower n")
    rows = np.repeat(np.arange(X.shape[0]), lengths)
    # Ratings in random order within their row; the first n of a row are the ones taken.
    order = np.lexsort((check_rng(random_state).random(X.nnz), rows))
    taken = order[X.indptr[users][:, None] + np.arange(n)]
    keep = np.ones(X.nnz, dtype=np.bool_)
    keep[taken] = False
    lengths[users] -= n
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    left = csr_array((X.data[keep], X.indices[keep], indptr), shape=X.shape)
    items = np.sort(X.indices[taken].astype(np.int64), axis=1)
    return HeldOut(X=check_matrix(left), users=users, items=items, left_out=X.shape[0] - users.size)


def _pairs(indptr: NDArray[np.int64], items: NDArray[np.int32], n_items: int) -> NDArray[np.int64]:
    """One number for every (user, item) that is rated."""
    rows = np.repeat(np.arange(indptr.size - 1, dtype=np.int64), np.diff(indptr))
    return rows * n_items + items
