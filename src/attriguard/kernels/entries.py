"""Entries of a sparse matrix looked up by row and column, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.core import types as nb

from attriguard.kernels.rows import ABSENT, SAME
from attriguard.kernels.types import ROWS, const, out


@njit(nogil=True)
def _place(indices: Any, low: int, high: int, column: int) -> int:
    """The first place from `low` to `high` whose index is not below the column; sorted indices."""
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low


@njit(
    nb.void(
        const(nb.int64, 1), const(nb.int32, 1), const(nb.int32, 1), const(nb.int64, 1), const(nb.int64, 1),
        nb.int64, nb.int64, out(nb.int32, 1), out(nb.boolean, 1),
    ),
    cache=True,
    nogil=True,
)  # fmt: skip
def find_entries(
    indptr: Any, indices: Any, values: Any, rows: Any, columns: Any, start: int, stop: int, found: Any, met: Any,
) -> None:  # fmt: skip
    """The value of each wanted entry, `ABSENT` where there is none, and which entries were met; sorted indices."""
    behind = 0
    for w in range(start, stop):
        low, end = indptr[rows[w]], indptr[rows[w] + 1]
        high = end
        if low < behind < end and indices[behind - 1] < columns[w]:
            low = behind  # wanted entries mostly come in the order of the matrix
            if indices[low] == columns[w]:
                high = low
        low = _place(indices, low, high, columns[w])
        found[w] = ABSENT
        if low < end and indices[low] == columns[w]:
            found[w] = values[low]
            met[low] = True
            behind = low + 1


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
    nb.void(
        *ROWS, const(nb.int64, 1), *ROWS, nb.int64,
        nb.int64, nb.int64, out(nb.int32, 1), out(nb.int32, 1), out(nb.boolean, 1),
    ),
    cache=True,
    nogil=True,
)  # fmt: skip
def compare_rows(
    old_indptr: Any, old_indices: Any, old_data: Any, column: Any, indptr: Any, indices: Any, data: Any, levels: int,
    start: int, stop: int, became: Any, found: Any, new: Any,
) -> None:  # fmt: skip
    """What became of each old entry: `SAME`, or its new level, 0 if it went; the levels of all entries, the new ones.

    Both matrices have sorted indices; `column` says which column of the matrix an old one has become. An old entry
    whose column is -1 stays.
    """
    for u in range(start, stop):
        first, end = indptr[u], indptr[u + 1]
        for e in range(first, end):
            found[e] = np.int32(np.rint(np.float64(data[e]) * levels))
            new[e] = True
        at = first
        for e in range(old_indptr[u], old_indptr[u + 1]):
            wanted = column[old_indices[e]]
            became[e] = SAME
            if wanted < 0:
                continue
            if at == end or indices[at] != wanted:  # mostly the next one
                at = _place(indices, first, end, wanted)
            if at == end or indices[at] != wanted:
                became[e] = 0
                continue
            new[at] = False
            if found[at] != np.int32(np.rint(np.float64(old_data[e]) * levels)):
                became[e] = found[at]
            at += 1


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


@njit(
    nb.void(
        const(nb.uint64, 1), const(nb.int32, 1), const(nb.int32, 1), const(nb.int64, 1), const(nb.int64, 1),
        nb.int64, nb.int64, out(nb.uint64, 1),
    ),
    cache=True,
    nogil=True,
)  # fmt: skip
def sum_ranges(factor: Any, index: Any, number: Any, first: Any, end: Any, start: int, stop: int, sums: Any) -> None:
    """For each range the sum of its numbers, each times the factor of its index; 64 bits, which go round."""
    for w in range(start, stop):
        total = np.uint64(0)
        for e in range(first[w], end[w]):
            total += factor[index[e]] * np.uint64(number[e])
        sums[w] = total
