"""How Algorithm 1 walks on a classifier that is not linear: gradients and scores of many (user, value) pairs at a time.

Pair u·m + i is user u on the way to value i.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.classifiers.maths import log_softmax
from attriguard.classifiers.outputs import Ints, Outputs

# Pairs whose gradients are computed together.
PAIRS_AT_ONCE = 256


class Engine(Protocol):
    """Gradients and decision functions of the pairs of one batch of users, while one entry after another changes."""

    def users_at_once(self) -> int:
        """How many users a batch may have."""

    def begin(self, X: csr_array) -> NDArray[np.float64]:
        """A new batch of users; their decision functions (n, m)."""

    def reset(self, pairs: Ints) -> None:
        """These pairs start again from the users' own data."""

    def gradient(self, pairs: Ints, rivals: Ints, now: NDArray[np.float32]) -> NDArray[Any]:
        """(all pairs, items): of C_i − C_rival at `now` (of C_i where the rival is -1); valid for these pairs."""

    def move(
        self,
        pairs: Ints,
        items: Ints,
        change: NDArray[np.float64],
        now: NDArray[np.float32],
        scores: NDArray[np.float64],
    ) -> None:
        """One entry of each of these pairs has changed: bring their scores up to date."""


class PlainEngine:
    """The engine of any classifier with `Outputs`: it remembers nothing, every step computes everything anew."""

    def __init__(self, outputs: Outputs) -> None:
        self.outputs, self.m = outputs, outputs.m

    def users_at_once(self) -> int:
        """As many as `PAIRS_AT_ONCE` allows."""
        return max(1, PAIRS_AT_ONCE // self.m)

    def begin(self, X: csr_array) -> NDArray[np.float64]:
        """The decision functions at the users' own data."""
        self.slope: NDArray[Any] | None = None
        return self._scores(X.toarray())

    def reset(self, pairs: Ints) -> None:
        """Nothing is remembered, so there is nothing to do."""

    def gradient(self, pairs: Ints, rivals: Ints, now: NDArray[np.float32]) -> NDArray[Any]:
        """One call of the outputs for all of these pairs."""
        point, against = self.outputs.at(now[pairs]), rivals[pairs] >= 0
        mix = self.outputs.towards(point.scores, pairs % self.m)
        mix[against] = np.eye(self.m)[pairs[against] % self.m] - np.eye(self.m)[rivals[pairs[against]]]
        slope = np.asarray(point.slope(mix))
        if self.slope is None:
            kind = np.float64 if slope.dtype == np.float64 else np.float32  # what the kernel of the moves takes
            self.slope = np.empty(now.shape, dtype=kind)
        self.slope[pairs] = slope
        return self.slope

    def move(
        self,
        pairs: Ints,
        items: Ints,
        change: NDArray[np.float64],
        now: NDArray[np.float32],
        scores: NDArray[np.float64],
    ) -> None:
        """The scores at the changed data."""
        if pairs.size:
            scores[pairs] = self._scores(now[pairs])

    def _scores(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        scores = np.asarray(self.outputs.at(rows).scores, dtype=np.float64)
        return log_softmax(scores) if self.outputs.softmax else scores
