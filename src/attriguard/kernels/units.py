"""Phase I on a network with one hidden layer: the effect of one changed entry, compiled.

The pre-activations change by one row of the first layer (items × units). The gradient changes by the units that
switched on or off, each a row of the transposed layer (units × items).
"""

from __future__ import annotations

from typing import Any

from numba import njit
from numba.core import types as nb

from attriguard.kernels.types import const, out

# Hidden units that all pairs pass through before the next ones: their output weights stay in the cache.
UNIT_TILE = 512
# Items of the gradient worked on at a time: those of all pairs together stay in the second-level cache.
# The loops run over slices from 0 on: an index that might be negative would keep the compiler from vector instructions.
ITEM_TILE = 256

NUMBERS = (nb.float32, nb.float64)


@njit(
    [
        nb.void(
            const(nb.int64, 1), const(nb.int64, 1), const(nb.float64, 1),
            const(number, 2), const(number, 2), const(number, 1),
            out(nb.float64, 2), out(nb.float64, 2), nb.int64, nb.int64,
        )
        for number in NUMBERS
    ],
    cache=True,
    nogil=True,
)  # fmt: skip
def change_entries(
    pairs: Any, items: Any, change: Any, W1: Any, W2: Any, b2: Any, pre: Any, scores: Any, first: int, last: int
) -> None:
    """Change one entry in each of the pairs `first` to `last` of the list; update pre-activations and scores."""
    hidden, m = W2.shape
    for at in range(first, last):
        for v in range(m):
            scores[pairs[at], v] = b2[v]
    for low in range(0, hidden, UNIT_TILE):
        high = min(low + UNIT_TILE, hidden)
        for at in range(first, last):
            p = pairs[at]
            row, weights, outputs = pre[p, low:high], W1[items[p], low:high], W2[low:high]
            delta, score = change[p], scores[p]
            for h in range(row.shape[0]):
                row[h] += delta * weights[h]
            for h in range(row.shape[0]):
                if row[h] > 0.0:
                    for v in range(m):
                        score[v] += row[h] * outputs[h, v]


@njit(
    nb.void(const(nb.int64, 1), const(nb.float64, 2), const(nb.uint8, 2), out(nb.int64, 1)),
    cache=True,
    nogil=True,
)
def count_switched(pairs: Any, pre: Any, mask: Any, ends: Any) -> None:
    """Count in ends[h + 1] the pairs in which unit h is on but the mask says off, or the reverse."""
    ends[:] = 0
    for at in range(pairs.shape[0]):
        row, was = pre[pairs[at]], mask[pairs[at]]
        for h in range(row.shape[0]):
            ends[h + 1] += (row[h] > 0.0) != (was[h] != 0)


@njit(
    [
        nb.void(
            const(nb.int64, 1), const(number, 2), const(nb.float64, 2), const(number, 2),
            out(nb.uint8, 2), out(nb.int64, 1), out(nb.int32, 1), out(number, 1),
        )
        for number in NUMBERS
    ],
    cache=True,
    nogil=True,
)  # fmt: skip
def list_switched(pairs: Any, mix: Any, pre: Any, W2: Any, mask: Any, at_unit: Any, where: Any, weight: Any) -> None:
    """List, unit by unit, the pairs in which the unit has switched and its weight in the gradient; update the mask.

    `mix` says how much each output counts in a pair's objective. The weight is negative where the unit went off.
    `at_unit` holds where each unit's list starts, and after the call where it ends.
    """
    m = mix.shape[1]
    for at in range(pairs.shape[0]):
        p = pairs[at]
        row, was, counts = pre[p], mask[p], mix[p]
        for h in range(row.shape[0]):
            on = row[h] > 0.0
            if on != (was[h] != 0):
                outputs, total = W2[h], 0.0
                for v in range(m):
                    total += counts[v] * outputs[v]
                where[at_unit[h]] = p
                weight[at_unit[h]] = total if on else -total
                at_unit[h] += 1
                was[h] = on


@njit(
    [
        nb.void(
            const(nb.int64, 1), const(nb.int32, 1), const(number, 1), const(number, 2), out(number, 2),
            nb.int64, nb.int64,
        )
        for number in NUMBERS
    ],
    cache=True,
    nogil=True,
)  # fmt: skip
def add_units(ends: Any, where: Any, weight: Any, units: Any, gradient: Any, start: int, stop: int) -> None:
    """gradient[p] += weight · units[h] for every entry of every unit's list, for items `start` to `stop`."""
    for low in range(start, stop, ITEM_TILE):
        high = min(low + ITEM_TILE, stop)
        for h in range(units.shape[0]):
            unit = units[h, low:high]
            for e in range(ends[h], ends[h + 1]):
                row, c = gradient[where[e], low:high], weight[e]
                for j in range(unit.shape[0]):
                    row[j] += c * unit[j]
