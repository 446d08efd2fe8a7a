"""Where the new rows of a release go: no place in the table tells that a row is new.

Every decision is made user by user, so that a part of a table with complete users gets the same places as the whole.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from attriguard._checks import check_rng
from attriguard.data.public_data import PublicData
from attriguard.data.releases.changes import TableChanges
from attriguard.data.releases.item_order import ItemOrder
from attriguard.data.tables.arrays import plain_type
from attriguard.data.tables.source import SourceTable
from attriguard.errors import ParameterError

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
# Keeps these draws apart from any other use of the same key.
DOMAIN = b"attriguard places 2"


@dataclass(frozen=True, eq=False)
class Chance:
    """What decides where new rows go: a secret key, user by user, or without one a random generator."""

    rng: np.random.Generator
    key: bytes | None = None

    @classmethod
    def of(cls, random_state: int | np.random.Generator | None, key: bytes | str | None) -> Chance:
        """Check what a caller gave: a random state or a key, not both."""
        if key is not None and random_state is not None:
            raise ParameterError("give either a key or a random_state: under a key nothing is left to chance")
        if not isinstance(key, (bytes, str, type(None))):
            raise ParameterError(f"key must be bytes or text, got {type(key).__name__}")
        return cls(check_rng(random_state), key.encode() if isinstance(key, str) else key)

    def draw(self, ids: list[Any], new_rows: Ints, room: Ints) -> tuple[Ints, Ints]:
        """For each new row one of its ``room`` gaps, and a number that orders the new rows within a gap.

        ``ids`` names the users, and ``new_rows`` says how many new rows each of them has, one user after another.
        """
        if self.key is None:
            return self.rng.integers(0, room), self.rng.permutation(room.size)
        prefix = DOMAIN + len(self.key).to_bytes(8, "big") + self.key
        stream = b"".join(
            hashlib.shake_256(prefix + str(user).encode()).digest(16 * count)
            for user, count in zip(ids, new_rows.tolist(), strict=True)
        )
        words = np.frombuffer(stream, dtype="<u8").reshape(-1, 2)
        uniform = (words[:, 0] >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return (uniform * room).astype(np.int64), (words[:, 1] >> np.uint64(1)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class _OwnRows:
    """The table rows of the users who get new rows, user by user; each user's rows are in the table's order."""

    rows: Ints
    users: Ints
    items: Ints
    n_users: int
    table_rows: int

    @classmethod
    def of(cls, source: SourceTable, gets_new: Flags) -> _OwnRows:
        """The rows of the users who get new ones, user by user."""
        mine = np.flatnonzero(gets_new[source.user_of_row])
        users = source.user_of_row[mine]
        if (users[1:] < users[:-1]).any():
            mine = mine[np.argsort(users, kind="stable")]
            users = source.user_of_row[mine]
        return cls(source.rows[mine], users, source.item_of_row[mine], gets_new.size, source.table.num_rows)

    def in_order(self, rank: Ints) -> Flags:
        """For each user: do the user's rows stand in the order of their items' ranks?"""
        of_row = rank[self.items]
        falls = (of_row[1:] <= of_row[:-1]) & (self.users[1:] == self.users[:-1])
        result = np.ones(self.n_users, dtype=np.bool_)
        result[self.users[1:][falls]] = False
        return result

    def all_among(self, of_item: Flags) -> Flags:
        """For each user: are all of the user's items among the flagged ones?"""
        result = np.ones(self.n_users, dtype=np.bool_)
        result[self.users[~of_item[self.items]]] = False
        return result

    def gaps_in_order(self, rank: Ints, chosen: Flags, users: Ints, new_rank: Ints) -> Ints:
        """How many rows of its user come before each new row, for ``chosen`` users, whose rows are in order."""
        width = int(max(rank.max(initial=0), new_rank.max(initial=0))) + 1
        mine = chosen[self.users]
        keys = self.users[mine] * width + rank[self.items[mine]]
        return np.searchsorted(keys, users * width + new_rank) - np.searchsorted(keys, users * width)

    def places(self, users: Ints, gap: Ints) -> NDArray[np.float64]:
        """Right behind the row that a gap follows, or right before the user's first row; row r has place r."""
        count = np.bincount(self.users, minlength=self.n_users)
        start = (np.cumsum(count) - count)[users]
        rows = np.append(self.rows, 0)
        place = np.where(gap == 0, rows[start] - 0.25, rows[start + gap - 1] + 0.25)
        # Users without rows of their own come last, one after another.
        return np.where(count[users] == 0, self.table_rows + users, place)


def place_new_rows(
    data: PublicData, source: SourceTable, changes: TableChanges, items: NDArray[Any], chance: Chance
) -> tuple[TableChanges, NDArray[np.float64]]:
    """The changes with their new rows in the table's order, and a place between table rows for each; row r has place r.

    If a user's rows are sorted by item, a new row goes where that order puts it. Otherwise it goes into a random gap
    before, between or after the user's rows. The new rows of a user without rows come last.
    """
    users, columns = changes.added_users, changes.added_columns
    if users.size == 0:
        return changes, np.empty(0)
    new_rows = np.bincount(users, minlength=data.n_users)
    own = _OwnRows.of(source, new_rows > 0)
    order = ItemOrder(data.items, items)
    gap, within = np.zeros_like(users), np.zeros_like(users)
    left = new_rows > 0
    for by_number, candidates in _orders(source, own, order):
        if not left.any():
            break
        rank, new_rank = order.ranks(by_number=by_number)
        chosen = left & candidates & own.in_order(rank)
        which = np.flatnonzero(chosen[users])
        within[which] = new_rank[columns[which]]
        gap[which] = own.gaps_in_order(rank, chosen, users[which], within[which])
        left &= ~chosen
    which = np.flatnonzero(left[users])
    if which.size:
        # A user's draws go to the new rows in the order of their ids, however the columns are ordered.
        rank = order.ranks(by_number=True)[1]
        which = which[np.argsort(users[which] * rank.size + rank[columns[which]], kind="stable")]
        room = np.bincount(own.users, minlength=data.n_users)[users[which]] + 1
        gap[which], within[which] = chance.draw(data.users[left].tolist(), new_rows[left], room)
    place = own.places(users, gap)
    sequence = _sequence(place, within)
    return changes.with_added(sequence), place[sequence]


def _orders(source: SourceTable, own: _OwnRows, order: ItemOrder) -> list[tuple[bool, Flags]]:
    """The orders that a user's rows may stand in (True: by number), each with the users for whom it is tried.

    The type of the column decides. A CSV file has no types: there, a user whose items are all whole numbers may have
    them in either order.
    """
    everyone = np.ones(own.n_users, dtype=np.bool_)
    if source.csv is not None:
        return [(True, own.all_among(order.is_number)), (False, everyone)]
    return [(not pa.types.is_large_string(plain_type(source.table.column(source.item).type)), everyone)]


def _sequence(place: NDArray[np.float64], within: Ints) -> Ints:
    """The new rows sorted by place, and by ``within`` where several have the same place, which few have."""
    sequence = np.argsort(place, kind="stable")
    same = place[sequence[1:]] == place[sequence[:-1]]
    shared = np.flatnonzero(np.append(same, False) | np.insert(same, 0, False))
    rows = sequence[shared]
    sequence[shared] = rows[np.lexsort((within[rows], place[rows]))]
    return sequence
