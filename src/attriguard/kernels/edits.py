"""Edits put into CSR rows, and what they cost; compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.core import types as nb

from attriguard.kernels.types import ROWS, const, out


@njit(
    nb.void(*ROWS, *ROWS, const(nb.int64, 1), nb.int64, nb.int64, out(nb.int64, 1)),
    cache=True,
    nogil=True,
)
def merged_lengths(
    indptr: Any, indices: Any, data: Any, edit_indptr: Any, edit_items: Any, edit_values: Any,
    pair: Any, start: int, stop: int, lengths: Any,
) -> None:  # fmt: skip
    """The number of entries in each user's row after the edits of the user's chosen pair, whose number `pair` holds."""
    for u in range(start, stop):
        length = indptr[u + 1] - indptr[u]
        at = indptr[u]
        for e in range(edit_indptr[pair[u]], edit_indptr[pair[u] + 1]):
            while at < indptr[u + 1] and indices[at] < edit_items[e]:
                at += 1
            had = at < indptr[u + 1] and indices[at] == edit_items[e]
            if had and edit_values[e] == 0.0:
                length -= 1
            elif not had and edit_values[e] != 0.0:
                length += 1
        lengths[u] = length


@njit(
    nb.void(
        *ROWS, *ROWS, const(nb.int64, 1), nb.int64, nb.int64,
        const(nb.int64, 1), out(nb.int32, 1), out(nb.float32, 1),
    ),
    cache=True,
    nogil=True,
)  # fmt: skip
def merge_rows(
    indptr: Any, indices: Any, data: Any, edit_indptr: Any, edit_items: Any, edit_values: Any,
    pair: Any, start: int, stop: int, out_indptr: Any, out_indices: Any, out_data: Any,
) -> None:  # fmt: skip
    """Each user's row with the edits of the chosen pair, sorted, without zeros."""
    for u in range(start, stop):
        to = out_indptr[u]
        at, end = indptr[u], indptr[u + 1]
        for e in range(edit_indptr[pair[u]], edit_indptr[pair[u] + 1]):
            while at < end and indices[at] < edit_items[e]:
                out_indices[to], out_data[to] = indices[at], data[at]
                at += 1
                to += 1
            if at < end and indices[at] == edit_items[e]:
                at += 1
            if edit_values[e] != 0.0:
                out_indices[to], out_data[to] = edit_items[e], edit_values[e]
                to += 1
        while at < end:
            out_indices[to], out_data[to] = indices[at], data[at]
            at += 1
            to += 1


@njit(
    nb.void(*ROWS, *ROWS, nb.int64, nb.int64, nb.int64, out(nb.float64, 2)),
    cache=True,
    nogil=True,
)
def l2_costs(
    indptr: Any, indices: Any, data: Any, edit_indptr: Any, edit_items: Any, edit_values: Any,
    m: int, start: int, stop: int, cost: Any,
) -> None:  # fmt: skip
    """The L2 norm of the noise r_i of every value i; the pairs of user u are u·m to u·m + m − 1."""
    for u in range(start, stop):
        for i in range(m):
            at = indptr[u]
            total = 0.0
            for e in range(edit_indptr[u * m + i], edit_indptr[u * m + i + 1]):
                while at < indptr[u + 1] and indices[at] < edit_items[e]:
                    at += 1
                before = data[at] if at < indptr[u + 1] and indices[at] == edit_items[e] else np.float32(0.0)
                change = np.float64(edit_values[e]) - np.float64(before)
                total += change * change
            cost[u, i] = np.sqrt(total)
