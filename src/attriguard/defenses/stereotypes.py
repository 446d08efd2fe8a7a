"""SBO: stereotypicality-based obfuscation (Escobedo et al., ECML PKDD 2024), for m values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_choice, check_number
from attriguard.data.scale import RatingScale
from attriguard.defenses.cells import largest, ratings_of, users_of, without_ratings
from attriguard.defenses.lists import Lists

ACTIONS = ("remove", "add", "both")
# An item that fewer training users have rated is no stereotype of anybody.
FEWEST_RATERS = 5


class SBO(Lists):
    """Takes a user's most stereotypical items away, or adds the least stereotypical ones, each with a probability.

    How stereotypical an item is of a value: (f - g) / max(f, g), where f is the share of the value's users who have
    rated it, and g that of all others. It lies between -1 and 1. Of a user of that value the k ratings with the largest
    scores are looked at, and each is removed with its score as the probability; or the k unrated items with the
    smallest scores, and each is added with minus its score. So k is the largest number of changes.

    Parameters
    ----------
    scale
        The rating scale.
    action
        "remove"; "add": new items get their average rating; or "both": half of k each, one more for removals.
    by_chance
        False: all k are changed, whose score points the right way.
    threshold
        A user whose items' scores are on average nearer to 0 is left alone.
    """

    name = "SBO"
    plain_name = "removal of stereotypical items"
    summary = "removes ratings that are typical of the user's value, by chance"
    ladder = (1, 2, 4, 8, 12, 16, 24, 40)
    is_random = True

    def __init__(
        self,
        *,
        scale: RatingScale | tuple[float, ...] | None = None,
        action: str = "remove",
        by_chance: bool = True,
        threshold: float = 0.0,
    ) -> None:
        super().__init__(scale=scale)
        self.action = action
        self.by_chance = by_chance
        self.threshold = threshold

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        check_choice(self.action, ACTIONS, name="action")
        check_number(self.threshold, name="threshold", low=0.0, high=1.0)
        super()._fit(X, codes)

    def _scores(self, X: csr_array, codes: NDArray[np.int64], m: int) -> NDArray[np.float64]:
        self.typical_ = stereotypicality(X, codes, m)
        return -self.typical_

    def _release(
        self, X: csr_array, strength: float, chance: np.random.Generator, truth: NDArray[np.int64] | None
    ) -> csr_array:
        if truth is None or not strength:
            return X
        k = int(strength)
        removed = {"remove": k, "add": 0, "both": k - k // 2}[self.action]
        n_items, users = X.shape[1], users_of(X)
        typical = self.typical_[truth[users], X.indices]
        mean = np.bincount(users, weights=np.abs(typical), minlength=X.shape[0]) / np.maximum(ratings_of(X), 1)
        touched = mean >= self.threshold
        cells = self._first_free(X, k - removed, truth)
        against = -self.typical_[truth[cells // n_items], cells % n_items]
        cells = cells[self._drawn(against, chance) & touched[cells // n_items]]
        gone = largest(X, typical, removed) & self._drawn(typical, chance) & touched[users]
        # Adding comes first, and finds other cells than removing: nothing that was removed comes back.
        return self._with(without_ratings(X, gone), cells)

    def _drawn(self, rates: NDArray[np.float64], chance: np.random.Generator) -> NDArray[np.bool_]:
        """Which changes are made; one with a rate of 0 or less never."""
        return np.asarray(rates > (chance.random(rates.size) if self.by_chance else 0.0))


def stereotypicality(X: csr_array, codes: NDArray[np.int64], m: int) -> NDArray[np.float64]:
    """(m, items): (f - g) / max(f, g) of the shares of raters with a value and without; 0 for rarely rated items."""
    raters = np.zeros((m, X.shape[1]))
    np.add.at(raters, (np.repeat(codes, ratings_of(X)), X.indices), 1.0)
    users, rated = np.bincount(codes, minlength=m)[:, None], raters.sum(axis=0)
    own, other = raters / users, (rated - raters) / np.maximum(codes.size - users, 1)
    most = np.maximum(own, other)
    return np.divide(own - other, most, out=np.zeros_like(own), where=(most > 0) & (rated >= FEWEST_RATERS))
