"""Papernot's saliency map: the most salient entry, and the most salient pair without looking at all pairs.

With a_j = ∂F_i/∂x_j and c_j = −Σ_{k≠i} ∂F_k/∂x_j, a pair (p, q) is worth (a_p + a_q)(c_p + c_q) where both sums are
positive. That grows with both sums. So if two other items are at least as good as p in a and in c, p is in no pair that
is better than all others: one of the two is not q, and can stand in for p. An item beyond the first two Pareto layers
is dominated by one of the second layer, and that one by one of the first: only these two layers matter. Before they are
sorted out, most items fall to a bound: (a_p + max a)(c_p + max c) is less than some pair's worth.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
# Items of the largest a, c and a·c that are tried for a first pair.
FIRST = 8
# Pairs that are looked at together.
PAIRS_AT_ONCE = 2**20


def best_items(a: Floats, c: Floats, free: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(rows, 1): each row's most salient free item, the first in a tie; -1 where none has any saliency."""
    worth = np.where(free & (a > 0) & (c > 0), a * c, 0.0)
    items = worth.argmax(axis=1)
    return np.where(worth[np.arange(items.size), items] > 0, items, -1)[:, None]


def best_pairs(a: Floats, c: Floats, free: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(rows, 2): each row's most salient pair of free items; -1, -1 where none has any saliency."""
    result = np.full((a.shape[0], 2), -1, dtype=np.int64)
    for row in range(a.shape[0]):
        items = np.flatnonzero(free[row])
        pair = best_pair(a[row, items], c[row, items])
        if pair is not None:
            result[row] = items[list(pair)]
    return result


def best_pair(a: Floats, c: Floats) -> tuple[int, int] | None:
    """The pair p < q that is worth most, the first one in a tie; None where no pair has both sums positive."""
    if a.size < 2:
        return None
    high, wide = a + a.max(), c + c.max()
    bound = np.where((high > 0) & (wide > 0), high * wide, 0.0)
    size = min(FIRST, a.size)
    tried = np.unique(np.concatenate([np.argpartition(-x, size - 1)[:size] for x in (a, c, bound)]))
    least, _, _ = _among(a, c, tried)
    left = np.flatnonzero((bound >= least) & (bound > 0))
    worth, p, q = _among(a, c, np.sort(_two_layers(a, c, left)))
    return (p, q) if worth > 0 else None


def _two_layers(a: Floats, c: Floats, items: NDArray[np.int64]) -> NDArray[np.int64]:
    """Items that no other one dominates, and those that only such items dominate."""
    # Sorted by falling a, then falling c, then index, so that items that dominate another one stand before it.
    items = items[np.lexsort((items, -c[items], -a[items]))]
    first = _undominated(c[items])
    rest = items[~first]
    return np.concatenate([items[first], rest[_undominated(c[rest])]])


def _undominated(c: Floats) -> NDArray[np.bool_]:
    result = np.ones(c.size, dtype=np.bool_)
    result[1:] = c[1:] > np.maximum.accumulate(c)[:-1]
    return result


def _among(a: Floats, c: Floats, items: NDArray[np.int64]) -> tuple[float, int, int]:
    """The best of all pairs of these items (in rising order): its worth, and the two; worth 0 where there is none."""
    best, p, q = 0.0, -1, -1
    rows = max(1, PAIRS_AT_ONCE // max(1, items.size))
    for start in range(0, items.size, rows):
        these = items[start : start + rows]
        high, wide = a[these][:, None] + a[items], c[these][:, None] + c[items]
        worth = np.where((high > 0) & (wide > 0) & (these[:, None] < items), high * wide, 0.0)
        at = int(worth.argmax())
        if worth.flat[at] > best:
            best, p, q = float(worth.flat[at]), int(these[at // items.size]), int(items[at % items.size])
    return best, p, q


def ranked_items(own: Floats, rest: Floats) -> NDArray[np.int64]:
    """(values, items + 1): for every value its items by falling saliency, the first index first in a tie, then -1."""
    worth = np.where((own > 0) & (rest < 0), -own * rest, 0.0)
    order = np.argsort(-worth, axis=1, kind="stable")
    order[np.take_along_axis(worth, order, axis=1) <= 0] = -1
    return np.pad(order, ((0, 0), (0, 1)), constant_values=-1)
