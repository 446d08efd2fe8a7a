"""Blocks of complete users: a table in batches of any size, cut anew between users."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from attriguard.data.tables.arrays import plain_array
from attriguard.errors import DataError


def complete_users(
    batches: Iterable[pa.RecordBatch | pa.Table], user_column: str | int, *, trim: bool = False
) -> Iterator[pa.Table]:
    """Cut batches anew, so that no user's rows are divided.

    The rows of each user must be consecutive. A user whose rows are cut by the end of a batch is held back until the
    last of them has come. A batch is given out when the next one has been read, so that one batch gives one block. So
    the rows of the largest user and of two batches are in memory, and eight bytes for each user.

    Parameters
    ----------
    batches
        Arrow record batches or tables that all have the same columns, in the order of the rows.
    user_column
        The name or the position of the column of user ids.
    trim
        Whether blanks around a text id do not count, as in a CSV file.

    Yields
    ------
    pyarrow.Table
        The rows of one or more complete users, in the order in which they came.

    Raises
    ------
    DataError
        If a user comes back after rows of other users, or if there is no such column.
    """
    held: pa.Table | None = None
    cut = 0  # the row of ``held`` at which its last user begins
    for part in _parts(batches, user_column, trim):
        if held is not None and not part.goes_on:
            yield held
            held = None
        elif held is not None and cut:
            yield held.slice(0, cut)
            held = held.slice(cut)
        before = 0 if held is None else held.num_rows
        held = part.table if held is None else pa.concat_tables([held, part.table])
        cut = 0 if part.goes_on and part.last_start == 0 else before + part.last_start
    if held is not None:
        yield held


class _Part(NamedTuple):
    """A batch; whether its first user is the last one of the batch before; the row at which its last user begins."""

    table: pa.Table
    goes_on: bool
    last_start: int


def _parts(batches: Iterable[pa.RecordBatch | pa.Table], user_column: str | int, trim: bool) -> Iterator[_Part]:
    """The batches that have rows; a user who comes back is refused."""
    seen = _SeenUsers()
    last_user, row = None, 0
    for batch in batches:
        table = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
        if table.num_rows == 0:
            continue
        ids = _ids(table, user_column, trim)
        starts = _starts(ids)
        users = ids.take(pa.array(starts)).to_pylist()
        goes_on = row > 0 and users[0] == last_user
        returned = seen.add(users[goes_on:])
        if returned is not None:
            returned += goes_on
            raise DataError(
                f"user {users[returned]!r} comes back in row {row + starts[returned] + 1:,} after rows of other users; "
                f"group the rows by user first, for example by sorting them by the user column"
            )
        yield _Part(table, goes_on, int(starts[-1]))
        last_user = users[-1]
        row += table.num_rows


def _ids(table: pa.Table, user_column: str | int, trim: bool) -> pa.Array:
    """The user ids of the rows; with ``trim``, without the blanks around text."""
    try:
        ids = plain_array(table.column(user_column))
    except (KeyError, IndexError):
        names = ", ".join(repr(name) for name in table.column_names)
        raise DataError(f"there must be one user column {user_column!r}, but the columns are {names}") from None
    return pc.utf8_trim_whitespace(ids) if trim and pa.types.is_large_string(ids.type) else ids


def _starts(ids: pa.Array) -> NDArray[np.int64]:
    """The rows at which another user begins; a missing id counts as an id."""
    if len(ids) == 1:
        return np.zeros(1, dtype=np.int64)
    here, next_ = ids.slice(0, len(ids) - 1), ids.slice(1)
    differ = pc.if_else(
        pc.and_(here.is_valid(), next_.is_valid()),
        pc.not_equal(here, next_).fill_null(True),
        pc.xor(here.is_valid(), next_.is_valid()),
    )
    return np.concatenate(([0], np.flatnonzero(differ.to_numpy(zero_copy_only=False)) + 1))


class _SeenUsers:
    """The users who have come, as sorted arrays of 64-bit hashes, of which small ones are merged as they come."""

    def __init__(self) -> None:
        self._runs: list[NDArray[np.int64]] = []

    def add(self, users: list[Any]) -> int | None:
        """Remember users, and return the position of the first one that was there before, or None."""
        hashes = np.fromiter((hash(str(user)) for user in users), dtype=np.int64, count=len(users))
        order = np.argsort(hashes, kind="stable")
        new = hashes[order]
        again = np.zeros(hashes.size, dtype=np.bool_)
        again[order[1:][new[1:] == new[:-1]]] = True
        for run in self._runs:
            place = np.minimum(np.searchsorted(run, hashes), run.size - 1)
            again |= run[place] == hashes
        if again.any():
            return int(np.argmax(again))
        if new.size:
            self._runs.append(new)
        while len(self._runs) > 1 and self._runs[-2].size <= self._runs[-1].size:
            last = self._runs.pop()
            self._runs[-1] = np.sort(np.concatenate((self._runs[-1], last)))
        return None
