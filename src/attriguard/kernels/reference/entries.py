"""Twins of the kernels that look up entries: a dictionary of all of them."""

from __future__ import annotations

from typing import Any

from attriguard.kernels.reference.arrays import Ints


def find_places(
    indptr: Ints, indices: Ints, rows: Ints, columns: Ints, start: int, stop: int, places: Ints
) -> None:  # fmt: skip
    """The place of each wanted entry, -1 where there is none."""
    known = {
        (u, int(indices[place])): place for u in range(indptr.size - 1) for place in range(indptr[u], indptr[u + 1])
    }
    for w in range(start, stop):
        places[w] = known.get((int(rows[w]), int(columns[w])), -1)


def mark_new(
    indptr: Ints, indices: Ints, old_indptr: Ints, old_indices: Ints, start: int, stop: int, new: Any
) -> None:  # fmt: skip
    """Which entries of rows ``start`` to ``stop`` the old matrix does not have."""
    for u in range(start, stop):
        had = set(old_indices[old_indptr[u] : old_indptr[u + 1]].tolist())
        for e in range(indptr[u], indptr[u + 1]):
            new[e] = int(indices[e]) not in had


def find_rising(among: Ints, keys: Ints, start: int, stop: int, places: Ints) -> None:
    """The place of each key among others, -1 where it is not there."""
    known = {int(each): place for place, each in enumerate(among)}
    for w in range(start, stop):
        places[w] = known.get(int(keys[w]), -1)
