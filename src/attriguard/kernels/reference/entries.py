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


def compare_rows(
    old_indptr: Ints, old_indices: Ints, old_data: Any, column: Ints, indptr: Ints, indices: Ints, data: Any,
    levels: int, start: int, stop: int, counts: Ints, found: Ints, new: Any,
) -> None:  # fmt: skip
    """How many entries of each row stayed, changed and went; the levels of its entries, and which are new."""
    for u in range(start, stop):
        before = {
            int(column[old_indices[e]]): round(float(old_data[e]) * levels)
            for e in range(old_indptr[u], old_indptr[u + 1])
        }
        after = {int(indices[e]): round(float(data[e]) * levels) for e in range(indptr[u], indptr[u + 1])}
        same = sum(after.get(item) == level for item, level in before.items())
        gone = sum(item not in after for item in before)
        counts[u] = same, len(before) - same - gone, gone
        for e in range(indptr[u], indptr[u + 1]):
            found[e], new[e] = after[int(indices[e])], int(indices[e]) not in before


def find_rising(among: Ints, keys: Ints, start: int, stop: int, places: Ints) -> None:
    """The place of each key among others, -1 where it is not there."""
    known = {int(each): place for place, each in enumerate(among)}
    for w in range(start, stop):
        places[w] = known.get(int(keys[w]), -1)
