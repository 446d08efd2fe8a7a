"""The first layer of a network on sparse rows: a weighted embedding bag, compiled.

A user's pre-activations are the sum of the weight rows of the items the user has; a batch's gradient touches no other
rows. Both kernels work on a range of hidden units, so that threads share nothing; the order of every sum is fixed, so
the result is the same for any number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.core import types as nb

from attriguard.kernels.types import ROWS, const, out

# Hidden units worked on at a time: a batch's pieces of this width stay in the second-level cache. The loops run over
# slices from 0 on: an index that might be negative would keep the compiler from using vector instructions.
TILE = 1024


@njit(
    [
        nb.void(*ROWS, const(weight, 2), const(weight, 1), out(result, 2), nb.int64, nb.int64)
        for weight, result in ((nb.float32, nb.float32), (nb.float32, nb.float64), (nb.float64, nb.float64))
    ],
    cache=True,
    nogil=True,
)
def bag_forward(
    indptr: Any, indices: Any, data: Any, W: Any, b: Any, pre: Any, start: int, stop: int
) -> None:  # fmt: skip
    """pre[u] = b + Σ_j x_uj W[j], for units `start` to `stop`."""
    for low in range(start, stop, TILE):
        high = min(low + TILE, stop)
        for u in range(pre.shape[0]):
            row = pre[u, low:high]
            bias = b[low:high]
            for h in range(row.shape[0]):
                row[h] = bias[h]
            for e in range(indptr[u], indptr[u + 1]):
                x, weights = data[e], W[indices[e], low:high]
                for h in range(row.shape[0]):
                    row[h] += x * weights[h]


@njit(
    nb.void(
        *ROWS, const(nb.float32, 2), const(nb.float32, 1), const(nb.uint16, 2), nb.float64, nb.float64,
        out(nb.float32, 2), nb.int64, nb.int64,
    ),
    cache=True,
    nogil=True,
)  # fmt: skip
def batch_forward(
    indptr: Any, indices: Any, data: Any, W: Any, b: Any, dice: Any, limit: float, scale: float,
    active: Any, start: int, stop: int,
) -> None:  # fmt: skip
    """The outputs of units `start` to `stop` on a batch: relu(x W + b) · `scale`, or 0 where the dice reach `limit`."""
    factor, zero, most = np.float32(scale), np.float32(0.0), np.uint16(limit)
    for low in range(start, stop, TILE):
        high = min(low + TILE, stop)
        for u in range(active.shape[0]):
            row, thrown = active[u, low:high], dice[u, low:high]
            bias = b[low:high]
            for h in range(row.shape[0]):
                row[h] = bias[h]
            for e in range(indptr[u], indptr[u + 1]):
                x, weights = data[e], W[indices[e], low:high]
                for h in range(row.shape[0]):
                    row[h] += x * weights[h]
            for h in range(row.shape[0]):
                row[h] = row[h] * factor if (row[h] > zero) & (thrown[h] < most) else zero


@njit(
    nb.void(
        *ROWS, const(nb.float32, 2), const(nb.float32, 2), nb.float64, nb.float64,
        out(nb.float32, 2), out(nb.float32, 1), out(nb.float32, 2), nb.int64, nb.int64,
    ),
    cache=True,
    nogil=True,
)  # fmt: skip
def batch_update(
    indptr: Any, indices: Any, data: Any, active: Any, error: Any, rate: float, scale: float,
    W1: Any, b1: Any, W2: Any, start: int, stop: int,
) -> None:  # fmt: skip
    """One step of SGD, in place, on all weights of units `start` to `stop`; `error` is ∂loss/∂output (users × m).

    `active` is 0 where a unit is off or left out by the dice, and no gradient flows back through it.
    """
    step, factor, zero = np.float32(rate), np.float32(scale), np.float32(0.0)
    n, m = error.shape
    back = np.empty((n, min(TILE, stop - start)), np.float32)
    for low in range(start, stop, TILE):
        high = min(low + TILE, stop)
        bias, outputs = b1[low:high], W2[low:high]
        for u in range(n):
            own, on, slope = back[u], active[u, low:high], error[u]
            for h in range(on.shape[0]):
                flow = zero
                if on[h] > zero:
                    for v in range(m):
                        flow += slope[v] * outputs[h, v]
                own[h] = flow * factor
        for u in range(n):
            own, on, slope = back[u], active[u, low:high], error[u]
            for h in range(on.shape[0]):
                if on[h] > zero:
                    for v in range(m):
                        outputs[h, v] -= step * on[h] * slope[v]
            for h in range(on.shape[0]):
                bias[h] -= step * own[h]
        for u in range(n):
            own = back[u, : high - low]
            for e in range(indptr[u], indptr[u + 1]):
                x, weights = step * data[e], W1[indices[e], low:high]
                for h in range(own.shape[0]):
                    weights[h] -= x * own[h]
