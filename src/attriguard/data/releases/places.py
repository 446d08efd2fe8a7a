"""Where the rows of a release stand: an order of the released cells decides it, so that no place tells a new row.

- "keep": the order that the table has (see ``orders``). Where its columns do not tell why a row stands where it does,
  a new row could not be put anywhere without a trace; so rows that are equal in the order are sorted by user and item,
  and a table without an order is sorted by these two alone. A release that adds no row leaves all rows in their place.
- "sorted": by user and item.
- "shuffled": in any order. Under a key, that of a row depends on the key, the user and the item.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attriguard.data.releases.chance import Chance
from attriguard.data.releases.orders import Level, Rows, completed, first_broken
from attriguard.data.releases.survey import Survey
from attriguard.errors import ParameterError

Ints = NDArray[np.int64]
ORDERS = ("keep", "sorted", "shuffled")


class Places(NamedTuple):
    """The released rows in their order, as positions in the rows that stay followed by the new ones.

    ``note`` is what the publisher is told about the order, where it is not the table's; ``survey`` is for the next
    block, which is ordered in the same way.
    """

    order: Ints
    survey: Survey
    note: str = ""


def place_rows(rows: Rows, survey: Survey, chance: Chance, wanted: str) -> Places:
    """The order of the released rows."""
    if wanted not in ORDERS:
        raise ParameterError(f"order must be one of {', '.join(ORDERS)}, got {wanted!r}")
    if wanted == "shuffled":
        return Places(shuffled(rows, chance, "shuffled"), survey)
    if wanted == "sorted":
        return Places(in_order(rows, completed(rows, ())), survey)
    levels: tuple[Level, ...] = survey.order
    by_rating = rows.changes.changed.any() and rows.source.rating in [level.column for level in levels]
    if not (survey.settled or rows.changes.added_users.size or by_rating):
        return Places(np.arange(np.count_nonzero(~rows.changes.removed)), survey)
    return Places(in_order(rows, levels), replace(survey, settled=True), order_note(rows, levels))


def in_order(rows: Rows, levels: tuple[Level, ...]) -> Ints:
    """The released rows sorted by columns."""
    keys = [level.signed(rows.released(level.column, level.mode)) for level in levels]
    one = _as_one(keys)
    return np.lexsort(keys[::-1]).astype(np.int64) if one is None else np.argsort(one, kind="stable")


def _as_one(keys: list[NDArray[Any]]) -> Ints | None:
    """Whole numbers that are in the order of several keys, one after the other; None where they would be too large."""
    if any(key.dtype.kind not in "iu" or key.dtype == np.uint64 or not key.size for key in keys):
        return None
    ends = [(int(key.min()), int(key.max())) for key in keys]
    if math.prod(high - low + 1 for low, high in ends) >= 2**63:
        return None
    one = keys[0].astype(np.int64) - ends[0][0]
    for key, (low, high) in zip(keys[1:], ends[1:], strict=True):
        one *= high - low + 1
        one += key
        one -= low
    return one


def shuffled(rows: Rows, chance: Chance, purpose: str) -> Ints:
    """The released rows in any order."""
    stay, changes = ~rows.changes.removed, rows.changes
    users = np.concatenate((rows.source.user_of_row[stay], changes.added_users))
    items = np.concatenate((rows.source.item_of_row[stay], rows.data.n_items + changes.added_columns))
    ids = np.concatenate((rows.data.items.astype(object), rows.items.astype(object)))
    return np.argsort(chance.draws((rows.data.users, users), (ids, items)).uniform(purpose), kind="stable")


def order_note(rows: Rows, levels: tuple[Level, ...]) -> str:
    """What was sorted that had not been."""
    broken = first_broken(rows, levels)
    if broken is None:
        return ""
    names = [rows.source.table.column_names[level.column] for level in levels]
    by = " and ".join(names[broken:])
    if not broken:
        return f"no column tells why the table's rows stand as they do, so the release is sorted by {by}"
    return f"no column tells the order of rows with the same {' and '.join(names[:broken])}; they are sorted by {by}"
