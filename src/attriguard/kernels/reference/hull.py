"""Twin of the hull: the lowest slope that leads from each corner to a later point, tried for all of them."""

from __future__ import annotations

import numpy as np

from attriguard.kernels.reference.arrays import Floats, Ints


def hull_gains(leakage: Floats, found: Ints, start: int, stop: int, gains: Floats) -> None:
    """The gains of users ``start`` to ``stop``, from corner to corner of the lower convex hull."""
    for u in range(start, stop):
        gains[u] = 0.0
        k, told = 0, leakage[u].astype(np.float64)
        while k < found[u]:
            later = np.arange(k + 1, int(found[u]) + 1)
            slopes = (told[k] - told[later]) / (later - k)
            corner = int(later[slopes >= slopes.max() - 1e-12].max())
            gains[u, k:corner] = (told[k] - told[corner]) / (corner - k)
            k = corner
