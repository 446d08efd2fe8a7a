"""Cells: (user, item) pairs numbered row by row. What is free is found from what is taken, without listing it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Cells = NDArray[np.int64]


def users_of(X: csr_array) -> NDArray[np.int64]:
    """The user of every stored entry."""
    return np.repeat(np.arange(X.shape[0], dtype=np.int64), np.diff(X.indptr))


def ratings_of(X: csr_array) -> NDArray[np.int64]:
    """How many items each user has rated."""
    return np.diff(X.indptr).astype(np.int64)


def taken_cells(X: csr_array) -> Cells:
    """The rated cells, in order."""
    return users_of(X) * X.shape[1] + X.indices


def free_cells(taken: Cells, numbers: Cells) -> Cells:
    """The free cells with these numbers, counted from 0; ``taken`` is in order.

    Before the t-th taken cell lie ``taken[t] - t`` free ones; so free cell z has as many taken ones before it as there
    are t with ``taken[t] - t <= z``.
    """
    return numbers + np.searchsorted(taken - np.arange(taken.size), numbers, side="right")


def first_free(X: csr_array) -> Cells:
    """The number of every user's first free cell, and last, the number of free cells."""
    return np.arange(X.shape[0] + 1, dtype=np.int64) * X.shape[1] - X.indptr


def with_ratings(X: csr_array, cells: Cells, entries: NDArray[np.float32]) -> csr_array:
    """X with entries in cells that were free."""
    users, items = np.divmod(cells, X.shape[1])
    return csr_array(X + csr_array((entries, (users, items)), shape=X.shape))


def without_ratings(X: csr_array, dropped: NDArray[np.bool_]) -> csr_array:
    """X without some of its stored entries."""
    kept = ~dropped
    indptr = np.concatenate([[0], np.cumsum(kept)])[X.indptr]
    return csr_array((X.data[kept], X.indices[kept], indptr), shape=X.shape)


def largest(X: csr_array, keys: NDArray[np.float64], k: int) -> NDArray[np.bool_]:
    """Which stored entries have one of the k largest keys of their row; of equal ones the first."""
    order = np.lexsort((-keys, users_of(X)))
    chosen = np.zeros(X.nnz, dtype=np.bool_)
    chosen[order] = np.arange(X.nnz) - np.repeat(X.indptr[:-1].astype(np.int64), ratings_of(X)) < k
    return chosen
