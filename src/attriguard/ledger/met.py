"""A table met with the ledger: users of whom nothing is new are told what they were told, the others have a standing.

In most releases most users are as the last one left them. They are known by a sum over their ratings, with a random
factor for each item, drawn anew each time: that of the table is that of the ledger, or something is new. (Two different
sets of ratings have the same sum with a chance below 2^-50.) What such a user is told is the table's row with the
changes that the ledger has; their other entries need not be looked at one by one.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from attriguard._checks import check_matrix
from attriguard.data.public_data import PublicData
from attriguard.data.releases.told import Earlier, ToldRows
from attriguard.data.tables.ids import lookup
from attriguard.data.tables.source import plain_source
from attriguard.kernels.rows import merged
from attriguard.kernels.threads import over_users
from attriguard.ledger.entries import Entries
from attriguard.ledger.standing import Standing, columns_of, stand

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Met:
    """The users of a table, whose hashes are given, and what the ledger has of them.

    Columns are ``items``: first the guard's, then the others of the table and of the ledger.
    """

    data: PublicData
    guard_items: NDArray[Any]
    entries: Entries
    hashes: NDArray[np.uint64]
    told_rows: tuple[ToldRows, ...] = ()  # the other cells of rows that were added before

    @cached_property
    def items(self) -> NDArray[Any]:
        """The ids of the columns."""
        return columns_of(self.data, self.guard_items, self.entries)

    @property
    def n_known(self) -> int:
        """How many columns the guard knows: the first ones."""
        return int(self.guard_items.size)

    @cached_property
    def _column(self) -> tuple[Ints, Ints]:
        """The column of each of the table's items, and of each of the ledger's."""
        names = self.entries.names
        return lookup(self.data.items, self.items), lookup(names, self.items) if names.size else np.empty(0, np.int64)

    @cached_property
    def _ranges(self) -> tuple[Ints, Ints]:
        """For each user, where the entries begin and end."""
        return self.entries.ranges(self.hashes)

    @cached_property
    def unchanged(self) -> NDArray[np.bool_]:
        """Which users have the very ratings that the ledger has of them."""
        (first, end), (column, old_column) = self._ranges, self._column
        if not (end > first).any():
            return np.zeros(self.hashes.size, dtype=np.bool_)
        factor = np.frombuffer(secrets.token_bytes(8 * self.items.size), dtype=np.uint64)
        X, entries = self.data.X, self.entries
        level = np.rint(X.data * np.float32(self.data.scale.levels)).astype(np.int32)
        indptr = X.indptr.astype(np.int64)
        now = _sums(factor[column], X.indices, level, indptr[:-1], indptr[1:])
        then = _sums(factor[old_column], entries.item, entries.own, first, end)
        return (now == then) & (end > first)

    @cached_property
    def rows(self) -> Ints:
        """The other users, as rows of the table."""
        return np.flatnonzero(~self.unchanged)

    @cached_property
    def standing(self) -> Standing:
        """That of the other users."""
        if self.rows.size == self.hashes.size:
            return self._whole
        data, rows = self.data, self.rows
        some = replace(data, X=data.X[rows], users=data.users[rows], y=data.y[rows], test_mask=None, source=None)
        return stand(some, self.guard_items, self.entries, self.hashes[rows])

    @cached_property
    def _whole(self) -> Standing:
        return stand(self.data, self.guard_items, self.entries, self.hashes)

    @cached_property
    def _again(self) -> csr_array:
        """Everybody's rows with the ledger's changes: what the users of whom nothing is new are told."""
        (column, old_column), entries = self._column, self.entries
        X, width = self.data.X, self.items.size
        table = csr_array((X.data, column.astype(np.int32)[X.indices], X.indptr), shape=(X.shape[0], width))
        table = check_matrix(table)
        changed, owner = self._of_table(np.flatnonzero(entries.own != entries.told))
        mine = self.unchanged[owner]
        changed, owner = changed[mine], owner[mine]
        key = owner * width + old_column[entries.item[changed]]
        place = np.argsort(key, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=X.shape[0]))])
        told = (entries.told[changed][place] / self.data.scale.levels).astype(np.float32)
        edits = indptr.astype(np.int64), (key[place] % width).astype(np.int32), told
        return merged(table, edits, np.arange(X.shape[0], dtype=np.int64))

    def _of_table(self, places: Ints) -> tuple[Ints, Ints]:
        """Of some entries those of the table's users, and whose each is."""
        first, end = self._ranges
        order = np.argsort(first, kind="stable")
        order = order[end[order] > first[order]]
        if not order.size:
            return places[:0], places[:0]
        owner = order[np.maximum(np.searchsorted(first[order], places, side="right") - 1, 0)]
        mine = (places >= first[owner]) & (places < end[owner])
        return places[mine], owner[mine]

    @cached_property
    def news(self) -> Ints:
        """The users whom something has to be planned for."""
        return self.rows[self.standing.news]

    @cached_property
    def has_past(self) -> NDArray[np.bool_]:
        """Which users an earlier release had."""
        first, end = self._ranges
        return end > first

    @property
    def spent(self) -> Ints:
        """How many changes each of the users with news has had so far."""
        return self.standing.spent[self.standing.news]

    @property
    def known(self) -> csr_array:
        """What is planned for."""
        return self.standing.known

    @property
    def own(self) -> csr_array:
        """What would be planned for if no release had changed anything."""
        return self.standing.own

    def locked(self, more: csr_array | None) -> csr_array:
        """What no search may touch of the users with news."""
        return self.standing.locked(None if more is None else more[self.rows])

    def released(self, found: csr_array) -> csr_array:
        """What is published of everybody, given what was found for the users with news."""
        moved, n = self.standing.released(found), self.hashes.size
        if self.rows.size == n:
            return moved
        place = np.arange(n)
        place[self.rows] = n + np.arange(self.rows.size)
        return vstack([self._again, moved], format="csr")[place]

    def told_now(self, released: csr_array, draws: Ints, number: int) -> tuple[Ints, Entries]:
        """What a release adds to the ledger: each entry's user, as a row, and the entries without their users."""
        mine = released if self.rows.size == self.hashes.size else released[self.rows]
        row, entries = self.standing.told_now(mine, draws[self.rows], number)
        return self.rows[row], entries

    def earlier(self) -> Earlier | None:
        """What the past means for rows that a release adds to the table; None where there is none."""
        if not self.has_past.any():
            return None
        source = (self.data.source or plain_source(self.data)).compact()
        if not source.other_columns and source.rows.size == self.data.X.nnz:
            return Earlier()  # a row is its user, item and rating: nothing else can tell it from what came before
        users, columns = source.user_of_row, self._column[0][source.item_of_row]
        return Earlier(self.told_rows, ~self.has(users, columns), self._away(users, columns))

    def _away(self, users: Ints, columns: Ints) -> NDArray[np.bool_]:
        """Which of these users' items were hidden or added: no row of the table may show them."""
        entries, width = self.entries, self.items.size
        fixed, owner = self._of_table(np.flatnonzero((entries.own == 0) | (entries.told == 0)))
        return np.isin(users * width + columns, owner * width + self._column[1][entries.item[fixed]])

    def has(self, users: Ints, columns: Ints) -> NDArray[np.bool_]:
        """Whether the ledger has something of these users' items; a user of whom nothing is new has nothing else."""
        row = np.full(self.hashes.size, -1, dtype=np.int64)
        row[self.rows] = np.arange(self.rows.size)
        found, moving = np.ones(users.size, dtype=np.bool_), np.flatnonzero(row[users] >= 0)
        key = row[users[moving]] * self.items.size + columns[moving]
        found[moving] = self.standing.past.find(key) >= 0
        return found

    def history(self, number: int, most: int) -> list[csr_array]:
        """What each of the last releases told everybody, up to that of this number: see `Standing.history`."""
        return self._whole.history(number, most)


def _sums(
    factor: NDArray[np.uint64], index: NDArray[np.int32], number: NDArray[np.int32], first: Ints, end: Ints
) -> NDArray[np.uint64]:
    """Of each range the sum of its numbers, each times the factor of its index."""
    from attriguard.kernels.entries import sum_ranges

    sums, given = np.empty(first.size, dtype=np.uint64), (factor, index, number, first, end)
    over_users(first.size, lambda start, stop: sum_ranges(*given, start, stop, sums))
    return sums
