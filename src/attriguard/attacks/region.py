"""RC-A: region-based classification. NN-A votes on many points around a user's data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_matrix, check_number, check_rng
from attriguard.attacks._network import NetworkAttack
from attriguard.classifiers.network import ATTACKER_UNITS, OWN, Weights

# Hidden units in one piece of work, and how many entries (users × points × units) a piece may have.
UNITS = 2048
TILE_ENTRIES = 2**20
# How many pre-activations (users × hidden units) are in memory at a time.
PRE_ACTIVATIONS = 2**22
# Points whose offsets (one per item) are drawn at a time.
OFFSETS_A_TIME = 20


class RegionBased(NetworkAttack):
    """NN-A infers a value for each of ``n_points`` points around a user's data, and the points vote.

    The points are uniform in the hypercube of ``radius`` around the data, over all items; they are not clipped.

    All users share the offsets. The first layer is linear, so an offset moves everyone's pre-activations by the same
    vector, and this is computed once, for the radius 1.
    """

    name = "RC-A"
    plain_name = "neural network, votes in a region"
    summary = "a neural network that votes on many points around a user's ratings"

    def __init__(
        self,
        *,
        hidden: int = ATTACKER_UNITS,
        epochs: int | None = None,
        recipe: str = OWN,
        n_points: int = 100,
        radius: float = 0.05,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        super().__init__(hidden=hidden, epochs=epochs, recipe=recipe, random_state=random_state)
        self.n_points = n_points
        self.radius = radius

    def check_options(self) -> None:
        """The radius must not be negative, and there must be at least one point."""
        check_number(self.radius, name="radius", low=0.0)
        check_number(self.n_points, name="n_points", low=1)

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        self.network_ = self._learn(X, codes)
        chance, W1 = check_rng(self.random_state), self.network_.weights.W1
        self._shift = np.empty((self.n_points, W1.shape[1]), dtype=np.float32)
        for start in range(0, self.n_points, OFFSETS_A_TIME):
            part = self._shift[start : start + OFFSETS_A_TIME]
            offsets = 2.0 * chance.random((part.shape[0], W1.shape[0]), dtype=np.float32) - 1.0
            np.matmul(offsets, W1, out=part)

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        return self.votes(X, self.radius)

    def votes(self, X: csr_array, radius: float) -> NDArray[np.float64]:
        """(n, m): for how many of the points around a user the network infers each value."""
        w = self.network_.weights
        shift = self._shift * np.float32(radius)
        counts = np.zeros((X.shape[0], w.b2.size))
        users = max(1, PRE_ACTIVATIONS // w.b1.size)
        some = max(1, TILE_ENTRIES // (self.n_points * UNITS))
        for start in range(0, X.shape[0], users):
            pre = self.network_.pre_activations(X[start : start + users]).astype(np.float32)
            for low in range(0, pre.shape[0], some):
                inferred = _inferred(pre[low : low + some], shift, w)
                block = counts[start + low : start + low + inferred.shape[0]]
                for value in range(counts.shape[1]):
                    block[:, value] = (inferred == value).sum(axis=1)
        return counts


def _inferred(pre: NDArray[np.float32], shift: NDArray[np.float32], w: Weights) -> NDArray[np.int64]:
    """(users, points): the inferred value; the hidden layer passes by in pieces that stay in the cache."""
    import torch

    n, points = pre.shape[0], shift.shape[0]
    here, move, W2 = torch.from_numpy(pre), torch.from_numpy(shift), torch.from_numpy(w.W2)
    scores = torch.from_numpy(w.b2).repeat(n * points, 1)
    for low in range(0, pre.shape[1], UNITS):
        units = slice(low, low + UNITS)
        active = (here[:, None, units] + move[:, units]).clamp_(min=0.0)
        scores.addmm_(active.reshape(n * points, -1), W2[units])
    return np.asarray(scores.argmax(dim=1).numpy().reshape(n, points))


def accuracy_over_radius(attack: RegionBased, X: csr_array, y: ArrayLike, radii: Sequence[float]) -> list[float]:
    """The accuracy of a trained RC-A for each radius (figure 2), with the same network and the same offsets."""
    rows, truth = check_matrix(X, n_items=attack.n_features_in_), np.asarray(y)
    return [
        float((attack.classes_[attack.votes(rows, radius).argmax(axis=1)] == truth).mean())
        for radius in (check_number(r, name="radius", low=0.0) for r in radii)
    ]


def largest_radius(radii: Sequence[float], accuracies: Sequence[float], *, loss: float = 0.01) -> float:
    """The largest radius that costs at most ``loss`` of the best accuracy: the paper's way to choose it."""
    best = max(accuracies)
    return max(radius for radius, accuracy in zip(radii, accuracies, strict=True) if accuracy >= best - loss)
