"""Recommenders by matrix factorisation, behind one base class. Those of other packages come with the extra `recsys`."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from attriguard._checks import check_choice, check_count, check_matrix, check_rng
from attriguard.errors import DataError, MissingExtraError
from attriguard.utility.ranking import Factors

RECOMMENDERS: dict[str, tuple[str, str]] = {
    "SVD": ("attriguard.utility.surprise_svd", "SurpriseSVD"),
    "ALS": ("attriguard.utility.implicit_als", "ImplicitALS"),
    "PureSVD": ("attriguard.utility.recommenders", "PureSVD"),
}


class Recommender(ABC):
    """Learns factors from everybody's ratings; a recommender writes `_fit`."""

    name: ClassVar[str]
    summary: ClassVar[str]  # for tables: what it is, in a few words
    packages: ClassVar[tuple[str, ...]] = ()  # of the extra `recsys` that it needs

    def __init__(self, *, rank: int = 100, random_state: int | np.random.Generator | None = None) -> None:
        self.rank = rank
        self.random_state = random_state

    def fit(self, X: csr_array) -> Factors:
        """The factors of all users and items. The same seed gives the same factors."""
        X = check_matrix(X)
        if not X.nnz:
            raise DataError("a recommender learns from ratings, but X has none")
        rank = check_count(self.rank, name="rank")
        return self._fit(X, rank, check_rng(self.random_state))

    @abstractmethod
    def _fit(self, X: csr_array, rank: int, chance: np.random.Generator) -> Factors:
        """Learn from entries in [0, 1], 0 being "not rated"."""


class PureSVD(Recommender):
    """The truncated singular value decomposition X ≈ X V Vᵀ, unrated items counting as 0 (Cremonesi et al. 2010)."""

    name = "PureSVD"
    summary = "truncated SVD of the ratings, unrated items as zeros"

    def __init__(self, *, rank: int = 50, random_state: int | np.random.Generator | None = None) -> None:
        super().__init__(rank=rank, random_state=random_state)

    def _fit(self, X: csr_array, rank: int, chance: np.random.Generator) -> Factors:
        from scipy.sparse.linalg import svds

        rank, smaller = min(rank, min(X.shape) - 1), min(X.shape)
        if rank < 1:
            raise DataError(f"PureSVD needs at least two users and two items, got shape {X.shape}")
        # A start of its own: the one that the solver would draw comes from a global generator.
        start = chance.standard_normal(smaller)
        _, _, V = svds(X.astype(np.float64), k=rank, v0=start, return_singular_vectors="vh")
        items = np.ascontiguousarray(V.T, dtype=np.float32)
        return Factors(users=np.asarray(X @ items), items=items, bias=np.zeros(X.shape[1], dtype=np.float32))


def get(name: str, **options: Any) -> Recommender:
    """A recommender by its name: SVD (Surprise's, the paper's), ALS (implicit's) or PureSVD (no extra needed)."""
    module, cls = RECOMMENDERS[check_choice(name, RECOMMENDERS, name="recommender")]
    return getattr(importlib.import_module(module), cls)(**options)


def load_extra(name: str) -> ModuleType:
    """A package of the extra `recsys`, loaded on first use."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtraError(
            "the recommenders SVD and ALS need the extra 'recsys': pip install 'attriguard[recsys]'"
        ) from error
