"""The training of one member of an ensemble: a small network on rows that lack some of their ratings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.classifiers.small import Recipe
from attriguard.classifiers.weights import Weights, first_weights
from attriguard.kernels.rows import rows_of

# In every epoch each user's row lacks up to this share of its ratings, since Phase I asks about rows that lack some.
MOST_LEFT_OUT = 0.8
# Dice for the units that are left out have this many faces.
FACES = 256


def train_member(recipe: Recipe, X: csr_array, codes: NDArray[np.int64], chance: np.random.Generator) -> Weights:
    """Learn from codes 0 … m - 1, each of which occurs; in one thread, without holding up others."""
    from attriguard.kernels.members import finish_rows, train_epoch

    weights = first_weights(chance, X.shape[1], recipe.hidden, int(codes.max()) + 1)
    # Nobody has rated it, so nothing is known about it.
    weights.W1[np.bincount(X.indices, minlength=X.shape[1]) == 0] = 0.0
    parts = list(weights.parts.values())
    first, second = ([np.zeros_like(part) for part in parts] for _ in range(2))
    last, gradient, steps = np.zeros(X.shape[1], dtype=np.int64), np.zeros_like(weights.W1), 0
    full = rows_of(X)
    limit = max(round((1.0 - recipe.dropout) * FACES), 1)
    for _ in range(recipe.epochs):
        rows, order = thinned(*full, chance), chance.permutation(X.shape[0])
        dice = np.frombuffer(chance.bytes(X.shape[0] * recipe.hidden), dtype=np.uint8).reshape(-1, recipe.hidden)
        how = [limit, recipe.batch_size, recipe.learning_rate, recipe.weight_decay, steps]
        given: list[Any] = [*rows, codes, order, dice, *how, *parts, *first, *second, last, gradient]
        steps = int(train_epoch(*given))
    finish_rows(steps, recipe.learning_rate, weights.W1, first[0], second[0], last)
    return weights


def thinned(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], data: NDArray[np.float32], chance: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Each user's row without some of its ratings; the share is drawn for each user, between 0 and `MOST_LEFT_OUT`."""
    share = chance.uniform(0.0, MOST_LEFT_OUT, size=indptr.size - 1)
    kept = chance.random(indices.size) >= np.repeat(share, np.diff(indptr))
    return np.concatenate([[0], np.cumsum(kept)])[indptr], indices[kept], data[kept]
