"""Twins of the kernels that put edits into rows: a row is a dictionary, an edit sets one of its entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from attriguard.kernels.reference.arrays import Floats, Ints, entries


def apply_edits(row: dict[int, Any], edits: dict[int, Any]) -> dict[int, Any]:
    """One user's row with one pair's edits, in the order of the items, without zeros."""
    merged = row | edits
    return {item: merged[item] for item in sorted(merged) if merged[item] != 0}


def l2_cost(row: dict[int, Any], edits: dict[int, Any]) -> float:
    """How far one pair's edits move a user's row: the Euclidean norm of the difference."""
    return float(np.linalg.norm([float(value) - float(row.get(item, 0.0)) for item, value in edits.items()]))


def merged_lengths(
    indptr: Ints, indices: Ints, data: Floats,
    edit_indptr: Ints, edit_items: Ints, edit_values: Floats,
    pair: Ints, start: int, stop: int, lengths: Ints,
) -> None:  # fmt: skip
    """Count the entries of every merged row."""
    for u in range(start, stop):
        edits = entries(edit_indptr, edit_items, edit_values, pair[u])
        lengths[u] = len(apply_edits(entries(indptr, indices, data, u), edits))


def merge_rows(
    indptr: Ints, indices: Ints, data: Floats,
    edit_indptr: Ints, edit_items: Ints, edit_values: Floats,
    pair: Ints, start: int, stop: int,
    out_indptr: Ints, out_indices: Ints, out_data: Floats,
) -> None:  # fmt: skip
    """Write every merged row to its place in the new matrix."""
    for u in range(start, stop):
        edits = entries(edit_indptr, edit_items, edit_values, pair[u])
        merged = apply_edits(entries(indptr, indices, data, u), edits)
        span = slice(int(out_indptr[u]), int(out_indptr[u]) + len(merged))
        out_indices[span], out_data[span] = list(merged), list(merged.values())


def l2_costs(
    indptr: Ints, indices: Ints, data: Floats,
    edit_indptr: Ints, edit_items: Ints, edit_values: Floats,
    m: int, start: int, stop: int, cost: Floats,
) -> None:  # fmt: skip
    """Fill the costs of all pairs of users ``start`` to ``stop``."""
    for u in range(start, stop):
        for i in range(m):
            edits = entries(edit_indptr, edit_items, edit_values, u * m + i)
            cost[u, i] = l2_cost(entries(indptr, indices, data, u), edits)
