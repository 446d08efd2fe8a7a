"""Recommenders by matrix factorisation, behind one base class. Those of other packages come with the extra `recsys`."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from types import ModuleType
from typing import ClassVar, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, clone

from attriguard._checks import check_count, check_matrix, check_rng
from attriguard.errors import DataError, MissingExtraError
from attriguard.utility.ranking import Factors

# Items recommended, at which `score` measures the precision.
SCORED_ITEMS = 10


class Recommender(BaseEstimator, ABC):
    """Learns factors from everybody's ratings: a scikit-learn estimator. A recommender writes `_fit`.

    Parameters
    ----------
    rank
        The length of a user's or an item's vector of factors.
    random_state
        A seed, a generator, or None for the operating system's randomness. The same seed gives the same factors.

    Attributes
    ----------
    factors_
        What `fit` has learnt (`Factors`).
    """

    name: ClassVar[str]
    plain_name: ClassVar[str] = ""  # for readers who do not know the paper's names; "": use the name
    summary: ClassVar[str]  # for tables: what it is, in a few words
    needs: ClassVar[tuple[str, ...]] = ()  # extras that must be installed
    packages: ClassVar[tuple[str, ...]] = ()  # packages of those extras that it imports

    factors_: Factors

    def __init__(self, *, rank: int = 100, random_state: int | np.random.Generator | None = None) -> None:
        self.rank = rank
        self.random_state = random_state

    def fit(self, X: csr_array, y: object = None) -> Self:
        """Learn the factors of all users and items.

        Parameters
        ----------
        X
            Everybody's ratings: users × items, entries in [0, 1], 0 being "not rated".
        y
            Ignored; scikit-learn passes it.
        """
        X = check_matrix(X)
        if not X.nnz:
            raise DataError("a recommender learns from ratings, but X has none")
        rank = check_count(self.rank, name="rank")
        self.factors_ = self._fit(X, rank, check_rng(self.random_state))
        return self

    def score(self, X: csr_array, y: object = None) -> float:
        """The precision for users X: of their held-out ratings, how many are among the first items recommended.

        A recommender knows no user whom it did not learn from, so a copy with the same options learns from X without
        the held-out ratings. With this, scikit-learn's model selection compares options on any users.
        """
        from attriguard.utility.holdout import hold_out
        from attriguard.utility.recommendation import precision

        held = hold_out(X, random_state=self.random_state)
        found = precision(clone(self), held.X, held, ns=[min(SCORED_ITEMS, held.X.shape[1])])
        return float(found.mean()[0])

    @abstractmethod
    def _fit(self, X: csr_array, rank: int, chance: np.random.Generator) -> Factors:
        """Learn from checked ratings; ``chance`` is the only source of randomness."""


class PureSVD(Recommender):
    """The truncated singular value decomposition X ≈ X V Vᵀ, unrated items counting as 0 (Cremonesi et al. 2010).

    Parameters
    ----------
    rank
        How many singular vectors are kept; fewer where the data has fewer users or items.
    random_state
        Seeds the start of the solver.
    """

    name = "PureSVD"
    plain_name = "truncated SVD"
    summary = "truncated SVD of the ratings, unrated items as zeros"

    def __init__(self, *, rank: int = 50, random_state: int | np.random.Generator | None = None) -> None:
        super().__init__(rank=rank, random_state=random_state)

    def _fit(self, X: csr_array, rank: int, chance: np.random.Generator) -> Factors:
        from scipy.sparse.linalg import svds

        rank, smaller = min(rank, min(X.shape) - 1), min(X.shape)
        if rank < 1:
            raise DataError(f"PureSVD needs at least two users and two items, got shape {X.shape}")
        # Without a start, the solver would draw one from NumPy's global generator.
        start = chance.standard_normal(smaller)
        _, _, V = svds(X.astype(np.float64), k=rank, v0=start, return_singular_vectors="vh")
        items = np.ascontiguousarray(V.T, dtype=np.float32)
        return Factors(users=np.asarray(X @ items), items=items, bias=np.zeros(X.shape[1], dtype=np.float32))


def load_extra(name: str) -> ModuleType:
    """Import a package of the extra `recsys`; where it is missing, the error names the extra."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtraError(
            "the recommenders SVD and ALS need the extra 'recsys': pip install 'attriguard[recsys]'"
        ) from error
