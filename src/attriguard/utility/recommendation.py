"""Recommendation precision before and after protection (section 5.2, "Utility loss for recommender systems").

Of every user 5 rated items are held out. A recommender learns from the rest of everybody's ratings and ranks the items
that a user has not rated; the precision at N is the share of the first N that were held out. Held-out ratings are gone
before anyone is protected. The recommender sees the release and nothing else: an item that the noise added counts as
rated and is not recommended, even if it was held out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, vstack

from attriguard._checks import check_matrix
from attriguard.errors import DataError, ParameterError
from attriguard.utility.holdout import HELD_OUT, HeldOut, hold_out
from attriguard.utility.ranking import top_items
from attriguard.utility.recommenders import Recommender

# N of the paper's figure.
NS = tuple(range(1, 51))


@dataclass(frozen=True, eq=False, kw_only=True)
class Precision:
    """How many of the first N recommended items were held out, user by user."""

    ns: NDArray[np.int64]
    users: NDArray[np.int64]  # (k,): rows that were tested
    hits: NDArray[np.int64]  # (k, len(ns))
    ndcg: NDArray[np.float64]  # (k, len(ns)): hits count more the further up they stand; 1 is the best order
    coverage: NDArray[np.float64]  # (len(ns),): the share of all items that somebody is recommended

    def mean(self, rows: ArrayLike | None = None) -> NDArray[np.float64]:
        """(len(ns),): the precision averaged over all tested users, or over those among ``rows``."""
        return np.asarray(self.hits[self._tested(rows)].mean(axis=0) / self.ns)

    def mean_ndcg(self, rows: ArrayLike | None = None) -> NDArray[np.float64]:
        """(len(ns),): the NDCG averaged over all tested users, or over those among ``rows``."""
        return np.asarray(self.ndcg[self._tested(rows)].mean(axis=0))

    def _tested(self, rows: ArrayLike | None) -> NDArray[np.bool_]:
        chosen = np.ones(self.users.size, bool) if rows is None else np.isin(self.users, np.asarray(rows))
        if not chosen.any():
            raise DataError("none of these users was tested: nobody among them has enough ratings")
        return chosen


def precision(recommender: Recommender, X_seen: csr_array, held_out: HeldOut, *, ns: Sequence[int] = NS) -> Precision:
    """How many held-out items a recommender finds that learns from ``X_seen``."""
    wanted = _check_ns(ns)
    X_seen = check_matrix(X_seen, name="X_seen", n_items=held_out.X.shape[1])
    if X_seen.shape != held_out.X.shape:
        raise DataError(
            f"X_seen must have a row for each of the {held_out.X.shape[0]:,} users, got {X_seen.shape[0]:,}"
        )
    if wanted[-1] > X_seen.shape[1]:
        raise ParameterError(f"{wanted[-1]} items cannot be recommended: there are only {X_seen.shape[1]:,}; lower ns")
    best = top_items(recommender.fit(X_seen).factors_, X_seen, held_out.users, int(wanted[-1]))
    found = (best[:, :, None] == held_out.items[:, None, :]).any(axis=2)
    hits = np.cumsum(found, axis=1)[:, wanted - 1]
    return Precision(
        ns=wanted,
        users=held_out.users,
        hits=hits,
        ndcg=_ndcg(found, held_out.items.shape[1])[:, wanted - 1],
        coverage=_coverage(best, X_seen.shape[1])[wanted - 1],
    )


def _ndcg(found: NDArray[np.bool_], wanted: int) -> NDArray[np.float64]:
    """(k, N): for lists of 1 … N items, Σ 1 / log2(1 + place) over the hits, divided by the best that can be."""
    worth = 1.0 / np.log2(np.arange(2, found.shape[1] + 2))
    ideal = np.cumsum(np.where(np.arange(worth.size) < wanted, worth, 0.0))
    return np.asarray(np.cumsum(found * worth, axis=1) / ideal)


def _coverage(best: NDArray[np.int64], n_items: int) -> NDArray[np.float64]:
    """(N,): for lists of 1 … N items, the share of all items that are in one of them."""
    first = np.full(n_items, best.shape[1])  # the best place that each item has in any list
    for place in range(best.shape[1] - 1, -1, -1):
        column = best[:, place]
        first[column[column >= 0]] = place
    return np.cumsum(np.bincount(first, minlength=best.shape[1])[: best.shape[1]]) / n_items


def relative_loss(before: ArrayLike, after: ArrayLike) -> NDArray[np.float64]:
    """(Pre1 - Pre2) / Pre1, below 0 where precision rises; NaN where nothing was found before.

    The paper prints |Pre1 - Pre2|, which would show a gain as a loss.
    """
    first, second = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    defined = first > 0
    return np.where(defined, (first - second) / np.where(defined, first, 1.0), np.nan)


@dataclass(frozen=True, eq=False, kw_only=True)
class Loss:
    """Precision, NDCG and coverage before and after, and what was lost of the precision.

    The precision is averaged over all users, and over the protected ones alone.
    """

    ns: NDArray[np.int64]
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    before_protected: NDArray[np.float64]
    after_protected: NDArray[np.float64]
    ndcg_before: NDArray[np.float64]  # over the protected users
    ndcg_after: NDArray[np.float64]
    coverage_before: NDArray[np.float64]  # the share of all items that somebody is recommended
    coverage_after: NDArray[np.float64]
    blocked: int  # held-out items of protected users that the noise added: they cannot be recommended any more

    @property
    def relative(self) -> NDArray[np.float64]:
        """The share of the precision that is lost over all users, as in the paper."""
        return relative_loss(self.before, self.after)

    @property
    def relative_protected(self) -> NDArray[np.float64]:
        """The same over the protected users only, where no unprotected user hides the loss."""
        return relative_loss(self.before_protected, self.after_protected)


class RecommendationTest:
    """One hold-out and one model before protection, for any number of defenses.

    A defense protects ``X_protected``; `loss` takes its release.

    Parameters
    ----------
    X
        Everybody's ratings, those of the training users and of the test users.
    protected
        The rows that a defense will change (the test users): their numbers, or a mask over all rows.
    recommender
        What learns from the ratings left, before and after protection.
    n
        How many rated items of each user are held out.
    ns
        The lengths of the lists of recommended items at which the precision is measured.
    random_state
        Seeds the draw of the held-out items.
    """

    def __init__(
        self,
        X: csr_array,
        protected: ArrayLike,
        recommender: Recommender,
        *,
        n: int = HELD_OUT,
        ns: Sequence[int] = NS,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.held_out = hold_out(X, n, random_state)
        self.rows = _check_rows(protected, self.held_out.X.shape[0])
        self.X_protected: csr_array = self.held_out.X[self.rows]
        self.recommender = recommender
        self.before = precision(recommender, self.held_out.X, self.held_out, ns=ns)

    @property
    def left_out(self) -> int:
        """How many users have too few ratings to be tested; the recommender learns from them nevertheless."""
        return self.held_out.left_out

    def loss(self, release: csr_array) -> Loss:
        """What the recommender loses when it learns again from the protected users' released ratings."""
        X_seen = _with_rows(self.held_out.X, self.rows, check_matrix(release, name="the release"))
        after = precision(self.recommender, X_seen, self.held_out, ns=self.before.ns.tolist())
        return Loss(
            ns=self.before.ns,
            before=self.before.mean(),
            after=after.mean(),
            before_protected=self.before.mean(self.rows),
            after_protected=after.mean(self.rows),
            ndcg_before=self.before.mean_ndcg(self.rows),
            ndcg_after=after.mean_ndcg(self.rows),
            coverage_before=self.before.coverage,
            coverage_after=after.coverage,
            blocked=int(self.held_out.taken_by(X_seen).sum()),
        )


def _check_ns(ns: Sequence[int]) -> NDArray[np.int64]:
    wanted = np.asarray(ns)
    if wanted.ndim != 1 or not wanted.size or wanted.dtype.kind not in "iu":
        raise ParameterError(f"ns must be a list of whole numbers, got {ns!r}")
    if wanted[0] < 1 or (np.diff(wanted) <= 0).any():
        raise ParameterError(f"ns must rise and start at 1 or more, got {ns!r}")
    return wanted.astype(np.int64)


def _check_rows(rows: ArrayLike, n_users: int) -> NDArray[np.int64]:
    """Row numbers, or a mask over all rows."""
    given = np.asarray(rows)
    if given.dtype == np.bool_ and given.shape == (n_users,):
        given = np.flatnonzero(given)
    inside = given.ndim == 1 and given.size and given.dtype.kind in "iu" and 0 <= given.min() <= given.max() < n_users
    if not inside or np.unique(given).size != given.size:
        raise ParameterError(f"protected must be different row numbers below {n_users:,}, or a mask over as many rows")
    return given.astype(np.int64)


def _with_rows(X: csr_array, rows: NDArray[np.int64], new: csr_array) -> csr_array:
    """X with these rows replaced."""
    if new.shape != (rows.size, X.shape[1]):
        raise DataError(f"the release must have {rows.size:,} rows (users) and {X.shape[1]:,} items, got {new.shape}")
    source = np.arange(X.shape[0])
    source[rows] = X.shape[0] + np.arange(rows.size)
    return csr_array(vstack([X, new], format="csr"))[source]
