"""Phase I on a linear classifier: which item gains most when it is added, without a look at all items.

For every value i some items are listed, those first that raise C_i most against any one other value. Beside each
place stands, for every rival k, the most that any item from there on gains for C_i − C_k. What an item gains for a
mixture of rivals is the mixture of these gains. So no item from a place on gains more than the mixture of what stands
there, and the search ends where that is less than the best so far: mostly after a few items. Against one rival the
answer is mostly known beforehand: the few items that gain most for each pair of values are kept, best first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.core import types as nb

from attriguard.kernels.types import const, out

# What stands in the `blocked` work array: the item is one of the user's own, locked, or changed already.
FREE, OWN, TOUCHED = 0, 1, 2
# Instead of a rival: the value's own decision function alone, or all rivals, mixed.
ALONE, MIXED = -1, -2
# A bound counts as less than a gain where it is so by more than rounding.
SURELY = 1.0 - 1e-9


@njit(cache=True, nogil=True, inline="always")
def _limit(i: int, at: int, mix: Any, bounds: Any) -> float:
    """Σ mix_v · bounds_v: what items from this place on gain at most."""
    m, total = mix.shape[0], 0.0
    for v in range(0, m - 3, 4):  # four at a time, since each sum must wait for the one before
        low = mix[v] * bounds[i, at, v] + mix[v + 1] * bounds[i, at, v + 1]
        total += low + (mix[v + 2] * bounds[i, at, v + 2] + mix[v + 3] * bounds[i, at, v + 3])
    for v in range(m - m % 4, m):
        total += mix[v] * bounds[i, at, v]
    return total


@njit(cache=True, nogil=True, inline="always")
def _slope(i: int, k: int, mix: Any, W: Any, j: int) -> float:
    """How item j raises C_i, C_i − C_k, or Σ mix_v (C_i − C_v)."""
    if k == ALONE:
        return float(W[j, i])
    if k != MIXED:
        return float(W[j, i] - W[j, k])
    m, own, total = mix.shape[0], W[j, i], 0.0
    for v in range(0, m - 3, 4):
        low = mix[v] * (own - W[j, v]) + mix[v + 1] * (own - W[j, v + 1])
        total += low + (mix[v + 2] * (own - W[j, v + 2]) + mix[v + 3] * (own - W[j, v + 3]))
    for v in range(m - m % 4, m):
        total += mix[v] * (own - W[j, v])
    return total


@njit(cache=True, nogil=True, inline="always")
def _best_of_all(i: int, k: int, mix: Any, W: Any, upper: Any, blocked: Any) -> int:
    """The free item that gains most, the first one in a tie; -1 where none is free."""
    best, most = -1, -np.inf
    for item in range(W.shape[0]):
        if blocked[item] == FREE and upper[item] > 0.0:
            gain = upper[item] * _slope(i, k, mix, W, item)
            if gain > most:
                best, most = item, gain
    return best


@njit(cache=True, nogil=True, inline="always")
def _next_of_list(i: int, W: Any, upper: Any, blocked: Any, ranked: Any, whole: bool, at: int) -> tuple[int, int]:
    """For C_i alone: the first free item of a list sorted by just that, from `at` on."""
    while at < ranked.shape[1]:
        if blocked[ranked[i, at]] == FREE:
            return ranked[i, at], at
        at += 1
    return -1 if whole else _best_of_all(i, ALONE, upper, W, upper, blocked), at


@njit(cache=True, nogil=True, inline="always")
def _best_of_list(
    i: int, k: int, mix: Any, W: Any, upper: Any, blocked: Any, heads: Any, ranked: Any, bounds: Any, whole: bool
) -> int:
    """Against one rival or all of them: the free item that gains most, the first in a tie; -1 where none gains."""
    for place in range(heads.shape[2] if k != MIXED else 0):
        item = heads[i, k, place]
        if item < 0:
            break
        if blocked[item] == FREE:
            return int(item)
    best, most = -1, 0.0
    for at in range(ranked.shape[1] + 1):
        limit = _limit(i, at, mix, bounds) if k == MIXED else bounds[i, at, k]
        if limit <= 0.0 or limit < most * SURELY:
            return best
        if at == ranked.shape[1]:
            break
        item = ranked[i, at]
        if blocked[item] == FREE:
            gain = upper[item] * _slope(i, k, mix, W, item)
            if gain > most or (gain == most and item < best):
                best, most = item, gain
    return best if whole else _best_of_all(i, k, mix, W, upper, blocked)


@njit(
    nb.void(const(nb.float64, 2), const(nb.float64, 1), const(nb.int32, 2), out(nb.float64, 3), nb.int64, nb.int64),
    cache=True,
    nogil=True,
)
def bound_gains(W: Any, upper: Any, ranked: Any, bounds: Any, start: int, stop: int) -> None:
    """For values `start` to `stop`: the most that an item from each place on gains against each rival; 0 if none gains.

    The place behind the last one stands for all items that are not in the list.
    """
    n_items, m = W.shape
    depth = ranked.shape[1]
    listed = np.zeros(n_items, np.bool_)
    for i in range(start, stop):
        for at in range(depth):
            listed[ranked[i, at]] = True
        most = bounds[i, depth]
        most[:] = 0.0
        for item in range(n_items):
            if upper[item] > 0.0 and not listed[item]:
                weights, scale = W[item], upper[item]
                own = weights[i]
                for v in range(m):
                    most[v] = max(most[v], scale * (own - weights[v]))
        for at in range(depth - 1, -1, -1):
            item = ranked[i, at]
            listed[item] = False
            for v in range(m):
                bounds[i, at, v] = max(bounds[i, at + 1, v], upper[item] * (W[item, i] - W[item, v]))
