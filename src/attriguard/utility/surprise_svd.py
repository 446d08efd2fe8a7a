"""Surprise's SVD, the paper's recommender: biased matrix factorisation of the given ratings by gradient descent."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_count, check_number
from attriguard.utility.ranking import Factors
from attriguard.utility.recommenders import Recommender, load_extra


class SurpriseSVD(Recommender):
    """A rating is μ + b_u + b_i + p_u · q_i. The model predicts ratings and learns nothing from unrated items.

    Items are ranked by the predicted rating before Surprise clips it to the scale, where many would be equal.

    Parameters
    ----------
    rank
        The length of a user's or an item's vector of factors.
    epochs
        How often gradient descent goes through all ratings.
    top
        The rating that an entry of 1 stands for. Surprise's learning rate suits five stars.
    random_state
        Seeds the first factors.
    """

    name = "SVD"
    plain_name = "biased matrix factorisation"
    summary = "biased matrix factorisation by SGD (Surprise), as in the paper"
    needs = ("recsys",)
    packages = ("surprise",)

    def __init__(
        self,
        *,
        rank: int = 100,
        epochs: int = 20,
        top: float = 5.0,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        super().__init__(rank=rank, random_state=random_state)
        self.epochs = epochs
        self.top = top

    def _fit(self, X: csr_array, rank: int, chance: np.random.Generator) -> Factors:
        model = self.learn(X, rank, chance)
        # Surprise also draws factors for users and items without a rating, but its estimates leave these out.
        known_user, known_item = np.diff(X.indptr) > 0, np.bincount(X.indices, minlength=X.shape[1]) > 0
        return Factors(
            users=(model.pu * known_user[:, None]).astype(np.float32),
            items=(model.qi * known_item[:, None]).astype(np.float32),
            bias=np.asarray(model.bi, dtype=np.float32),
        )

    def learn(self, X: csr_array, rank: int, chance: np.random.Generator) -> Any:
        """Fit Surprise's own model; its users and items are the rows and columns of X."""
        surprise = load_extra("surprise")
        epochs = check_count(self.epochs, name="epochs")
        top = check_number(self.top, name="top", low=0.0, open_low=True)
        model = surprise.SVD(n_factors=rank, n_epochs=epochs, random_state=int(chance.integers(2**31)))
        model.fit(_trainset(surprise, X, top))
        return model


def _trainset(surprise: Any, X: csr_array, top: float) -> Any:
    """Surprise's table of ratings, made row by row and column by column instead of rating by rating."""
    n, n_items = X.shape
    columns = X.tocsc()
    return surprise.Trainset(
        ur=_lists(X.indptr, X.indices, X.data, top),
        ir=_lists(columns.indptr, columns.indices, columns.data, top),
        n_users=n,
        n_items=n_items,
        n_ratings=X.nnz,
        rating_scale=(0.0, top),
        raw2inner_id_users={user: user for user in range(n)},
        raw2inner_id_items={item: item for item in range(n_items)},
    )


def _lists(
    indptr: NDArray[Any], indices: NDArray[Any], data: NDArray[np.float32], top: float
) -> dict[int, list[tuple[int, float]]]:
    """Row → its (column, rating) pairs, for rows that have any."""
    # Plain numbers: Surprise's loop handles each of them in Python, and NumPy's scalars are slow there.
    pairs = list(zip(indices.tolist(), (data.astype(np.float64) * top).tolist(), strict=True))
    spans = pairwise(indptr.tolist())
    return {row: pairs[start:stop] for row, (start, stop) in enumerate(spans) if stop > start}
