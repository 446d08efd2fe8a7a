"""What the ledger holds: for each user and item the rating that the user had, and the one that was told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from attriguard.errors import DataError

NUMBERS = {"user": pa.uint64(), "own": pa.int32(), "told": pa.int32(), "draw": pa.int32(), "release": pa.int32()}
# What can have happened to a rating, and which of these count as changes.
KEPT, HIDDEN, ADDED, CHANGED = "kept", "hidden", "added", "changed"


@dataclass(frozen=True, eq=False)
class Entries:
    """Ratings by user, those of later releases behind those of earlier ones; all arrays have an element each.

    Ratings are levels of the scale. ``own`` is 0 where the user had none (the rating was added), and ``told`` is 0
    where it was not told (the user's rating is hidden).
    """

    user: NDArray[np.uint64]  # keyed hashes, rising
    item: NDArray[np.int32]  # positions in ``names``
    own: NDArray[np.int32]
    told: NDArray[np.int32]
    draw: NDArray[np.int32]  # which of the plan's candidates the user got; -1 where nothing was planned
    release: NDArray[np.int32]  # the number of the release that told it first, or anew
    names: NDArray[Any]  # the ids of items, as text

    @classmethod
    def of_arrow(cls, tables: Sequence[pa.Table]) -> Entries:
        """What `to_arrow` gave for one release after the other."""
        if not tables:
            tables = [_table({name: np.empty(0) for name in NUMBERS}, np.empty(0, dtype=np.int32), np.empty(0, object))]
        whole = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
        items = whole.column("item").combine_chunks()
        items = items.chunk(0) if isinstance(items, pa.ChunkedArray) else items
        numbers = {name: whole.column(name).to_numpy() for name in NUMBERS}
        codes, names = items.indices.to_numpy(), items.dictionary.to_numpy(zero_copy_only=False)
        if len(tables) == 1 and (numbers["user"][1:] >= numbers["user"][:-1]).all():
            return cls(**numbers, item=codes, names=names)
        order = _by_user(numbers["user"])
        return cls(**{name: numbers[name][order] for name in NUMBERS}, item=codes[order], names=names)

    def to_arrow(self) -> pa.Table:
        """The entries as a table, sorted by user."""
        order = _by_user(self.user)
        return _table({name: getattr(self, name)[order] for name in NUMBERS}, self.item[order], self.names)

    @property
    def size(self) -> int:
        """How many there are."""
        return int(self.user.size)

    def take(self, which: NDArray[Any]) -> Entries:
        """Some of them: a mask or positions."""
        arrays = {each.name: getattr(self, each.name)[which] for each in fields(self) if each.name != "names"}
        return Entries(**arrays, names=self.names)

    def ranges(self, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the entries of each of these users begin and end."""
        order = np.argsort(hashes)  # neighbours are looked up one after the other
        first, end = np.empty((2, hashes.size), dtype=np.int64)
        first[order] = np.searchsorted(self.user, hashes[order], side="left")
        end[order] = np.searchsorted(self.user, hashes[order], side="right")
        return first, end

    def of_users(self, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of these users' entries, user by user, and for each the user's position among the hashes."""
        first, end = self.ranges(hashes)
        count = end - first
        row = np.repeat(np.arange(hashes.size), count)
        place = np.repeat(first - (np.cumsum(count) - count), count)
        place += np.arange(row.size)
        return place, row

    def latest(self) -> Entries:
        """Of several entries for a user's item, the last release's."""
        order = np.lexsort((self.release, self.item, self.user))
        user, item = self.user[order], self.item[order]
        return self.take(order[np.append((user[1:] != user[:-1]) | (item[1:] != item[:-1]), True)[: self.size]])

    def counts(self) -> dict[str, int]:
        """How many ratings were kept, hidden, added and changed."""
        own, told = self.own > 0, self.told > 0
        changed = int((own & told & (self.own != self.told)).sum())
        kept = int((own & told).sum()) - changed
        return {KEPT: kept, HIDDEN: int((~told).sum()), ADDED: int((~own).sum()), CHANGED: changed}

    def broken(self) -> str | None:
        """What no ledger can hold; None where everything is in order."""
        if ((self.own <= 0) & (self.told <= 0)).any() or (self.own < 0).any() or (self.told < 0).any():
            return "ratings that are neither the user's nor told"
        if (self.user[1:] < self.user[:-1]).any():
            return "users out of their order"
        if self.item.size and not 0 <= self.item.min() <= self.item.max() < self.names.size:
            return "items without a name"
        order = np.lexsort((self.release, self.item, self.user))
        again = (self.user[order][1:] == self.user[order][:-1]) & (self.item[order][1:] == self.item[order][:-1])
        before, after = self.take(order[:-1][again]), self.take(order[1:][again])
        # Only a rating that was told as it was can be told anew, as the user rates it now.
        if ((before.own != before.told) | (after.own != after.told)).any():
            return "a rating that was hidden, added or changed, and told in another way later"
        return None


def _by_user(user: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The order that sorts entries by user, those of a user as they stand; they mostly stand together already."""
    start = np.flatnonzero(np.append(True, user[1:] != user[:-1])[: user.size])
    length = np.diff(np.append(start, user.size))
    runs = np.argsort(user[start], kind="stable")
    start, length = start[runs], length[runs]
    return np.repeat(start - (np.cumsum(length) - length), length) + np.arange(user.size)


def _table(numbers: dict[str, NDArray[Any]], codes: NDArray[np.int32], names: NDArray[Any]) -> pa.Table:
    items = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(names.tolist(), pa.string()))
    arrays = {name: pa.array(numbers[name].astype(kind.to_pandas_dtype())) for name, kind in NUMBERS.items()}
    return pa.table({"user": arrays["user"], "item": items} | arrays)


def check_table(table: pa.Table) -> pa.Table:
    """A table with the columns of a ledger; any other is refused."""
    wanted = {**NUMBERS, "item": pa.dictionary(pa.int32(), pa.string())}
    if {name: table.schema.field(name).type for name in table.column_names} != wanted or any(
        column.null_count for column in table.columns
    ):
        raise DataError("the columns are not those of a ledger")
    return table
