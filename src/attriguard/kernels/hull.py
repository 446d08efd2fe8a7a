"""What each change gains, so that the best number of changes at any price can be read off.

The first k changes of a user leave leakage(k). At a price λ the k that minimises leakage(k) + λ k is a corner of the
lower convex hull of these points. The slopes of the hull never rise with k: they are the gains of the changes, averaged
over every run in which a later change gains more than an earlier one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.core import types as nb

from attriguard.kernels.types import const, out


@njit(
    nb.void(const(nb.float32, 2), const(nb.int64, 1), nb.int64, nb.int64, out(nb.float32, 2)),
    cache=True,
    nogil=True,
)
def hull_gains(leakage: Any, found: Any, start: int, stop: int, gains: Any) -> None:
    """For users `start` to `stop`: how much less leakage each change leaves, by the hull; 0 where there is no change.

    `leakage` has one column more than `gains`; `found` counts a user's changes.
    """
    most = gains.shape[1]
    slope, size = np.empty(most), np.empty(most, np.int64)
    for u in range(start, stop):
        runs = 0
        for k in range(found[u]):
            gain, length = np.float64(leakage[u, k]) - np.float64(leakage[u, k + 1]), 1
            while runs > 0 and slope[runs - 1] <= gain:
                runs -= 1
                gain = (gain * length + slope[runs] * size[runs]) / (length + size[runs])
                length += size[runs]
            slope[runs], size[runs] = gain, length
            runs += 1
        k = 0
        for r in range(runs):
            for _ in range(size[r]):
                gains[u, k] = slope[r]
                k += 1
        for rest in range(k, most):
            gains[u, rest] = np.float32(0.0)
