"""What a release does to a table: which rows stay, change, go and come."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.data.public_data import PublicData
from attriguard.data.tables.source import SourceTable
from attriguard.kernels.rows import rows_of


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
    """What a release does to the source's rows, and the rows it adds (users and columns of ``items``)."""

    new_level: NDArray[np.int64]
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


def find_changes(data: PublicData, source: SourceTable, released: csr_array, column: NDArray[np.int64]) -> TableChanges:
    """Compare the released matrix with the source's rows.

    ``column`` gives for each item of the data its column in ``released``, -1 for an item that is not released: the rows
    of such items stay.
    """
    levels = data.scale.levels
    if source.stands_as(data.X):
        old = np.rint(data.X.data.astype(np.float64) * levels).astype(np.int64)
    else:
        old, _ = entry_levels(data.X, source.user_of_row, source.item_of_row, levels)
    columns = column[source.item_of_row]
    new, met = entry_levels(released, source.user_of_row, columns, levels)
    if (column < 0).any():
        new = np.where(columns < 0, old, new)
    added = np.flatnonzero(~met)
    after = np.rint(released.data[added].astype(np.float64) * levels).astype(np.int64)
    added, after, other = added[after > 0], after[after > 0], new != old
    return TableChanges(
        new_level=new,
        changed=other & (new > 0),
        removed=other & (new == 0),
        added_users=np.searchsorted(released.indptr, added, side="right") - 1,
        added_columns=released.indices[added].astype(np.int64),
        added_levels=after,
    )


def new_entries(X: csr_array, old: csr_array) -> NDArray[np.int64]:
    """The positions of the entries of a canonical matrix that another one with the same rows does not have."""
    from attriguard.kernels.entries import mark_new
    from attriguard.kernels.threads import over_users

    new = np.empty(X.nnz, dtype=np.bool_)
    given = (X.indptr.astype(np.int64, copy=False), X.indices, old.indptr.astype(np.int64, copy=False), old.indices)
    over_users(X.shape[0], lambda start, stop: mark_new(*given, start, stop, new))
    return np.flatnonzero(new)


def entry_levels(
    X: csr_array, rows: NDArray[np.int64], columns: NDArray[np.int64], levels: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The level of each wanted entry of a canonical matrix, 0 where it has none, and which of its entries were met.

    A column of -1 has no entry.
    """
    from attriguard.kernels.entries import find_levels
    from attriguard.kernels.threads import over_users

    found, met = np.empty(rows.size, dtype=np.int64), np.zeros(X.nnz, dtype=np.bool_)
    given = (*rows_of(X), rows, columns, levels)
    over_users(rows.size, lambda start, stop: find_levels(*given, start, stop, found, met))
    return found, met
