"""Twins of the kernels that look up entries: a dictionary of all of them."""

from __future__ import annotations

from typing import Any

from attriguard.kernels.reference.arrays import Ints


def find_entries(
    indptr: Ints, indices: Ints, values: Ints, rows: Ints, columns: Ints, start: int, stop: int, found: Ints, met: Any,
) -> None:  # fmt: skip
    """The value of each wanted entry, -2 where there is none, and which entries were met."""
    known = {
        (u, int(indices[place])): place for u in range(indptr.size - 1) for place in range(indptr[u], indptr[u + 1])
    }
    for w in range(start, stop):
        place = known.get((int(rows[w]), int(columns[w])))
        found[w] = -2 if place is None else values[place]
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
    levels: int, start: int, stop: int, became: Ints, found: Ints, new: Any,
) -> None:  # fmt: skip
    """What became of each old entry, -1 for one that stayed; the levels of all entries, and which are new."""
    for u in range(start, stop):
        after = {int(indices[e]): round(float(data[e]) * levels) for e in range(indptr[u], indptr[u + 1])}
        had = set()
        for e in range(old_indptr[u], old_indptr[u + 1]):
            item, level = int(column[old_indices[e]]), round(float(old_data[e]) * levels)
            now = level if item < 0 else after.get(item, 0)
            stayed = now == level and (item < 0 or item in after)
            became[e] = -1 if stayed else now
            had.add(item)
        for e in range(indptr[u], indptr[u + 1]):
            found[e], new[e] = after[int(indices[e])], int(indices[e]) not in had


def find_rising(among: Ints, keys: Ints, start: int, stop: int, places: Ints) -> None:
    """The place of each key among others, -1 where it is not there."""
    known = {int(each): place for place, each in enumerate(among)}
    for w in range(start, stop):
        places[w] = known.get(int(keys[w]), -1)


def sum_ranges(
    factor: Any, index: Ints, number: Ints, first: Ints, end: Ints, start: int, stop: int, sums: Any
) -> None:  # fmt: skip
    """For each range the sum of its numbers, each times the factor of its index, modulo 2 to the 64."""
    for w in range(start, stop):
        sums[w] = sum(int(factor[index[e]]) * int(number[e]) for e in range(first[w], end[w])) % 2**64
