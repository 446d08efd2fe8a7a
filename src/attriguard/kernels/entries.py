"""Entries of a sparse matrix looked up by row and column, compiled."""

from __future__ import annotations

from typing import Any

from numba import njit
from numba.core import types as nb

from attriguard.kernels.types import const, out


@njit(
    nb.void(
        const(nb.int64, 1), const(nb.int32, 1),
        const(nb.int64, 1), const(nb.int64, 1),
        nb.int64, nb.int64, out(nb.int64, 1),
    ),
    cache=True,
    nogil=True,
)  # fmt: skip
def find_places(indptr: Any, indices: Any, rows: Any, columns: Any, start: int, stop: int, places: Any) -> None:
    """The place of each wanted entry among those of the matrix, -1 where it has none; rows have sorted indices."""
    for w in range(start, stop):
        low, end = indptr[rows[w]], indptr[rows[w] + 1]
        high = end
        while low < high:
            middle = (low + high) // 2
            if indices[middle] < columns[w]:
                low = middle + 1
            else:
                high = middle
        places[w] = low if low < end and indices[low] == columns[w] else -1


@njit(
    nb.void(
        const(nb.int64, 1), const(nb.int32, 1), const(nb.int64, 1), const(nb.int32, 1),
        nb.int64, nb.int64, out(nb.boolean, 1),
    ),
    cache=True,
    nogil=True,
)  # fmt: skip
def mark_new(indptr: Any, indices: Any, old_indptr: Any, old_indices: Any, start: int, stop: int, new: Any) -> None:
    """Which entries of rows `start` to `stop` the old matrix does not have; both have sorted indices."""
    for u in range(start, stop):
        at, end = old_indptr[u], old_indptr[u + 1]
        for e in range(indptr[u], indptr[u + 1]):
            while at < end and old_indices[at] < indices[e]:
                at += 1
            new[e] = at == end or old_indices[at] != indices[e]


@njit(
    nb.void(const(nb.int64, 1), const(nb.int64, 1), nb.int64, nb.int64, out(nb.int64, 1)),
    cache=True,
    nogil=True,
)
def find_rising(among: Any, keys: Any, start: int, stop: int, places: Any) -> None:
    """The place of each key `start` to `stop` among others, -1 where it is not there; keys rise, others strictly."""
    low, high = 0, among.shape[0]
    while start < stop and low < high:
        middle = (low + high) // 2
        if among[middle] < keys[start]:
            low = middle + 1
        else:
            high = middle
    for w in range(start, stop):
        while low < among.shape[0] and among[low] < keys[w]:
            low += 1
        places[w] = low if low < among.shape[0] and among[low] == keys[w] else -1
