"""Defenses whose strength is a number of items: k."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.defenses.base import Defense
from attriguard.errors import DataError, ParameterError


class Counted(Defense):
    """k whole items a user; for a user with fewer items to add or to remove, all of them."""

    strength = "k"

    def check_strength(self, strength: float) -> float:
        """k as a number; it must be whole and, after ``fit``, at most the number of items."""
        k = super().check_strength(strength)
        if k != int(k):
            raise ParameterError(f"k must be a whole number of items for {self.name}, got {strength!r}")
        n_items = getattr(self, "n_features_in_", None)
        if n_items is not None and k > n_items:
            raise ParameterError(f"k must be at most the number of items, {n_items:,}, got {int(k):,}")
        return k

    def nearest(self, strength: float) -> float:
        """The nearest whole number of items."""
        return float(round(strength))

    def ladder_for(self, n_items: int) -> tuple[float, ...]:
        """The counts of the ladder that are not larger than the number of items."""
        return tuple(k for k in self.ladder if k <= n_items)


def average_ratings(X: csr_array) -> NDArray[np.float64]:
    """(items,): the mean over the users who rated an item; over all ratings where nobody did."""
    if not X.nnz:
        raise DataError("the training users have no ratings: there is no average rating to give an item")
    sums = np.bincount(X.indices, weights=X.data, minlength=X.shape[1])
    raters = np.bincount(X.indices, minlength=X.shape[1])
    overall = X.data.mean(dtype=np.float64)
    return np.where(raters > 0, sums / np.maximum(raters, 1), overall)
