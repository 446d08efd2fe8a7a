"""Twin of the training of a small network: dense rows of a batch, in double precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attriguard.kernels.adam import BETA1, BETA2, EPSILON
from attriguard.kernels.reference.arrays import Floats, Ints, dense


def _adam(g: Floats, w: Floats, first: Floats, second: Floats, steps: int, rate: float, decay: float) -> None:
    slope = g + decay * w.astype(np.float64)
    first += (1 - BETA1) * (slope - first)
    second += (1 - BETA2) * (slope**2 - second)
    w -= rate / (1 - BETA1**steps) * first / (np.sqrt(second / (1 - BETA2**steps)) + EPSILON)


def _catch_up(
    rows: NDArray[np.intp], before: int, steps: int, rate: float, W1: Floats, F1: Floats, S1: Floats, last: Ints
) -> None:
    """Rows that waited until step ``before`` go where their first moment would have taken them."""
    waited = (before - last[rows])[:, None].astype(np.float64)
    way = rate / (1 - BETA1**steps) * sum_of_powers(waited)
    W1[rows] -= way * F1[rows] / (np.sqrt(S1[rows] / (1 - BETA2**steps)) + EPSILON)
    F1[rows] *= BETA1**waited
    S1[rows] *= BETA2**waited


def sum_of_powers(waited: NDArray[np.float64]) -> NDArray[np.float64]:
    """β + β² + … + β^waited."""
    most = int(waited.max(initial=0))
    powers = BETA1 ** np.arange(1, most + 1)
    return np.asarray(np.concatenate([[0.0], np.cumsum(powers)])[waited.astype(np.int64)])


def train_epoch(
    indptr: Ints, indices: Ints, data: Floats, codes: Ints, order: Ints, dice: Ints, limit: int, batch: int,
    rate: float, decay: float, steps: int, W1: Floats, b1: Floats, W2: Floats, b2: Floats,
    F1: Floats, f1: Floats, F2: Floats, f2: Floats, S1: Floats, s1: Floats, S2: Floats, s2: Floats,
    last: Ints, G1: Floats,
) -> int:  # fmt: skip
    """One pass over the users; only the rows of items that a batch has are moved."""
    X = dense(indptr, indices, data, W1.shape[0]).astype(np.float64)
    keep = limit / 256
    for start in range(0, order.size, batch):
        users = order[start : start + batch]
        steps += 1
        has = np.zeros(W1.shape[0], dtype=np.bool_)
        for u in users:
            has[indices[indptr[u] : indptr[u + 1]]] = True
        rows = np.flatnonzero(has)
        _catch_up(rows, steps - 1, steps, rate, W1, F1, S1, last)
        last[rows] = steps
        x = X[users]
        active = np.maximum(x @ W1.astype(np.float64) + b1, 0) * (dice[users] < limit) / keep
        scores = active @ W2.astype(np.float64) + b2
        error = np.exp(scores - scores.max(axis=1, keepdims=True))
        error /= error.sum(axis=1, keepdims=True)
        error[np.arange(users.size), codes[users]] -= 1
        error /= users.size
        back = (error @ W2.astype(np.float64).T) * (active > 0) / keep
        grown = x.T @ back
        # The second layer's gradient is that of the weights before the step.
        second, outputs = active.T @ error, error.sum(axis=0)
        part = (W1[rows], F1[rows], S1[rows])
        _adam(grown[rows], *part, steps, rate, decay)
        W1[rows], F1[rows], S1[rows] = part
        _adam(second, W2, F2, S2, steps, rate, decay)
        _adam(back.sum(axis=0), b1, f1, s1, steps, rate, decay)
        _adam(outputs, b2, f2, s2, steps, rate, decay)
    return steps


def finish_rows(steps: int, rate: float, W1: Floats, F1: Floats, S1: Floats, last: Ints) -> None:
    """Every row, brought up to date."""
    _catch_up(np.arange(W1.shape[0]), steps, steps, rate, W1, F1, S1, last)
    last[:] = steps
