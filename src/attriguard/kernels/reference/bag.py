"""Twins of the first layer of a network: matrix products of dense rows, in double precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attriguard.kernels.reference.arrays import Floats, Ints, dense


def bag_forward(
    indptr: Ints, indices: Ints, data: Floats, W: Floats, b: Floats, pre: Floats, start: int, stop: int
) -> None:
    """Fill the pre-activations x W + b of units ``start`` to ``stop``."""
    X = dense(indptr, indices, data, W.shape[0])
    pre[:, start:stop] = (X @ W.astype(np.float64) + b)[:, start:stop]


def batch_forward(
    indptr: Ints, indices: Ints, data: Floats,
    W: Floats, b: Floats, dice: NDArray[np.uint16], limit: float, scale: float,
    active: Floats, start: int, stop: int,
) -> None:  # fmt: skip
    """Fill relu(x W + b) · scale of units ``start`` to ``stop``; 0 where the dice reach the whole part of ``limit``."""
    z = dense(indptr, indices, data, W.shape[0]) @ W.astype(np.float64) + b
    active[:, start:stop] = np.where(dice < int(limit), np.maximum(z, 0.0) * scale, 0.0)[:, start:stop]


def batch_update(
    indptr: Ints, indices: Ints, data: Floats,
    active: Floats, error: Floats, rate: float, scale: float,
    W1: Floats, b1: Floats, W2: Floats,
    start: int, stop: int,
) -> None:  # fmt: skip
    """Gradient descent by the chain rule on units ``start`` to ``stop``; all gradients use the old weights."""
    X, units = dense(indptr, indices, data, W1.shape[0]), slice(start, stop)
    on = active[:, units].astype(np.float64)
    back = (error @ W2[units].astype(np.float64).T) * (on > 0) * scale
    W2[units] -= rate * on.T @ error
    b1[units] -= rate * back.sum(axis=0)
    W1[:, units] -= rate * X.T @ back
