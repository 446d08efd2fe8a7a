"""How items are rated: what a rating that nobody gave could have been.

A new rating at the top of the scale, where it counts most, tells that it is new. One that is drawn does not: the user
rates a new item as high among its ratings as one of the user's own ratings stands among those of its item.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.errors import DataError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
# A scale with more levels is divided into this many bins, each of several levels.
MOST_BINS = 20
# As many ratings of the whole table are counted with those of each item, since many items have few.
SHARED = 10.0
# Drawn ratings are high or low by chance. So that most draws reach what a search has aimed at, it counts on less.
CAUTION = 0.85


@dataclass(frozen=True, eq=False)
class Habits:
    """``below``: (items, bins + 1), the share of an item's ratings below each bin of the scale, from 0 to 1."""

    below: NDArray[np.float32]

    @classmethod
    def of(cls, X: csr_array, levels: int) -> Self | None:
        """The habits of the users of X; None where all ratings are the same."""
        bins = min(levels, MOST_BINS)
        if bins < 2 or not X.nnz:
            return None
        at = X.indices.astype(np.int64) * bins + _bin(X.data, bins)
        counts = np.bincount(at, minlength=X.shape[1] * bins).reshape(X.shape[1], bins).astype(np.float64)
        every = counts.sum(axis=0)
        shares = counts + SHARED * every / every.sum()
        below = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)
        below[:, -1] = 1.0
        return cls(np.concatenate([np.zeros((X.shape[1], 1)), below], axis=1).astype(np.float32))

    @property
    def bins(self) -> int:
        """Into how many bins the scale is divided."""
        return int(self.below.shape[1]) - 1

    @property
    def counted(self) -> Floats:
        """(items,): what a search counts a new rating as: most of what is drawn on average."""
        return CAUTION * np.diff(self.below.astype(np.float64), axis=1) @ (np.arange(1, self.bins + 1) / self.bins)

    def position(self, items: Ints, entries: NDArray[Any], within: Floats) -> Floats:
        """Where entries stand among the ratings of their items, from 0 to 1; ``within`` says where among equal ones."""
        place = _bin(entries, self.bins)
        low, high = self.below[items, place], self.below[items, place + 1]
        return np.asarray(low + within * (high - low), dtype=np.float64)

    def entries(self, items: Ints, position: Floats, levels: int) -> NDArray[np.float32]:
        """The entry at a position among the ratings of each item, on a scale of so many levels."""
        place = np.minimum((self.below[items, 1:] <= position[:, None]).sum(axis=1), self.bins - 1)
        low, high = self.below[items, place].astype(np.float64), self.below[items, place + 1]
        inside = np.clip((position - low) / np.maximum(high - low, 1e-9), 0.0, 1.0 - 1e-9)
        level = np.floor((place + inside) / self.bins * levels) + 1
        return np.asarray(level / levels, dtype=np.float32)

    def check(self, n_items: int, levels: int) -> Self:
        """Refuse what cannot be the habits of anybody."""
        if self.below.shape != (n_items, min(levels, MOST_BINS) + 1) or self.below.dtype != np.float32:
            raise DataError("shares of ratings for other items or another scale")
        rising = (np.diff(self.below, axis=1) >= 0).all()  # also false where a share is no number
        if not (rising and (self.below[:, 0] == 0).all() and (self.below[:, -1] == 1).all()):
            raise DataError("shares of ratings that do not go from 0 to 1")
        return self


def _bin(entries: NDArray[Any], bins: int) -> Ints:
    """The bin of each entry: entry 1 is in the last, and an entry just above a bin's end in the next."""
    return np.clip(np.ceil(entries.astype(np.float64) * bins - 1e-6), 1, bins).astype(np.int64) - 1
