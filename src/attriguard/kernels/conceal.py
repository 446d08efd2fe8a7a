"""The search of the goal "conceal": the changes that lower most what an ensemble infers from a user's ratings.

The leakage of a user's ratings is KL(mean posterior ‖ prior) in nats: how far the ensemble's posterior is from what it
would say without them. A changed entry moves every member's pre-activations by one row of the first layer; the layer
after it is small. The compiler may reorder the sums, but does so in the same way for every user, so the result does not
depend on the number of threads.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numba.core import types as nb

from attriguard.kernels.types import ROWS, const, out

FAST = {"contract", "reassoc", "nsz"}
# What an item is to a user: it may be added, it may be removed, or it stays as it is.
OTHER, OWN, FIXED = 0, 1, 2


@njit(cache=True, nogil=True, fastmath=FAST)
def _leakage(
    pre: Any, weights: Any, change: Any, ends: Any, outputs: Any, b2: Any, prior: Any,
    active: Any, scores: Any, mean: Any,
) -> Any:  # fmt: skip
    """KL(mean posterior ‖ prior) after one entry changed by `change`; `weights` is its row of the first layer."""
    zero, n, m = np.float32(0.0), ends.shape[0] - 1, b2.shape[1]
    mean[:] = zero
    for c in range(n):
        low, high = ends[c], ends[c + 1]
        before, row, on = pre[low:high], weights[low:high], active[: high - low]
        for h in range(on.shape[0]):
            z = before[h] + change * row[h]
            on[h] = z if z > zero else zero
        top = np.float32(-np.inf)
        for v in range(m):
            output, total = outputs[v, low:high], zero
            for h in range(on.shape[0]):
                total += on[h] * output[h]
            scores[v] = total + b2[c, v]
            top = max(top, scores[v])
        total = zero
        for v in range(m):
            scores[v] = math.exp(scores[v] - top)
            total += scores[v]
        for v in range(m):
            mean[v] += scores[v] / total
    leakage = zero
    for v in range(m):
        p = mean[v] / np.float32(n)
        if p > zero:
            leakage += p * math.log(p / prior[v])
    return leakage


@njit(
    nb.void(
        *ROWS, const(nb.uint8, 1), const(nb.int32, 1), const(nb.float32, 1), const(nb.int64, 1), const(nb.int32, 1),
        const(nb.float32, 2), const(nb.float32, 1), const(nb.int64, 1), const(nb.float32, 2), const(nb.float32, 2),
        const(nb.float32, 2), nb.float64, nb.int64, nb.int64,
        out(nb.int64, 1), out(nb.int32, 2), out(nb.float32, 2), out(nb.float32, 2),
    ),
    cache=True,
    nogil=True,
)  # fmt: skip
def conceal_rows(
    indptr: Any, indices: Any, data: Any, free: Any, pool: Any, entry: Any, locked_indptr: Any, locked: Any,
    W1: Any, b1: Any, ends: Any, outputs: Any, b2: Any, priors: Any,
    enough: float, start: int, stop: int, found: Any, items: Any, values: Any, leakage: Any,
) -> None:  # fmt: skip
    """For users `start` to `stop`: one change after another, each the one with the least leakage after it.

    A change removes one of the user's ratings that is `free`, or adds an item of the `pool` with its value in `entry`,
    if the user has not rated it and it is not `locked`. `priors` has one row, or a row for every user. Of equally good
    changes the first is taken. A user whose leakage is at most `enough` gets no more. `found` counts a user's changes,
    `items` and `values` list them in order, `leakage` holds the leakage before the first change and after each; where a
    user has fewer changes, the last one is repeated.
    """
    hidden, m, most = b1.shape[0], b2.shape[1], items.shape[1]
    pre, active = np.empty(hidden, np.float32), np.empty(hidden, np.float32)
    scores, mean = np.empty(m, np.float32), np.empty(m, np.float32)
    state = np.zeros(W1.shape[0], np.uint8)
    for u in range(start, stop):
        first, last, prior = indptr[u], indptr[u + 1], priors[min(u, priors.shape[0] - 1)]
        for h in range(hidden):
            pre[h] = b1[h]
        for e in range(first, last):
            x, row = data[e], W1[indices[e]]
            state[indices[e]] = OWN if free[e] else FIXED
            for h in range(hidden):
                pre[h] += x * row[h]
        for e in range(locked_indptr[u], locked_indptr[u + 1]):
            state[locked[e]] = FIXED
        leakage[u, 0] = _leakage(pre, b1, np.float32(0.0), ends, outputs, b2, prior, active, scores, mean)
        found[u] = 0
        for k in range(most):
            if leakage[u, k] <= enough:
                break
            best, item, change = np.float32(np.inf), -1, np.float32(0.0)
            for e in range(first, last):
                j = indices[e]
                if state[j] == OWN:
                    after = _leakage(pre, W1[j], -data[e], ends, outputs, b2, prior, active, scores, mean)
                    if after < best:
                        best, item, change = after, j, -data[e]
            for p in range(pool.shape[0]):
                j = pool[p]
                if state[j] == OTHER:
                    after = _leakage(pre, W1[j], entry[p], ends, outputs, b2, prior, active, scores, mean)
                    if after < best:
                        best, item, change = after, j, entry[p]
            if item < 0:
                break
            state[item] = FIXED
            row = W1[item]
            for h in range(hidden):
                pre[h] += change * row[h]
            items[u, k], values[u, k], leakage[u, k + 1] = item, max(change, np.float32(0.0)), best
            found[u] = k + 1
        for k in range(found[u], most):
            leakage[u, k + 1] = leakage[u, k]
        for e in range(first, last):
            state[indices[e]] = OTHER
        for e in range(locked_indptr[u], locked_indptr[u + 1]):
            state[locked[e]] = OTHER
        for k in range(found[u]):
            state[items[u, k]] = OTHER
