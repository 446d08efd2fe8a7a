"""An epoch of a small network on sparse rows, compiled: Adam that touches only the items of a batch.

A batch's gradient is 0 for the items that nobody in it has rated. Adam still moves their weights, as long as their
first moment lasts. Here such a row waits until its item comes again, and is then brought up to date at once: the
moments have decayed, and the weights have gone the way that the first moment would have taken them, with the second
moment taken as it was. One thread trains one network, so nothing is shared.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numba.core import types as nb

from attriguard.kernels.adam import BETA1, BETA2, EPSILON
from attriguard.kernels.types import ROWS, const, out

FAST = {"contract", "reassoc", "nsz"}
MATRIX, VECTOR = out(nb.float32, 2), out(nb.float32, 1)


@njit(cache=True, nogil=True, fastmath=FAST)
def _forward(
    indptr: Any, indices: Any, data: Any, users: Any, dice: Any, limit: int, W1: Any, b1: Any, active: Any
) -> None:  # fmt: skip
    """The outputs of the hidden units on a batch; a unit is left out where its die reaches `limit` (of 256)."""
    zero, factor = np.float32(0.0), np.float32(256.0 / limit)
    for k in range(users.shape[0]):
        u, row = users[k], active[k]
        row[:] = b1
        for e in range(indptr[u], indptr[u + 1]):
            x, weights = data[e], W1[indices[e]]
            for h in range(row.shape[0]):
                row[h] += x * weights[h]
        thrown = dice[u]
        for h in range(row.shape[0]):
            row[h] = row[h] * factor if (row[h] > zero) & (thrown[h] < limit) else zero


@njit(cache=True, nogil=True, fastmath=FAST)
def _errors(active: Any, users: Any, codes: Any, W2: Any, b2: Any, error: Any) -> None:
    """The softmax's outputs less the truth, divided by the batch's size: the gradient of the loss."""
    zero, n, m = np.float32(0.0), users.shape[0], b2.shape[0]
    for k in range(n):
        row, on = error[k], active[k]
        row[:] = b2
        for h in range(on.shape[0]):
            if on[h] > zero:
                for v in range(m):
                    row[v] += on[h] * W2[h, v]
        top, total = row[0], zero
        for v in range(m):
            top = max(top, row[v])
        for v in range(m):
            row[v] = math.exp(row[v] - top)
            total += row[v]
        for v in range(m):
            row[v] /= total * np.float32(n)
        row[codes[users[k]]] -= np.float32(1.0 / n)


@njit(cache=True, nogil=True, fastmath=FAST)
def _backward(active: Any, error: Any, W2: Any, limit: int, back: Any, G2: Any, g1: Any, g2: Any) -> None:
    """The gradients of the second layer and of both biases, and what flows back to the first layer."""
    zero, factor = np.float32(0.0), np.float32(256.0 / limit)
    G2[:], g1[:], g2[:] = zero, zero, zero
    for k in range(error.shape[0]):
        on, slope, own = active[k], error[k], back[k]
        for v in range(slope.shape[0]):
            g2[v] += slope[v]
        for h in range(on.shape[0]):
            own[h] = zero
            if on[h] > zero:
                flow, outputs, grown = zero, W2[h], G2[h]
                for v in range(slope.shape[0]):
                    flow += slope[v] * outputs[v]
                    grown[v] += on[h] * slope[v]
                own[h] = flow * factor
                g1[h] += own[h]


@njit(cache=True, nogil=True, fastmath=FAST)
def _adam(g: Any, w: Any, first: Any, second: Any, pace: Any, root: Any, decay: Any) -> None:
    """One step of Adam on a row of weights."""
    fast, slow, tiny = np.float32(1.0 - BETA1), np.float32(1.0 - BETA2), np.float32(EPSILON)
    for h in range(w.shape[0]):
        slope = g[h] + decay * w[h]
        first[h] += fast * (slope - first[h])
        second[h] += slow * (slope * slope - second[h])
        w[h] -= pace * first[h] / (np.sqrt(second[h]) * root + tiny)


@njit(cache=True, nogil=True, fastmath=FAST)
def _catch_up(
    left: Any, faded: Any, w: Any, first: Any, second: Any, pace: Any, root: Any
) -> None:  # fmt: skip
    """A row that waited goes where its first moment would have taken it; so much is `left` of it, and of the second."""
    tiny, way = np.float32(EPSILON), pace * np.float32(BETA1 / (1.0 - BETA1)) * (np.float32(1.0) - left)
    for h in range(w.shape[0]):
        w[h] -= way * first[h] / (np.sqrt(second[h]) * root + tiny)
        first[h] *= left
        second[h] *= faded


@njit(
    nb.int64(
        *ROWS, const(nb.int64, 1), const(nb.int64, 1), const(nb.uint8, 2), nb.int64, nb.int64, nb.float64, nb.float64,
        nb.int64, MATRIX, VECTOR, MATRIX, VECTOR, MATRIX, VECTOR, MATRIX, VECTOR, MATRIX, VECTOR, MATRIX, VECTOR,
        out(nb.int64, 1), MATRIX,
    ),
    cache=True,
    nogil=True,
)  # fmt: skip
def train_epoch(
    indptr: Any, indices: Any, data: Any, codes: Any, order: Any, dice: Any, limit: int, batch: int, rate: float,
    decay: float, steps: int, W1: Any, b1: Any, W2: Any, b2: Any, F1: Any, f1: Any, F2: Any, f2: Any,
    S1: Any, s1: Any, S2: Any, s2: Any, last: Any, G1: Any,
) -> int:  # fmt: skip
    """One pass over the users in this `order`, a step of Adam for every `batch` of them; gives the number of steps.

    F and S hold the first and second moments of the weights W and b. `last` is the step at which an item's row was
    last moved; `G1` holds zeros. The biases and the second layer are moved at every step.
    """
    hidden, m = W2.shape
    active, back = np.empty((batch, hidden), np.float32), np.empty((batch, hidden), np.float32)
    error, G2 = np.empty((batch, m), np.float32), np.empty((hidden, m), np.float32)
    g1, g2, touched = np.empty(hidden, np.float32), np.empty(m, np.float32), np.empty(W1.shape[0], np.int64)
    shrink = np.float32(decay)
    # What is left of the moments after so many steps.
    left = (BETA1 ** np.arange(steps + order.shape[0] // batch + 2)).astype(np.float32)
    faded = (BETA2 ** np.arange(left.shape[0])).astype(np.float32)
    for start in range(0, order.shape[0], batch):
        users = order[start : start + batch]
        n, count, steps = users.shape[0], 0, steps + 1
        pace, root = np.float32(rate / (1.0 - BETA1**steps)), np.float32((1.0 - BETA2**steps) ** -0.5)
        for k in range(n):
            for e in range(indptr[users[k]], indptr[users[k] + 1]):
                j = indices[e]
                if last[j] != steps:
                    touched[count] = j
                    count += 1
                    waited = steps - 1 - last[j]
                    if waited > 0:
                        _catch_up(left[waited], faded[waited], W1[j], F1[j], S1[j], pace, root)
                    last[j] = steps
        _forward(indptr, indices, data, users, dice, limit, W1, b1, active)
        _errors(active[:n], users, codes, W2, b2, error)
        _backward(active[:n], error[:n], W2, limit, back, G2, g1, g2)
        for k in range(n):
            for e in range(indptr[users[k]], indptr[users[k] + 1]):
                x, grown, own = data[e], G1[indices[e]], back[k]
                for h in range(hidden):
                    grown[h] += x * own[h]
        for t in range(count):
            j = touched[t]
            _adam(G1[j], W1[j], F1[j], S1[j], pace, root, shrink)
            G1[j, :] = np.float32(0.0)
        for h in range(hidden):
            _adam(G2[h], W2[h], F2[h], S2[h], pace, root, shrink)
        _adam(g1, b1, f1, s1, pace, root, shrink)
        _adam(g2, b2, f2, s2, pace, root, shrink)
    return steps


@njit(
    nb.void(nb.int64, nb.float64, MATRIX, MATRIX, MATRIX, out(nb.int64, 1)),
    cache=True,
    nogil=True,
)
def finish_rows(steps: int, rate: float, W1: Any, F1: Any, S1: Any, last: Any) -> None:
    """Bring every item's row up to date after the last step."""
    pace, root = np.float32(rate / (1.0 - BETA1**steps)), np.float32((1.0 - BETA2**steps) ** -0.5)
    for j in range(W1.shape[0]):
        waited = steps - last[j]
        left, faded = np.float32(BETA1**waited), np.float32(BETA2**waited)
        _catch_up(left, faded, W1[j], F1[j], S1[j], pace, root)
        last[j] = steps
