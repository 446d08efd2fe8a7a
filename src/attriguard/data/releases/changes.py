"""What a release does to a table: which rows stay, change, go and come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.data.public_data import PublicData
from attriguard.data.tables.source import SourceTable
from attriguard.kernels.rows import ABSENT, SAME, rows_of


@dataclass(frozen=True, slots=True)
class ReleaseSummary:
    """How many rows of the table stay as they were, have another rating, are gone, and are new."""

    kept: int
    changed: int
    removed: int
    added: int

    def __add__(self, other: ReleaseSummary) -> ReleaseSummary:
        """The counts of two parts of a table together."""
        return ReleaseSummary(
            self.kept + other.kept,
            self.changed + other.changed,
            self.removed + other.removed,
            self.added + other.added,
        )


@dataclass(frozen=True, eq=False)
class TableChanges:
    """What a release does to the source's rows, and the rows it adds (users and columns of ``items``).

    ``new_level`` counts for changed rows alone.
    """

    new_level: NDArray[np.integer]
    changed: NDArray[np.bool_]
    removed: NDArray[np.bool_]
    added_users: NDArray[np.int64]
    added_columns: NDArray[np.int64]
    added_levels: NDArray[np.int64]

    @property
    def summary(self) -> ReleaseSummary:
        """The counts of rows that stay, change, go and come."""
        changed, removed = int(self.changed.sum()), int(self.removed.sum())
        return ReleaseSummary(self.changed.size - changed - removed, changed, removed, self.added_users.size)


class Compared(NamedTuple):
    """Data beside what is released of it.

    What became of each entry of the data (``SAME``, or its new level, 0 if it went), the level of each released
    entry, and which of these are new.
    """

    became: NDArray[np.int32]
    levels: NDArray[np.int32]
    new: NDArray[np.bool_]

    @property
    def summary(self) -> ReleaseSummary:
        """The counts of entries that stay, change, go and come."""
        kept, removed = int(np.count_nonzero(self.became < 0)), int(np.count_nonzero(self.became == 0))
        return ReleaseSummary(kept, self.became.size - kept - removed, removed, int(np.count_nonzero(self.new)))


def compare(data: PublicData, released: csr_array, column: NDArray[np.int64]) -> Compared:
    """Compare the released matrix with the data.

    ``column`` gives for each item of the data its column in ``released``, -1 for an item that is not released: the
    entries of such items stay.
    """
    from attriguard.kernels.entries import compare_rows
    from attriguard.kernels.threads import over_users

    made = Compared(np.empty(data.X.nnz, np.int32), np.empty(released.nnz, np.int32), np.empty(released.nnz, np.bool_))
    given = (*rows_of(data.X), column, *rows_of(released), data.scale.levels)
    over_users(data.n_users, lambda start, stop: compare_rows(*given, start, stop, *made))
    return made


def find_changes(
    data: PublicData,
    source: SourceTable,
    released: csr_array,
    column: NDArray[np.int64],
    away: NDArray[np.bool_] | None = None,
) -> TableChanges:
    """What became of the source's rows; ``column`` as for ``compare``.

    A row that is not in the data, since its rating stands for "not rated", is changed if its item is released. A row
    that is ``away`` is removed whatever is released; if its item is, a new row says so.
    """
    became, levels, new = compare(data, released, column)
    users, items = source.user_of_row, source.item_of_row
    of_row = became if source.stands_as(data.X) else entry_values(data.X, became, users, items)[0]
    outside = np.flatnonzero(of_row == ABSENT)
    if outside.size:
        found, met = entry_values(released, levels, users[outside], column[items[outside]])
        of_row[outside], new = np.where(found > 0, found, SAME), new & ~met
    if away is not None:
        gone = np.flatnonzero(away)
        of_row[gone], new = 0, new | entry_values(released, levels, users[gone], column[items[gone]])[1]
    added = np.flatnonzero(new & (levels > 0))
    return TableChanges(
        new_level=of_row,
        changed=of_row > 0,
        removed=of_row == 0,
        added_users=np.searchsorted(released.indptr, added, side="right") - 1,
        added_columns=released.indices[added].astype(np.int64),
        added_levels=levels[added].astype(np.int64),
    )


def new_entries(X: csr_array, old: csr_array) -> NDArray[np.int64]:
    """The positions of the entries of a canonical matrix that another one with the same rows does not have."""
    from attriguard.kernels.entries import mark_new
    from attriguard.kernels.threads import over_users

    new = np.empty(X.nnz, dtype=np.bool_)
    given = (X.indptr.astype(np.int64, copy=False), X.indices, old.indptr.astype(np.int64, copy=False), old.indices)
    over_users(X.shape[0], lambda start, stop: mark_new(*given, start, stop, new))
    return np.flatnonzero(new)


def entry_values(
    X: csr_array, values: NDArray[np.int32], rows: NDArray[np.int64], columns: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The value of each wanted entry of a canonical matrix, ``ABSENT`` where it has none, and which entries were met.

    A column of -1 has no entry.
    """
    from attriguard.kernels.entries import find_entries
    from attriguard.kernels.threads import over_users

    found, met = np.empty(rows.size, dtype=np.int32), np.zeros(X.nnz, dtype=np.bool_)
    given = (*rows_of(X)[:2], values, rows, columns)
    over_users(rows.size, lambda start, stop: find_entries(*given, start, stop, found, met))
    return found, met
