"""Edits: what Phase I found. A ragged array that holds, for each (user, value), items and their new values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.kernels.rows import merged
from attriguard.noise.costs import Cost, get_cost


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Edits:
    """The representative noise r_i of every user for every value.

    The edits of (user u, value i) stand at ``indptr[u·m + i]`` to ``indptr[u·m + i + 1]`` in ``items`` (sorted) and
    ``values`` (the entry's new value, 0 where it is removed). Where ``success`` is false there are no edits and the
    cost is 0: such a value is never drawn.
    """

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    values: NDArray[np.float32]
    cost: NDArray[np.float64]
    success: NDArray[np.bool_]
    extended: NDArray[np.bool_]
    bound: NDArray[np.float64] | None = None  # of an exact search: no noise costs less than this

    def __repr__(self) -> str:
        return f"Edits({self.n_users:,} users × {self.m} candidates, {self.items.size:,} edits)"

    @property
    def n_users(self) -> int:
        """The number of users."""
        return self.success.shape[0]

    @property
    def m(self) -> int:
        """The number of candidates a user has: the values, or the numbers of changes."""
        return self.success.shape[1]

    @property
    def costs_in_reach(self) -> NDArray[np.float64]:
        """The costs, infinite where a value was not reached."""
        return np.where(self.success, self.cost, np.inf)

    def of(self, user: int, value: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Items and their new values for one user and one value."""
        pair = user * self.m + value
        span = slice(self.indptr[pair], self.indptr[pair + 1])
        return self.items[span], self.values[span]

    def apply(self, X: csr_array, choice: NDArray[np.int64]) -> csr_array:
        """x + r_i: the data of all users, each with the noise for the value chosen for that user."""
        pair = np.arange(self.n_users, dtype=np.int64) * self.m + choice
        return merged(X, (self.indptr, self.items, self.values), pair)

    def with_cost(self, cost: str | Cost, X: csr_array) -> Edits:
        """The same noise measured by another norm, "l0" or "l2"; X is the data that the noise was found for."""
        return replace(self, cost=get_cost(cost).of(self, X))

    def take(self, users: NDArray[np.int64]) -> Edits:
        """The edits of some users, in this order."""
        lengths = np.diff(self.indptr).reshape(-1, self.m)[users].ravel()
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        start = self.indptr[:-1].reshape(-1, self.m)[users].ravel()
        place = np.arange(indptr[-1]) + np.repeat(start - indptr[:-1], lengths)
        return replace(
            self,
            indptr=indptr,
            items=self.items[place],
            values=self.values[place],
            cost=self.cost[users],
            success=self.success[users],
            extended=self.extended[users],
            bound=None if self.bound is None else self.bound[users],
        )

    def widened(self, m: int) -> Edits:
        """The same with more candidates a user; the new ones are out of reach."""
        more = m - self.m
        if not more:
            return self
        lengths = np.pad(np.diff(self.indptr).reshape(-1, self.m), ((0, 0), (0, more)))

        def wide(array: NDArray[Any], filling: Any) -> NDArray[Any]:
            return np.pad(array, ((0, 0), (0, more)), constant_values=filling)

        return replace(
            self,
            indptr=np.concatenate([[0], np.cumsum(lengths.ravel())]).astype(np.int64),
            cost=wide(self.cost, 0.0),
            success=wide(self.success, False),
            extended=wide(self.extended, False),
            bound=None if self.bound is None else wide(self.bound, np.inf),
        )

    def at_most(self, most: int | NDArray[np.int64]) -> Edits:
        """The same without the candidates that make more than ``most`` changes, one number or one a user.

        These are out of reach.
        """
        lengths = np.diff(self.indptr)
        kept = lengths <= (most if np.ndim(most) == 0 else np.repeat(most, self.m))
        far = ~kept.reshape(self.success.shape)
        return replace(
            self,
            indptr=np.concatenate([[0], np.cumsum(np.where(kept, lengths, 0))]).astype(np.int64),
            items=self.items[np.repeat(kept, lengths)],
            values=self.values[np.repeat(kept, lengths)],
            cost=np.where(far, 0.0, self.cost),
            success=self.success & ~far,
            extended=self.extended & ~far,
        )

    @classmethod
    def joined(cls, parts: Sequence[Edits]) -> Edits:
        """The edits of consecutive blocks of users as one; at least one block."""
        lengths = np.concatenate([np.diff(part.indptr) for part in parts])
        bounds = [part.bound for part in parts if part.bound is not None]  # kept where every part has one
        return cls(
            indptr=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            items=np.concatenate([part.items for part in parts]),
            values=np.concatenate([part.values for part in parts]),
            cost=np.concatenate([part.cost for part in parts]),
            success=np.concatenate([part.success for part in parts]),
            extended=np.concatenate([part.extended for part in parts]),
            bound=np.concatenate(bounds) if len(bounds) == len(parts) else None,
        )
