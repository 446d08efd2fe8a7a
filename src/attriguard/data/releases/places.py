"""Where new rows go: not where their place would tell that they are new."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from attriguard.data.public_data import PublicData
from attriguard.data.releases.changes import Changes
from attriguard.data.tables.ids import lookup
from attriguard.data.tables.source import SourceTable


def new_places(
    data: PublicData, source: SourceTable, changes: Changes, items: NDArray[Any], rng: np.random.Generator
) -> NDArray[np.float64]:
    """A place between table rows for every added row; row r has place r.

    Where every user's rows are sorted by item, a new row goes where the order wants it; else into a random gap before,
    between or after its user's rows. A user without rows comes last.
    """
    by_user = np.argsort(source.user_of_row, kind="stable")
    rows, users, ranks = source.rows[by_user], source.user_of_row[by_user], source.item_of_row[by_user]
    start = np.searchsorted(users, changes.added_users, side="left")
    count = np.searchsorted(users, changes.added_users, side="right") - start
    rank = _ranks(items[changes.added_columns], data.items)
    sorted_by_item = bool(((np.diff(users) > 0) | (np.diff(ranks) > 0)).all())
    if sorted_by_item and rank is not None:
        width = data.n_items + 1
        gap = np.searchsorted(users * width + ranks, changes.added_users * width + rank) - start
        within = np.argsort(np.argsort(rank, kind="stable"), kind="stable")  # several in one gap: in order, too
    else:
        gap = rng.integers(0, count + 1)
        within = rng.permutation(gap.size)
    if rows.size == 0:
        return within / (within.size + 1.0)
    last = int(source.table.num_rows)
    anchor = rows[np.clip(start + gap - 1, 0, rows.size - 1)].astype(np.float64)
    first = rows[np.clip(start, 0, rows.size - 1)] - 0.5
    place = np.where(count == 0, float(last), np.where(gap == 0, first, anchor))
    # Right behind the row it follows, or right before its user's first: each has half of the gap for itself.
    return np.asarray(place + 0.5 * (within + 1.0) / (within.size + 2.0))


def _ranks(added: NDArray[Any], among: NDArray[Any]) -> NDArray[np.float64] | None:
    """Where added items stand among the data's (sorted) items; None if they cannot be compared."""
    known = lookup(added, among)
    rank = known.astype(np.float64)
    strange = known < 0
    if strange.any():
        if added.dtype.kind not in "iu" or among.dtype.kind not in "iu":
            added, among = added.astype(str), among.astype(str)
        if among.size and (among[:-1] > among[1:]).any():
            return None
        rank[strange] = np.searchsorted(among, added[strange]) - 0.5
    return rank
