"""The base of defenses with a list of items for every value, of which a user gets the top k unrated ones."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.defenses.cells import Cells, first_free, free_cells, ratings_of, users_of, with_ratings
from attriguard.defenses.counted import Counted, average_ratings


class Lists(Counted):
    """For a user of value s, the first k unrated items of the list L_s get their average rating (section 2.2)."""

    needs = ("truth",)
    is_random = False

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        scores = self._scores(X, codes, int(codes.max()) + 1)
        # Stable: of two items that say as much, the one with the lower number comes first.
        self.lists_: NDArray[np.int32] = np.argsort(-scores, axis=1, kind="stable").astype(np.int32)
        self._place = np.empty_like(self.lists_)  # the place of every item in every list
        np.put_along_axis(self._place, self.lists_, np.arange(X.shape[1], dtype=np.int32)[None, :], axis=1)
        averages = self.on_grid(average_ratings(X))
        self.entries_: NDArray[np.float32] = np.maximum(averages, np.float32(1 / self.levels if self.levels else 0))

    @abstractmethod
    def _scores(self, X: csr_array, codes: NDArray[np.int64], m: int) -> NDArray[np.float64]:
        """(m, items): how much an item speaks for the values other than i; the list L_i has the largest first."""

    def _release(
        self, X: csr_array, strength: float, chance: np.random.Generator, truth: NDArray[np.int64] | None
    ) -> csr_array:
        if truth is None or not strength:
            return X
        return self._with(X, self._first_free(X, int(strength), truth))

    def _with(self, X: csr_array, cells: Cells) -> csr_array:
        """X with the average rating in cells that were free."""
        return with_ratings(X, cells, self.entries_[cells % X.shape[1]])

    def _first_free(self, X: csr_array, k: int, truth: NDArray[np.int64]) -> Cells:
        """The cells of everyone's first k unrated items in the list of the own value."""
        # Cells are numbered by the places of items in the user's list, so that free cells come in the list's order.
        n_items = X.shape[1]
        taken = users_of(X) * n_items + self._place[np.repeat(truth, ratings_of(X)), X.indices]
        count = np.minimum(k, n_items - ratings_of(X))
        users = np.repeat(np.arange(X.shape[0]), count)
        nth = np.arange(users.size) - np.repeat(np.cumsum(count) - count, count)
        places = free_cells(np.sort(taken), first_free(X)[users] + nth) - users * n_items
        return users * n_items + self.lists_[truth[users], places]
