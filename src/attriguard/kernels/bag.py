"""The first layer of a network on sparse rows: a weighted embedding bag, compiled.

A user's pre-activations are the sum of the weight rows of the items the user has; a batch's gradient touches no other
rows. Both kernels work on a range of hidden units, so that threads share nothing; the order of every sum is fixed, so
the result is the same for any number of threads.
"""

from __future__ import annotations

from typing import Any

from numba import njit
from numba.core import types as nb

from attriguard.kernels.types import ROWS, const, out

# Hidden units worked on at a time: a batch's pieces of this width stay in the second-level cache.
TILE = 2048


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
            row = pre[u]
            for h in range(low, high):
                row[h] = b[h]
            for e in range(indptr[u], indptr[u + 1]):
                x, weights = data[e], W[indices[e]]
                for h in range(low, high):
                    row[h] += x * weights[h]


@njit(
    nb.void(*ROWS, const(nb.float32, 2), nb.float32, out(nb.float32, 2), nb.int64, nb.int64),
    cache=True,
    nogil=True,
)
def bag_update(
    indptr: Any, indices: Any, data: Any, D: Any, rate: float, W: Any, start: int, stop: int
) -> None:  # fmt: skip
    """One step of SGD in place: W[j] -= rate Σ_u x_uj D[u], for units `start` to `stop`; D is ∂loss/∂pre."""
    for low in range(start, stop, TILE):
        high = min(low + TILE, stop)
        for u in range(D.shape[0]):
            change = D[u]
            for e in range(indptr[u], indptr[u + 1]):
                x, weights = rate * data[e], W[indices[e]]
                for h in range(low, high):
                    weights[h] -= x * change[h]
