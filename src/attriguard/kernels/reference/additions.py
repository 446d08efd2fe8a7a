"""Twin of the kernel that says how much the items behind each place of a list can gain: every item is looked at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attriguard.kernels.reference.arrays import Ints


def bound_gains(
    W: NDArray[np.float64], upper: NDArray[np.float64], ranked: Ints, bounds: NDArray[np.float64], start: int, stop: int
) -> None:
    """The largest gain against every rival of the items from each place on, and of those that are not listed."""
    for i in range(start, stop):
        gains = upper[:, None] * (W[:, [i]] - W)
        gains[upper <= 0] = 0.0
        left = np.ones(upper.size, dtype=np.bool_)
        for at in range(ranked.shape[1] + 1):
            bounds[i, at] = np.max(gains[left], axis=0, initial=0.0)
            if at < ranked.shape[1]:
                left[ranked[i, at]] = False
