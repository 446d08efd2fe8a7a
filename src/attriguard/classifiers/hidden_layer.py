"""The views of a network with one hidden layer: its outputs, and the engine that follows single changes through it.

The engine computes nothing twice. The gradient of output v, Σ_h W1[j, h]·[unit h is on]·W2[h, v], changes only with
the units that switch. So a batch of users begins with one matrix product for all their values. Later gradients are
mixtures of these, with the units that have switched since added or taken away: whole rows of the first layer, which is
kept in both orders. The mixture is ∂C_i = ∂output_i − Σ_v p_v ∂output_v for C_i = log p_i, and ∂output_i − ∂output_k
for C_i − C_k.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.classifiers.maths import log_softmax
from attriguard.classifiers.network import NetworkClassifier
from attriguard.classifiers.outputs import Ints, Local, Outputs, Point, Rows, without_columns
from attriguard.kernels.threads import over_users

# What a batch of users may take besides the weights.
BATCH_BYTES = 3 * 2**29
# Pairs and items in one call of a kernel.
PAIRS_A_RANGE, ITEMS_A_RANGE = 16, 256


class NetworkOutputs(Outputs):
    """What the softmax of a `NetworkClassifier` is taken of."""

    softmax, heavy = True, True

    def __init__(self, classifier: NetworkClassifier) -> None:
        self.classifier, self.m = classifier, classifier.m

    def at(self, rows: Rows) -> Point:
        """All columns, from sparse pre-activations."""
        return self._point(self.classifier.pre_activations(csr_array(rows)), self.classifier.weights.W1)

    def among(self, rows: Rows, columns: Ints) -> Local:
        """Few columns: what the others add to the pre-activations is computed once."""
        base = self.classifier.pre_activations(without_columns(rows, columns)).astype(np.float32)
        W1 = self.classifier.weights.W1[columns]
        return lambda x, which: self._point(base[which] + x @ W1, W1)

    def _point(self, pre: NDArray[Any], W1: NDArray[Any]) -> Point:
        w, on = self.classifier.weights, pre > 0

        def slope(mix: NDArray[Any]) -> NDArray[Any]:
            return np.asarray((mix.astype(w.W2.dtype) @ w.W2.T * on) @ W1.T)

        return Point(np.maximum(pre, 0.0) @ w.W2 + w.b2, slope)


class HiddenLayer:
    """The engine of a `NetworkClassifier`; without ``softmax``, C_i is what the softmax is taken of."""

    def __init__(self, network: NetworkClassifier, *, softmax: bool = True) -> None:
        self.network, self.softmax = network, softmax
        self.weights, self.units = network.weights, network.units
        self.W2_rows = np.ascontiguousarray(self.weights.W2.T)
        self.hidden, self.m = self.weights.W2.shape

    def users_at_once(self) -> int:
        """As many as fit into `BATCH_BYTES` besides the weights."""
        number = self.weights.W1.itemsize
        a_pair = self.hidden * (8 + 1 + number) + self.network.n_items * (2 * number + 4 + 1)
        return max(1, BATCH_BYTES // (self.m * a_pair))

    def begin(self, X: csr_array) -> NDArray[np.float64]:
        """One matrix product for the gradients of all values of these users; their log p."""
        pairs = X.shape[0] * self.m
        self.own = self.network.pre_activations(X)
        self.on = self.own > 0
        # All values of all these users in one product.
        weighted = (self.on[:, None, :] * self.W2_rows[None]).reshape(pairs, self.hidden)
        self.first: NDArray[Any] = weighted @ self.units
        del weighted
        self.slope = np.empty_like(self.first)
        self.pre = np.empty((pairs, self.hidden))
        self.mask = np.empty((pairs, self.hidden), dtype=np.uint8)
        self.mix = np.full((pairs, self.m), np.nan, dtype=self.slope.dtype)  # what the slope is of; NaN: of nothing yet
        self.base = log_softmax(np.maximum(self.own, 0.0) @ self.weights.W2.astype(np.float64) + self.weights.b2)
        self.log_p = np.repeat(self.base, self.m, axis=0)
        return self.base

    def reset(self, pairs: Ints) -> None:
        """The users' own pre-activations and log p again; no gradient is valid any more."""
        self.mix[pairs] = np.nan
        self.log_p[pairs] = self.base[pairs // self.m]
        for p in pairs:
            self.pre[p] = self.own[p // self.m]

    def gradient(self, pairs: Ints, rivals: Ints, now: NDArray[np.float32]) -> NDArray[Any]:
        """The last gradient of each pair, plus or minus the rows of the units that have switched since."""
        from attriguard.kernels.units import add_units, count_switched, list_switched

        self._set_up(pairs, rivals[pairs])
        ends = np.empty(self.hidden + 1, dtype=np.int64)
        count_switched(pairs, self.pre, self.mask, ends)
        np.cumsum(ends, out=ends)
        where = np.empty(ends[-1], dtype=np.int32)
        weight = np.empty(ends[-1], dtype=self.slope.dtype)
        list_switched(pairs, self.mix, self.pre, self.weights.W2, self.mask, ends[:-1].copy(), where, weight)
        given = ends, where, weight, self.units, self.slope
        if where.size:
            over_users(self.slope.shape[1], lambda start, stop: add_units(*given, start, stop), smallest=ITEMS_A_RANGE)
        for p in pairs:
            if not (self.pre[p] > 0).any():  # no unit is on: no gradient at all, not what rounding has left of it
                self.slope[p] = 0.0
        return self.slope

    def _set_up(self, pairs: Ints, rivals: Ints) -> None:
        """The gradient at the users' own data, where it is of something new; what has switched since is added later."""
        each, margin = np.arange(pairs.size), rivals >= 0
        mix = np.where(margin[:, None] | (not self.softmax), 0.0, -np.exp(self.log_p[pairs]))
        mix[each[margin], rivals[margin]] = -1.0
        mix[each, pairs % self.m] += 1.0
        mix = mix.astype(self.mix.dtype)
        new = (mix != self.mix[pairs]).any(axis=1)
        self.mix[pairs] = mix
        fresh = pairs[new]
        for user in np.unique(fresh // self.m):
            these = fresh[fresh // self.m == user]
            self.slope[these] = self.mix[these] @ self.first[user * self.m : (user + 1) * self.m]
            self.mask[these] = self.on[user]

    def move(
        self,
        pairs: Ints,
        items: Ints,
        change: NDArray[np.float64],
        now: NDArray[np.float32],
        scores: NDArray[np.float64],
    ) -> None:
        """Each pair's changed entry moves its pre-activations; from them come the new log p."""
        from attriguard.kernels.units import change_entries

        w = self.weights
        given = pairs, items, change, w.W1, w.W2, w.b2, self.pre, scores
        over_users(pairs.size, lambda first, last: change_entries(*given, first, last), smallest=PAIRS_A_RANGE)
        scores[pairs] = self.log_p[pairs] = log_softmax(scores[pairs])
