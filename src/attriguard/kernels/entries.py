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
