"""Where the new rows of a release go: no place in the table tells that a row is new.

- Where the table's rows are sorted (see ``orders``), new rows stand where that order puts them, and equal ones in any
  order.
- Where each user's rows stand together, a new row stands among them: in order, if that user's rows are sorted by item,
  else at random. The new rows of a user without rows come last.
- Where the table has no order, a new row stands anywhere in the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from attriguard.data.releases.chance import Draws
from attriguard.data.releases.orders import Level, Rows, within
from attriguard.data.tables.arrays import plain_type

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def place_new_rows(
    rows: Rows, levels: tuple[Level, ...], draws: Draws, sequence: Ints | None = None
) -> tuple[Ints, Ints]:
    """The new rows in their order, and for each how many of the table's rows come before it.

    ``sequence`` are the table's rows in another order than the table's.
    """
    users = rows.changes.added_users
    n_rows = rows.source.rows.size
    low, high = np.zeros(users.size, dtype=np.int64), np.full(users.size, n_rows, dtype=np.int64)
    keys: list[NDArray[Any]] = []
    for depth, level in enumerate(levels):
        old, new = rows.pair(level.column, level.mode)
        old, new = level.sign * (old if sequence is None else old[sequence]), level.sign * new
        keys.append(new)
        if depth:
            low, high = within(old, low, high, new)
        else:
            low, high = np.searchsorted(old, new), np.searchsorted(old, new, side="right")
    last = (draws.seeds >> np.uint64(1)).astype(np.int64)
    if len(levels) == 1 and levels[0].column == rows.source.user:
        low, high, last = _among_items(rows, (low, high), last, sequence)
    slot = low + draws.choice("place", high - low + 1)
    order = np.lexsort((last, *reversed(keys), slot))
    return order, slot[order]


def _among_items(rows: Rows, ranges: tuple[Ints, Ints], last: Ints, sequence: Ints | None) -> tuple[Ints, Ints, Ints]:
    """The narrower ranges of rows whose user has them sorted by item, and what orders new rows in one place."""
    low, high = ranges
    source, changes = rows.source, rows.changes
    last = last.copy()
    left = np.bincount(changes.added_users, minlength=rows.data.n_users) > 0
    sequence = np.arange(source.rows.size) if sequence is None else sequence
    users, items = source.user_of_row[sequence], source.item_of_row[sequence]
    for by_number, candidates in _item_orders(rows):
        rank, new = rows.item_order.ranks(by_number=by_number)
        chosen = left & candidates & _in_order(users, rank[items], left.size)
        which = np.flatnonzero(chosen[changes.added_users])
        last[which] = new[changes.added_columns[which]]
        low[which], high[which] = within(rank[items], low[which], high[which], last[which])
        left &= ~chosen
    return low, high, last


def _in_order(users: Ints, rank: Ints, n_users: int) -> Flags:
    """For each user: do the user's rows, which stand together, rise in rank?"""
    falls = (rank[1:] <= rank[:-1]) & (users[1:] == users[:-1])
    result = np.ones(n_users, dtype=np.bool_)
    result[users[1:][falls]] = False
    return result


def _item_orders(rows: Rows) -> list[tuple[bool, Flags]]:
    """The orders that a user's rows may stand in (True: by number), each with the users for whom it is tried.

    The type of the column decides. A CSV file has no types: there, a user whose items are all whole numbers may have
    them in either order.
    """
    source, everyone = rows.source, np.ones(rows.data.n_users, dtype=np.bool_)
    if source.csv is None:
        text = pa.types.is_large_string(plain_type(source.table.column(source.item).type))
        return [(not text, everyone)]
    numbers = everyone.copy()
    numbers[source.user_of_row[~rows.item_order.is_number[source.item_of_row]]] = False
    return [(True, numbers), (False, everyone)]
