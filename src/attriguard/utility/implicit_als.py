"""implicit's alternating least squares, in wide use today: it learns from what was rated and what was not."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from attriguard._checks import check_count, check_number
from attriguard.kernels.threads import n_threads
from attriguard.utility.ranking import Factors
from attriguard.utility.recommenders import Recommender, load_extra


class ImplicitALS(Recommender):
    """Every rated item is liked, the more surely the higher the rating: confidence 1 + α · entry (Hu et al. 2008).

    Parameters
    ----------
    rank
        The length of a user's or an item's vector of factors.
    iterations
        How often users and items are solved for in turn.
    regularization
        The weight of the factors' squared norm, at least 0.
    alpha
        How much more a high rating counts than a low one, above 0.
    random_state
        Seeds the first factors.
    """

    name = "ALS"
    plain_name = "alternating least squares"
    summary = "implicit-feedback matrix factorisation (implicit)"
    needs = ("recsys",)
    packages = ("implicit",)

    def __init__(
        self,
        *,
        rank: int = 50,
        iterations: int = 15,
        regularization: float = 0.01,
        alpha: float = 10.0,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        super().__init__(rank=rank, random_state=random_state)
        self.iterations = iterations
        self.regularization = regularization
        self.alpha = alpha

    def _fit(self, X: csr_array, rank: int, chance: np.random.Generator) -> Factors:
        als = load_extra("implicit.als")
        from threadpoolctl import threadpool_limits

        alpha = check_number(self.alpha, name="alpha", low=0.0, open_low=True)
        confidence = csr_matrix((1 + np.float32(alpha) * X.data, X.indices, X.indptr), shape=X.shape)
        # implicit's threads call BLAS. With more than one thread in each call they would compete for the cores.
        with threadpool_limits(1, "blas"):
            model = als.AlternatingLeastSquares(
                factors=rank,
                regularization=check_number(self.regularization, name="regularization", low=0.0),
                iterations=check_count(self.iterations, name="iterations"),
                num_threads=n_threads(),
                random_state=chance,
            )
            model.fit(confidence, show_progress=False)
        return Factors(
            users=np.asarray(model.user_factors),
            items=np.asarray(model.item_factors),
            bias=np.zeros(X.shape[1], dtype=np.float32),
        )
