"""Twins of the kernels that look up entries: a dictionary of all of them."""

from __future__ import annotations

from typing import Any

from attriguard.kernels.reference.arrays import Ints


def find_levels(
    indptr: Ints, indices: Ints, data: Any, rows: Ints, columns: Ints, levels: int,
    start: int, stop: int, found: Ints, met: Any,
) -> None:  # fmt: skip
    """The level of each wanted entry, 0 where there is none, and which entries were met."""
    known = {
        (u, int(indices[place])): place for u in range(indptr.size - 1) for place in range(indptr[u], indptr[u + 1])
    }
    for w in range(start, stop):
        place = known.get((int(rows[w]), int(columns[w])))
        found[w] = 0 if place is None else round(float(data[place]) * levels)
        if place is not None:
            met[place] = True


def mark_new(
    indptr: Ints, indices: Ints, old_indptr: Ints, old_indices: Ints, start: int, stop: int, new: Any
) -> None:  # fmt: skip
    """Which entries of rows ``start`` to ``stop`` the old matrix does not have."""
    for u in range(start, stop):
        had = set(old_indices[old_indptr[u] : old_indptr[u + 1]].tolist())
        for e in range(indptr[u], indptr[u + 1]):
            new[e] = int(indices[e]) not in had
