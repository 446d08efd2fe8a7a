"""PerBlur (Slokom, Hanjalic and Larson, 2021): items of other values that the user would like, for m values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize

from attriguard._checks import check_count
from attriguard.classifiers.linear import fit_linear
from attriguard.data.scale import RatingScale
from attriguard.defenses.cells import Cells, largest, users_of, without_ratings
from attriguard.defenses.lists import Lists

# Users whose neighbours are looked for at a time: (users × training users) and (users × items) numbers are in memory.
BLOCK = 256


class PerBlur(Lists):
    """Adds items that speak for other values and that similar users have rated; removes what speaks for the own value.

    What an item speaks for is its weight in a one-vs-rest logistic regression, as for BlurMe. Of those against the
    user's value only the ``liked`` unrated items that most of the nearest training users have rated come into
    question; the strongest are added. A user with fewer such items gets fewer.

    Parameters
    ----------
    scale
        The rating scale.
    removal
        Half of the k changes (one fewer where k is odd) are removals: the ratings that speak most for the own value.
        False: all are additions.
    liked
        How many items the recommender proposes to a user.
    neighbours
        How many training users, nearest by the cosine of their ratings, the recommender asks.
    """

    name = "PerBlur"
    plain_name = "personalised additions and removals"
    summary = "adds items of other values that the user would like, and removes items of the own value"
    ladder = (1, 2, 4, 6, 10, 20, 40, 80)

    def __init__(
        self,
        *,
        scale: RatingScale | tuple[float, ...] | None = None,
        removal: bool = True,
        liked: int = 200,
        neighbours: int = 50,
    ) -> None:
        super().__init__(scale=scale)
        self.removal = removal
        self.liked = liked
        self.neighbours = neighbours

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        check_count(self.liked, name="liked")
        check_count(self.neighbours, name="neighbours")
        super()._fit(X, codes)
        self._near = normalize(X)
        self._rated = csr_array((np.ones_like(X.data), X.indices, X.indptr), shape=X.shape)

    def _scores(self, X: csr_array, codes: NDArray[np.int64], m: int) -> NDArray[np.float64]:
        self._progress.tell("PerBlur learns")
        self._against = -fit_linear("lr-ova", X, codes).coef_
        return self._against

    def _release(
        self, X: csr_array, strength: float, chance: np.random.Generator, truth: NDArray[np.int64] | None
    ) -> csr_array:
        if truth is None or not strength or not X.shape[0]:
            return X
        removed = int(strength) // 2 if self.removal else 0
        starts = range(0, X.shape[0], BLOCK)
        added = int(strength) - removed
        cells = [self._liked_cells(X[i : i + BLOCK], added, truth[i : i + BLOCK]) + i * X.shape[1] for i in starts]
        own = -self._against[truth[users_of(X)], X.indices]
        gone = largest(X, own, removed) & (own > 0)
        return self._with(without_ratings(X, gone), np.concatenate(cells))

    def _liked_cells(self, X: csr_array, k: int, truth: NDArray[np.int64]) -> Cells:
        """The cells of at most k items a user that speak against the own value and that the recommender proposes."""
        votes = self.votes(X)
        votes[users_of(X), X.indices] = 0.0
        place = min(self.liked, votes.shape[1]) - 1
        enough = -np.partition(-votes, place, axis=1)[:, place, None]
        against = self._against[truth]
        fits = (votes > 0) & (votes >= enough) & (against > 0)
        order = np.argsort(np.where(fits, -against, np.inf), axis=1, kind="stable")[:, :k]
        users, nth = np.nonzero(np.take_along_axis(fits, order, axis=1))
        return users * X.shape[1] + order[users, nth]

    def votes(self, X: csr_array) -> NDArray[np.float64]:
        """(n, items): how many of the nearest training users have rated the item."""
        alike = np.asarray((normalize(X) @ self._near.T).toarray())
        count = min(self.neighbours, alike.shape[1])
        nearest = np.argsort(-alike, axis=1, kind="stable")[:, :count]
        rows = np.repeat(np.arange(X.shape[0]), count)
        asked = csr_array((np.ones(rows.size), (rows, nearest.ravel())), shape=alike.shape)
        return np.asarray((asked @ self._rated).toarray())
