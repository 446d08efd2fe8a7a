"""What the scores C_1 … C_m of one user say: a value's closest rival, whether it is inferred, how likely each is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, inline="always")
def _highest(values: Any, n: int) -> float:
    """The highest of the first n values, -inf if there is none."""
    # Four maxima side by side, since each comparison of one must wait for the one before.
    a, b, c, d = -np.inf, -np.inf, -np.inf, -np.inf
    for k in range(0, n - 3, 4):
        a = values[k] if values[k] > a else a
        b = values[k + 1] if values[k + 1] > b else b
        c = values[k + 2] if values[k + 2] > c else c
        d = values[k + 3] if values[k + 3] > d else d
    for k in range(n - n % 4, n):
        a = values[k] if values[k] > a else a
    return max(max(a, b), max(c, d))


@njit(cache=True, nogil=True, inline="always")
def _rival(scores: Any, i: int) -> int:
    """The value that leads C_i or follows it closest: arg max over k ≠ i, first index in a tie."""
    m, own = scores.shape[0], scores[i]
    scores[i] = -np.inf
    high = _highest(scores, m)
    scores[i] = own
    best = 0
    while best < m - 1 and (best == i or scores[best] != high):
        best += 1
    return best


@njit(cache=True, nogil=True, inline="always")
def _reached(scores: Any, i: int, k: int, kappa: float) -> bool:
    """Does C infer i, with a lead of at least kappa? arg max takes the first index in a tie."""
    lead = scores[i] - scores[k]
    if kappa > 0.0:
        return bool(lead >= kappa)
    return bool(lead > 0.0 or (lead == 0.0 and i < k))


@njit(cache=True, nogil=True, inline="always")
def _shares(scores: Any, sharpness: float, shares: Any) -> None:
    """How much each value counts: the softmax of the scores, sharpened."""
    m, total = scores.shape[0], 0.0
    top = _highest(scores, m)
    for v in range(m):
        shares[v] = math.exp(sharpness * (scores[v] - top))
        total += shares[v]
    for v in range(m):
        shares[v] /= total
