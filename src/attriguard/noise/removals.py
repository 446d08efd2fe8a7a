"""Phase I of the goal "conceal": one change after another, always the one after which the ensemble knows least.

What the ratings say of the user's own value is called leakage, in nats: log(posterior / target) there, and 0 where they
say no more than they shall. The target is a share of the prior. Of a user whose value is not known the leakage is what
is expected of it: Σ belief · max(0, log(posterior / target)), where the belief is the posterior of the user's ratings
before any change.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.classifiers.ensemble import Ensemble
from attriguard.kernels.rows import rows_of
from attriguard.kernels.threads import over_users
from attriguard.noise.constraints import Constraints, check_locked
from attriguard.noise.edits import Edits
from attriguard.progress import Progress, ProgressLike

# At most this many items are tried as additions: those that pull most to each value.
POOL = 200
# Of the removals that may come next, this many are tried out: more leave the same leakage on average. An addition moves
# the leakage too far for its slope to tell how far.
TRIED = 5
# What ratings may say of a value that is not known, as a multiple of its prior: less than 1, since what is missing
# tells, too. Chosen on users that no figure is about (docs/notebook/everyone.md).
GUESSED_SHARE = 0.85
# Users a thread works on at a time.
FEWEST_USERS = 8


@dataclass(frozen=True, eq=False)
class ChangeSequences:
    """Every user's changes in the order in which they are made, at most ``most`` of them.

    Attributes
    ----------
    lengths
        (n,): how many changes each user has; fewer than ``most`` where nothing else may change.
    items, values
        (n, most): the item of each change, and its new value (0 where a rating is removed).
    leakage
        (n, most + 1): the leakage before the first change, and after each.
    """

    lengths: NDArray[np.int64]
    items: NDArray[np.int32]
    values: NDArray[np.float32]
    leakage: NDArray[np.float32]

    @property
    def most(self) -> int:
        """The largest number of changes that was asked for."""
        return int(self.items.shape[1])

    def prefixes(self) -> Edits:
        """Candidate k is the first k changes of a user; it is out of reach where the user has fewer."""
        n, width = self.lengths.size, self.most + 1
        success = np.arange(width) <= self.lengths[:, None]
        lengths = np.where(success, np.arange(width), 0)
        indptr = np.concatenate([[0], np.cumsum(lengths.ravel())])
        items, values = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1], dtype=np.float32)
        for k in range(1, width):
            users = np.flatnonzero(success[:, k])
            order = np.argsort(self.items[users, :k], axis=1)
            place = indptr[users * width + k][:, None] + np.arange(k)
            items[place] = np.take_along_axis(self.items[users, :k], order, axis=1)
            values[place] = np.take_along_axis(self.values[users, :k], order, axis=1)
        cost = lengths.astype(np.float64)
        return Edits(
            indptr=indptr, items=items, values=values, cost=cost, success=success, extended=np.zeros((n, width), bool)
        )

    def gains(self) -> NDArray[np.float32]:
        """(n, most): how much each change lowers the leakage, by the hull: it never rises from one to the next."""
        from attriguard.kernels.hull import hull_gains

        gains = np.empty(self.items.shape, dtype=np.float32)
        over_users(self.lengths.size, lambda start, stop: hull_gains(self.leakage, self.lengths, start, stop, gains))
        return gains

    def at_most(self, most: int | NDArray[np.int64]) -> ChangeSequences:
        """The first ``most`` changes of each user, one number or one a user."""
        return replace(self, lengths=np.minimum(self.lengths, most))

    def of_counts(self, *counts: NDArray[np.int64]) -> Edits:
        """Candidate c makes the first ``counts[c]`` changes of each user, as far as the user has so many."""
        n, lengths = self.lengths.size, np.stack([np.minimum(each, self.lengths) for each in counts], axis=1)
        items = np.empty((n, len(counts), self.most), dtype=np.int32)
        values = np.empty(items.shape, dtype=np.float32)
        chosen = np.arange(self.most) < lengths[:, :, None]
        for c in range(len(counts)):
            # The first changes in the order of their items, the others behind them.
            order = np.argsort(np.where(chosen[:, c], self.items, np.iinfo(np.int32).max), axis=1)
            items[:, c] = np.take_along_axis(self.items, order, axis=1)
            values[:, c] = np.take_along_axis(self.values, order, axis=1)
        return Edits(
            indptr=np.concatenate([[0], np.cumsum(lengths.ravel())]),
            items=items[chosen],
            values=values[chosen],
            cost=lengths.astype(np.float64),
            success=np.ones((n, len(counts)), dtype=np.bool_),
            extended=np.zeros((n, len(counts)), dtype=np.bool_),
        )


@dataclass(frozen=True, eq=False)
class Target:
    """What the ratings of users may say of their values: known ones, or as likely as their own ratings say."""

    codes: NDArray[np.int64] | None = None  # each user's value, -1 where it is not known; None: of nobody
    share: float = 1.0  # of the prior, where the value is known; elsewhere it is GUESSED_SHARE
    own: csr_array | None = None  # the users' own ratings; None: those that are searched

    def of_users(self, users: NDArray[np.int64]) -> Target:
        """The same for some of the users."""
        codes = None if self.codes is None else self.codes[users]
        return replace(self, codes=codes, own=None if self.own is None else self.own[users])


UNKNOWN = Target()


def find_changes(
    ensemble: Ensemble,
    X: csr_array,
    constraints: Constraints,
    most: int,
    *,
    locked: Any = None,
    target: Target = UNKNOWN,
    price: float = -1.0,
    progress: ProgressLike = None,
) -> ChangeSequences:
    """At most ``most`` changes for each user, in the order in which they lower the leakage fastest.

    The changes are removals where the policy lets existing ratings change, and additions where it does not. ``locked``
    marks entries that must not change, user by user. A user gets no more changes once no larger number of them can be
    worth ``price`` nats each; so the numbers that are best at this price, or at a higher one, are found as without it.
    Of all removals, the few that promise most by the slope of the leakage are tried out.
    """
    fixed, (indptr, indices, data) = check_locked(locked, X), rows_of(X)
    n = X.shape[0]
    modify, upper = constraints.policy.modify, constraints.upper
    free = np.full(indices.size, modify) & (upper[indices] >= 0)
    pool = np.empty(0, dtype=np.int32) if modify else addition_pool(ensemble, constraints)
    given = (indptr, indices, data, free.astype(np.uint8), pool, upper[pool].astype(np.float32))
    truth = np.empty(0, dtype=np.int64) if target.codes is None else target.codes.astype(np.int64)
    model, shares = (*ensemble.net, ensemble.prior, truth), (target.share, GUESSED_SHARE)
    tried = TRIED if modify else max(pool.size, 1)
    result = ChangeSequences(
        np.zeros(n, dtype=np.int64),
        np.zeros((n, most), dtype=np.int32),
        np.zeros((n, most), dtype=np.float32),
        np.zeros((n, most + 1), dtype=np.float32),
    )
    out = (result.lengths, result.items, result.values, result.leakage)
    held = rows_of(fixed)[:2]
    own = rows_of(csr_array((0, X.shape[1]), dtype=np.float32) if target.own is None else target.own)

    def work(start: int, stop: int) -> None:
        from attriguard.kernels.conceal import conceal_rows

        conceal_rows(*given, *held, *own, *model, *shares, tried, price, start, stop, *out)

    progress = Progress.of(progress)
    count = None if progress.quiet else progress.counter(n, "looking for what tells most")
    over_users(n, work, smallest=FEWEST_USERS, count=count)
    return result


def addition_pool(ensemble: Ensemble, constraints: Constraints) -> NDArray[np.int32]:
    """The items that may be added and pull most to each value; the pull is a product of weights, without the ReLUs."""
    addable = np.flatnonzero(constraints.upper > 0).astype(np.int32)
    if addable.size <= POOL:
        return addable
    counts = np.repeat(ensemble.shares, np.diff(ensemble.ends))
    pull = (ensemble.W1[addable] @ (ensemble.W2_rows * counts).T) * constraints.upper[addable, None]
    pull -= pull.mean(axis=1, keepdims=True)
    each = max(1, POOL // ensemble.m)
    best = np.argsort(-pull, axis=0, kind="stable")[:each]
    return np.unique(addable[best])
