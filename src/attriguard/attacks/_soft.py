"""Training of NN-A's network beyond hard labels and sparse rows: soft labels, dense rows, rows that change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from attriguard._checks import check_rng
from attriguard.classifiers.maths import softmax
from attriguard.classifiers.network import UNITS_A_RANGE, NetworkClassifier
from attriguard.classifiers.weights import Weights, first_weights
from attriguard.errors import ParameterError
from attriguard.kernels.bag import batch_forward, batch_update
from attriguard.kernels.rows import rows_of
from attriguard.kernels.threads import over_users
from attriguard.progress import Progress

# Dropout compares a random whole number below this one with its rate times this one.
DICE = 2**16 - 1

Rows = Any  # a csr_array, or a dense float32 array
Refresh = Callable[[Weights, int], Rows]


def train_soft(
    network: NetworkClassifier,
    X: csr_array | NDArray[np.float32],
    truth: NDArray[np.float32],
    *,
    progress: Progress,
    temperature: float = 1.0,
    inputs: int | None = None,
    refresh: Refresh | None = None,
) -> NetworkClassifier:
    """Plain SGD as for NN-A, on a distribution (n, m) a user.

    The loss is temperature × cross-entropy of outputs / temperature, which keeps the outputs' gradients of order 1.
    ``inputs`` is how many inputs the first weights are for, where not for X's columns. ``refresh`` gives the rows of
    an epoch, from the weights before it and its number.
    """
    chance = check_rng(network.random_state)
    shape = X.shape[1], network.hidden, truth.shape[1]
    weights = first_weights(chance, *shape, initial=network.initial, inputs=inputs)
    step = _sparse_step if issparse(X) else _dense_step
    size = network.batch_size
    count = progress.counter(network.epochs * -(-X.shape[0] // size), "training")
    for epoch in range(1, network.epochs + 1):
        rows = X if refresh is None else refresh(weights, epoch)
        rate = network.rate(epoch - 1)
        order = network.order(np.arange(X.shape[0]), chance)
        for start in range(0, order.size, size):
            batch = order[start : start + size]
            dice = chance.integers(DICE, size=(batch.size, network.hidden), dtype=np.uint16)
            step(weights, rows[batch], truth[batch], dice, rate, 1.0 - network.dropout, temperature)
            count(1)
        if not np.isfinite(weights.b2).all():
            raise ParameterError(
                f"the loss became infinite or NaN in epoch {epoch}; try a learning_rate below {network.learning_rate:g}"
            )
    return NetworkClassifier.from_weights(**weights.parts)


def _sparse_step(
    w: Weights, X: csr_array, truth: NDArray[Any], dice: NDArray[Any], rate: float, keep: float, temperature: float
) -> None:
    rows, hidden = rows_of(X), w.b1.size
    active = np.empty((X.shape[0], hidden), dtype=np.float32)

    def forward(low: int, high: int) -> None:
        batch_forward(*rows, w.W1, w.b1, dice, round(keep * DICE), 1.0 / keep, active, low, high)

    def update(low: int, high: int) -> None:
        batch_update(*rows, active, slope, rate, 1.0 / keep, w.W1, w.b1, w.W2, low, high)

    _over_units(hidden, forward)
    slope = _slope(active @ w.W2 + w.b2, truth, temperature)
    w.b2[:] -= np.float32(rate) * slope.sum(axis=0)
    _over_units(hidden, update)


def _dense_step(
    w: Weights, X: NDArray[Any], truth: NDArray[Any], dice: NDArray[Any], rate: float, keep: float, temperature: float
) -> None:
    import torch

    W1, b1, W2 = (torch.from_numpy(part) for part in (w.W1, w.b1, w.W2))
    x = torch.from_numpy(X)
    active = torch.addmm(b1, x, W1).clamp_(min=0.0)
    active.mul_(torch.from_numpy(dice < keep * DICE)).mul_(1.0 / keep)
    slope = _slope(torch.addmm(torch.from_numpy(w.b2), active, W2).numpy(), truth, temperature)
    error = torch.from_numpy(slope)
    back = (error @ W2.T).mul_(active > 0).mul_(1.0 / keep)
    w.b2[:] -= np.float32(rate) * slope.sum(axis=0)
    W2.addmm_(active.T, error, alpha=-rate)
    b1.sub_(back.sum(dim=0), alpha=rate)
    W1.addmm_(x.T, back, alpha=-rate)


def _slope(output: NDArray[Any], truth: NDArray[Any], temperature: float) -> NDArray[np.float32]:
    """∂loss/∂output, the mean over the batch."""
    return np.asarray((softmax(output / temperature) - truth) / truth.shape[0], dtype=np.float32)


def _over_units(hidden: int, work: Callable[[int, int], None]) -> None:
    over_users(hidden, work, smallest=UNITS_A_RANGE)


def one_hot(codes: NDArray[np.int64], m: int) -> NDArray[np.float32]:
    """(n, m): 1 at each user's value, 0 elsewhere."""
    truth = np.zeros((codes.size, m), dtype=np.float32)
    truth[np.arange(codes.size), codes] = 1.0
    return truth
