"""A small network with one hidden layer and Adam, written out in NumPy: it needs no extra, and learns in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_number
from attriguard.classifiers.maths import softmax
from attriguard.classifiers.weights import Weights, first_weights
from attriguard.kernels.threads import over_users
from attriguard.progress import Progress, ProgressLike

# Weights that a thread changes at a time, at least.
RANGE = 2**16


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a small network is trained; the defaults are MLP-A's."""

    hidden: int = 128
    epochs: int = 8
    batch_size: int = 256
    learning_rate: float = 2e-3
    weight_decay: float = 1e-5
    dropout: float = 0.5

    def check(self) -> Recipe:
        """The recipe itself; refused where no training can work with it."""
        for name in ("hidden", "epochs", "batch_size"):
            check_number(getattr(self, name), name=name, low=1)
        check_number(self.dropout, name="dropout", low=0.0, high=0.99)
        return self


def train_small(
    recipe: Recipe,
    X: csr_array,
    codes: NDArray[np.int64],
    *,
    chance: np.random.Generator,
    progress: ProgressLike = None,
) -> Weights:
    """Learn from codes 0 … m - 1, each of which occurs."""
    recipe.check()
    weights = first_weights(chance, X.shape[1], recipe.hidden, int(codes.max()) + 1)
    adam = _Adam(weights, recipe.learning_rate, recipe.weight_decay)
    for _ in Progress.of(progress).each(range(recipe.epochs), lambda epoch: f"training, epoch {epoch + 1}"):
        order = chance.permutation(X.shape[0])
        for start in range(0, order.size, recipe.batch_size):
            batch = order[start : start + recipe.batch_size]
            adam.step(_gradients(weights, X[batch], codes[batch], recipe.dropout, chance))
    return weights


def small_proba(weights: Weights, X: csr_array) -> NDArray[np.float64]:
    """(n, m): the softmax's outputs."""
    outputs = np.maximum(X @ weights.W1 + weights.b1, 0) @ weights.W2 + weights.b2
    return softmax(outputs.astype(np.float64))


def _gradients(
    w: Weights, X: csr_array, codes: NDArray[np.int64], dropout: float, chance: np.random.Generator
) -> list[NDArray[Any]]:
    keep = 1.0 - dropout
    active = np.maximum(X @ w.W1 + w.b1, 0)
    if keep < 1.0:
        active *= (chance.random(active.shape, dtype=np.float32) < keep) / np.float32(keep)
    error = softmax(active @ w.W2 + w.b2)
    error[np.arange(codes.size), codes] -= 1
    error /= codes.size
    back = (error @ w.W2.T) * (active > 0) / np.float32(keep)
    return [X.T @ back, back.sum(axis=0), active.T @ error, error.sum(axis=0)]


class _Adam:
    """Adam with weight decay in the gradient; changes the weights in place."""

    def __init__(self, weights: Weights, rate: float, decay: float) -> None:
        self.weights, self.rate, self.decay = list(weights.parts.values()), rate, decay
        self.first = [np.zeros_like(part) for part in self.weights]
        self.second = [np.zeros_like(part) for part in self.weights]
        self.steps = 0

    def step(self, gradients: list[NDArray[Any]]) -> None:
        """One step of all weights, in place."""
        self.steps += 1
        for part in zip(gradients, self.weights, self.first, self.second, strict=True):
            self._move(*(np.ascontiguousarray(array, dtype=np.float32).reshape(-1) for array in part))

    def _move(self, gradient: NDArray[Any], *state: NDArray[Any]) -> None:
        """On all cores: the weights and both moments change in place."""
        from attriguard.kernels.adam import adam_step

        def work(low: int, high: int) -> None:
            adam_step(gradient, self.rate, self.decay, self.steps, state[0], state[1], state[2], low, high)

        over_users(gradient.size, work, smallest=RANGE)
