"""The simplest defenses: add k items at random, remove k ratings at random, remove the k most telling ratings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.classifiers.linear import fit_linear
from attriguard.defenses.cells import (
    first_free,
    free_cells,
    largest,
    taken_cells,
    users_of,
    with_ratings,
    without_ratings,
)
from attriguard.defenses.counted import Counted, average_ratings

# Stored entries looked at together: bounds the (entries × m) work array.
BLOCK = 65_536


class RandomAdditions(Counted):
    """Adds k unrated items, each as likely as any other, with the rating of a random training user who rated it."""

    name = "random-additions"
    plain_name = "random additions"
    summary = "adds k items at random"
    ladder = (1, 5, 20, 50, 100, 200, 500, 1000)

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        average_ratings(X)  # refuses training users without a rating
        columns = X.tocsc()
        self._first, self._ratings = columns.indptr[:-1].astype(np.int64), columns.data
        self._raters = np.diff(columns.indptr).astype(np.int64)

    def _release(
        self, X: csr_array, strength: float, chance: np.random.Generator, truth: NDArray[np.int64] | None
    ) -> csr_array:
        first = first_free(X)
        numbers = [
            start + chance.choice(free, size=min(int(strength), free), replace=False, shuffle=False)
            for start, free in zip(first[:-1].tolist(), np.diff(first).tolist(), strict=True)
        ]
        cells = free_cells(taken_cells(X), np.concatenate([np.empty(0, dtype=np.int64), *numbers]))
        return with_ratings(X, cells, self.on_grid(self._drawn_ratings(cells % X.shape[1], chance)))

    def _drawn_ratings(self, items: NDArray[np.int64], chance: np.random.Generator) -> NDArray[np.float32]:
        """One of the item's training ratings; one of all of them where it has none."""
        raters = self._raters[items]
        span = np.where(raters > 0, raters, self._ratings.size)
        return self._ratings[np.where(raters > 0, self._first[items], 0) + chance.integers(0, span)]


class RandomDeletions(Counted):
    """Removes k of the user's ratings, each as likely as any other; a user with fewer ratings loses all of them."""

    name = "random-deletions"
    plain_name = "random deletions"
    summary = "removes k ratings at random"
    ladder = (1, 2, 4, 8, 12, 16, 24, 40)

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        pass

    def _release(
        self, X: csr_array, strength: float, chance: np.random.Generator, truth: NDArray[np.int64] | None
    ) -> csr_array:
        return without_ratings(X, largest(X, chance.random(X.nnz), int(strength)))


class TellingDeletions(Counted):
    """Removes the k most telling ratings; a user with fewer ratings loses all of them. It is told no user's attribute.

    How telling a rating is: by how much the posterior of the inferred value falls when that rating alone is removed,
    in a logistic regression learnt from the training users.
    """

    name = "telling-deletions"
    plain_name = "deletions of what tells most"
    summary = "removes the k most telling ratings"
    ladder = (1, 2, 3, 4, 6, 8, 12, 20)
    is_random = False

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        self._progress.tell(f"{self.name} learns")
        self._classifier = fit_linear("lr", X, codes)

    def _release(
        self, X: csr_array, strength: float, chance: np.random.Generator, truth: NDArray[np.int64] | None
    ) -> csr_array:
        return without_ratings(X, largest(X, self.evidence(X), int(strength)))

    def evidence(self, X: csr_array) -> NDArray[np.float64]:
        """For every stored entry: minus the log-odds of the inferred value once the entry is removed."""
        scores = self._classifier.decision_function(X)
        inferred, weights, users = scores.argmax(axis=1), self._classifier.coef_.T, users_of(X)
        found = np.empty(X.nnz)
        for start in range(0, X.nnz, BLOCK):
            part = slice(start, start + BLOCK)
            left = scores[users[part]] - X.data[part, None] * weights[X.indices[part]]
            own = inferred[users[part], None]
            lead = left - np.take_along_axis(left, own, axis=1)
            np.put_along_axis(lead, own, -np.inf, axis=1)
            found[part] = np.logaddexp.reduce(lead, axis=1)
        return found
