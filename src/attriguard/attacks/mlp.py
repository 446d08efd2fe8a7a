"""MLP-A: a small network with Adam. Not in the paper; stronger than all of its attacks, and learnt in seconds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_number, check_rng
from attriguard.attacks.base import Attack
from attriguard.kernels.threads import over_users

# Weights that a thread changes at a time, at least.
RANGE = 2**16
Arrays = list[NDArray[np.float32]]


class SmallNetwork(Attack):
    """One hidden layer of ReLUs with dropout, written out in NumPy: it needs no extra."""

    name = "MLP-A"
    summary = "small neural network (Adam)"

    def __init__(
        self,
        *,
        hidden: int = 128,
        epochs: int = 8,
        batch_size: int = 256,
        learning_rate: float = 2e-3,
        weight_decay: float = 1e-5,
        dropout: float = 0.5,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.hidden = hidden
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.random_state = random_state

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        for name in ("hidden", "epochs", "batch_size"):
            check_number(getattr(self, name), name=name, low=1)
        check_number(self.dropout, name="dropout", low=0.0, high=0.99)
        chance = check_rng(self.random_state)
        self._weights = _first(chance, X.shape[1], self.hidden, self.classes_.size)
        adam = _Adam(self._weights, self.learning_rate, self.weight_decay)
        for epoch in range(1, self.epochs + 1):
            self._report(f"training, epoch {epoch}", 1)
            order = chance.permutation(X.shape[0])
            for start in range(0, order.size, self.batch_size):
                batch = order[start : start + self.batch_size]
                adam.step(self._gradients(X[batch], codes[batch], chance))

    def _gradients(self, X: csr_array, codes: NDArray[np.int64], chance: np.random.Generator) -> Arrays:
        W1, b1, W2, b2 = self._weights
        keep = 1.0 - self.dropout
        active = np.maximum(X @ W1 + b1, 0)
        if keep < 1.0:
            active *= (chance.random(active.shape, dtype=np.float32) < keep) / np.float32(keep)
        error = _softmax(active @ W2 + b2)
        error[np.arange(codes.size), codes] -= 1
        error /= codes.size
        back = (error @ W2.T) * (active > 0) / np.float32(keep)
        return [X.T @ back, back.sum(axis=0), active.T @ error, error.sum(axis=0)]

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        W1, b1, W2, b2 = self._weights
        return _softmax((np.maximum(X @ W1 + b1, 0) @ W2 + b2).astype(np.float64))


def _first(chance: np.random.Generator, n_items: int, hidden: int, m: int) -> Arrays:
    """Uniform within ± 1/√inputs."""
    shapes = (((n_items, hidden), n_items), ((hidden,), n_items), ((hidden, m), hidden), ((m,), hidden))
    return [
        ((2 * chance.random(shape, dtype=np.float32) - 1) * inputs**-0.5).astype(np.float32) for shape, inputs in shapes
    ]


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


class _Adam:
    """Adam with weight decay in the gradient; changes the weights in place."""

    def __init__(self, weights: Arrays, rate: float, decay: float) -> None:
        self.weights, self.rate, self.decay = weights, rate, decay
        self.first = [np.zeros_like(part) for part in weights]
        self.second = [np.zeros_like(part) for part in weights]
        self.steps = 0

    def step(self, gradients: Arrays) -> None:
        self.steps += 1
        for part in zip(gradients, self.weights, self.first, self.second, strict=True):
            self._move(*(np.ascontiguousarray(array, dtype=np.float32).reshape(-1) for array in part))

    def _move(self, gradient: NDArray[Any], *state: NDArray[Any]) -> None:
        """On all cores: the weights and both moments change in place."""
        from attriguard.kernels.adam import adam_step

        def work(low: int, high: int) -> None:
            adam_step(gradient, self.rate, self.decay, self.steps, state[0], state[1], state[2], low, high)

        for _ in over_users(gradient.size, work, smallest=RANGE):
            pass
