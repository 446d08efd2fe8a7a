"""Several small networks: the mean of what they say. The goal "conceal" looks for the ratings that it hangs on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_count
from attriguard._progress import Progress
from attriguard.classifiers.network import Weights
from attriguard.classifiers.small import Recipe, small_proba, train_small
from attriguard.errors import DataError, ParameterError

# Members of a guard's ensemble, unless asked for otherwise.
MEMBERS = 8
# Batches an epoch, at least, as far as the smallest batch allows: few users make small batches, not few steps.
BATCHES = 28
SMALLEST_BATCH = 32
# Up to this share of a user's ratings is left out, anew in every epoch: members are asked about rows that lack some.
MOST_LEFT_OUT = 0.8


class Ensemble:
    """C_i is the logarithm of the members' mean posterior of value i."""

    is_linear = False
    is_differentiable = False

    def __init__(self, members: Sequence[Weights], prior: ArrayLike) -> None:
        self.members = tuple(members)
        self.prior = np.ascontiguousarray(prior, dtype=np.float32)  # what is known of users without any rating
        if not self.members:
            raise ParameterError("an ensemble needs at least one member")
        if len({(w.W1.shape[0], w.b2.size) for w in self.members}) > 1:
            raise ParameterError("the members of an ensemble must know the same items and values")
        if self.prior.shape != self.members[0].b2.shape or not (self.prior > 0).all():
            raise ParameterError("the prior of an ensemble must be positive, one number a value")
        if not all(np.isfinite(part.sum(dtype=np.float64)) for w in self.members for part in w.parts.values()):
            raise DataError("the ensemble's weights are not finite; did its training converge?")
        # Side by side, as the kernel takes them: unit h belongs to the member between whose ends it lies.
        self.ends = np.cumsum([0, *(w.b1.size for w in self.members)], dtype=np.int64)
        self.W1 = np.ascontiguousarray(np.hstack([w.W1 for w in self.members]), dtype=np.float32)
        self.b1 = np.concatenate([w.b1 for w in self.members]).astype(np.float32)
        self.outputs = np.ascontiguousarray(np.vstack([w.W2 for w in self.members]).T, dtype=np.float32)
        self.b2 = np.vstack([w.b2 for w in self.members]).astype(np.float32)

    @property
    def m(self) -> int:
        return int(self.b2.shape[1])

    @property
    def n_items(self) -> int:
        return int(self.W1.shape[0])

    def predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        """(n, m): the mean of the members' posteriors."""
        total = np.zeros((X.shape[0], self.m))
        for weights in self.members:
            total += small_proba(weights, X)
        return total / len(self.members)

    def decision_function(self, X: csr_array) -> NDArray[np.float64]:
        return np.asarray(np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny)))

    def gradient(self, X: csr_array) -> NDArray[np.float64]:
        raise ParameterError("an ensemble is looked at by removing ratings, it has no gradient here")


def fit_ensemble(
    X: csr_array,
    codes: NDArray[np.int64],
    *,
    members: int,
    chance: np.random.Generator,
    progress: Progress | None = None,
) -> Ensemble:
    """Learn from codes 0 … m - 1, each of which occurs; the members differ by chance alone."""
    number = check_count(members, name="members")
    size = int(np.clip(X.shape[0] // BATCHES, SMALLEST_BATCH, Recipe().batch_size))
    weights = []
    for k in range(number):
        if progress is not None:
            progress(f"member {k + 1} of {number} learns", 0)
        weights.append(train_small(Recipe(batch_size=size), X, codes, chance=chance, refresh=thinned))
    return Ensemble(weights, np.bincount(codes) / codes.size)


def thinned(X: csr_array, chance: np.random.Generator) -> csr_array:
    """Each user's row without some of its ratings: a share between none and `MOST_LEFT_OUT`, drawn a user."""
    share = chance.uniform(0.0, MOST_LEFT_OUT, size=X.shape[0])
    kept = chance.random(X.nnz) >= np.repeat(share, np.diff(X.indptr))
    ends = np.concatenate([[0], np.cumsum(kept)])[X.indptr]
    return csr_array((X.data[kept], X.indices[kept], ends), shape=X.shape)
