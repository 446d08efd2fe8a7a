"""One step of Adam (Kingma and Ba), fused: one pass over the memory instead of ten."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.core import types as nb

from attriguard.kernels.types import const, out

# Adam's own constants, as published.
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


@njit(
    nb.void(
        const(nb.float32, 1), nb.float64, nb.float64, nb.int64,
        out(nb.float32, 1), out(nb.float32, 1), out(nb.float32, 1), nb.int64, nb.int64,
    ),
    cache=True,
    nogil=True,
)  # fmt: skip
def adam_step(
    gradient: Any, rate: float, decay: float, steps: int, weights: Any, first: Any, second: Any, start: int, stop: int
) -> None:
    """Step number `steps` (from 1) on entries `start` to `stop`; adds `decay` · weights to the gradient."""
    fast, slow = np.float32(1.0 - BETA1), np.float32(1.0 - BETA2)
    pace = np.float32(rate / (1.0 - BETA1**steps))
    root = np.float32((1.0 - BETA2**steps) ** -0.5)
    shrink, tiny = np.float32(decay), np.float32(EPSILON)
    for k in range(start, stop):
        g = gradient[k] + shrink * weights[k]
        first[k] += fast * (g - first[k])
        second[k] += slow * (g * g - second[k])
        weights[k] -= pace * first[k] / (np.sqrt(second[k]) * root + tiny)
