"""Twins of the kernels on hidden units: plain NumPy on one pair or one unit at a time."""

from __future__ import annotations

import numpy as np

from attriguard.kernels.reference.arrays import Floats, Ints


def change_entries(
    pairs: Ints, items: Ints, change: Floats,
    W1: Floats, W2: Floats, b2: Floats,
    pre: Floats, scores: Floats, first: int, last: int,
) -> None:  # fmt: skip
    """Change one entry of pairs ``first`` to ``last`` of the list, and compute the second layer anew."""
    for p in pairs[first:last]:
        pre[p] += change[p] * W1[items[p]].astype(np.float64)
        scores[p] = b2 + np.maximum(pre[p], 0.0) @ W2.astype(np.float64)


def count_switched(pairs: Ints, pre: Floats, mask: Ints, ends: Ints) -> None:
    """Count the listed pairs in which a unit is on but the mask says off, or the other way round."""
    ends[0] = 0
    ends[1:] = ((pre[pairs] > 0) != (mask[pairs] != 0)).sum(axis=0)


def list_switched(
    pairs: Ints, mix: Floats, pre: Floats, W2: Floats, mask: Ints, at_unit: Ints, where: Ints, weight: Floats
) -> None:
    """List the switched pairs unit by unit: + its weight where the unit went on, - where it went off."""
    for h in range(W2.shape[0]):
        switched = pairs[(pre[pairs, h] > 0) != (mask[pairs, h] != 0)]
        span = slice(int(at_unit[h]), int(at_unit[h]) + switched.size)
        where[span] = switched
        weight[span] = np.where(pre[switched, h] > 0, 1.0, -1.0) * (mix[switched].astype(np.float64) @ W2[h])
        mask[switched, h] = pre[switched, h] > 0
        at_unit[h] = span.stop


def add_units(ends: Ints, where: Ints, weight: Floats, units: Floats, gradient: Floats, start: int, stop: int) -> None:
    """Add every unit's row, weighted, to the gradients of the pairs in its list; only items ``start`` to ``stop``."""
    for h in range(units.shape[0]):
        for e in range(ends[h], ends[h + 1]):
            gradient[where[e], start:stop] += weight[e] * units[h, start:stop]
