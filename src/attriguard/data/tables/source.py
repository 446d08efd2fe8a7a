"""SourceTable: the table that the ratings came in, so that a release can be given back in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.data.tables.cells import gather
from attriguard.data.tables.csv_text import CsvStyle
from attriguard.errors import DataError

if TYPE_CHECKING:
    from attriguard.data.public_data import PublicData


@dataclass(frozen=True, eq=False, kw_only=True)
class SourceTable:
    """The ratings table as it came, with the user and the item of each of its rows.

    ``user``, ``item`` and ``rating`` are positions of columns (no rating: every row is a like). ``rows`` are
    the table's rows that belong to the data, in the table's order; ``user_of_row`` and ``item_of_row`` are
    their users and items as rows and columns of ``X``. ``csv`` tells how a CSV file was written
    (None: Parquet or a frame).
    """

    table: pa.Table
    user: int
    item: int
    rating: int | None
    rows: NDArray[np.int64]
    user_of_row: NDArray[np.int64]
    item_of_row: NDArray[np.int64]
    csv: CsvStyle | None = None

    @property
    def other_columns(self) -> list[str]:
        """The columns that are neither user, item nor rating."""
        roles = (self.user, self.item, self.rating)
        return [name for k, name in enumerate(self.table.column_names) if k not in roles]

    def without(self, names: Sequence[str]) -> SourceTable:
        """The same table without some of its other columns."""
        for name in names:
            if name not in self.other_columns:
                known = ", ".join(map(repr, self.other_columns)) or "none"
                raise DataError(f"there is no column {name!r} to be dropped; columns besides the ratings: {known}")
        roles = (self.user, self.item, self.rating)
        kept = [k for k, name in enumerate(self.table.column_names) if k in roles or name not in names]
        csv = self.csv and replace(self.csv, quoted=frozenset(kept.index(k) for k in self.csv.quoted if k in kept))
        return replace(
            self,
            table=self.table.select(kept),
            user=kept.index(self.user),
            item=kept.index(self.item),
            rating=None if self.rating is None else kept.index(self.rating),
            csv=csv,
        )

    def compact(self) -> SourceTable:
        """The same with a table that has no other rows than those of the data: what others hold is not looked at."""
        if self.rows.size == self.table.num_rows:
            return self
        kept = pa.table([gather(column, self.rows) for column in self.table.columns], schema=self.table.schema)
        return replace(self, table=kept, rows=np.arange(self.rows.size, dtype=np.int64))

    def stands_as(self, X: csr_array) -> bool:
        """Whether the rows stand as the entries of the matrix do: by user, and then by item."""
        if self.item_of_row.size != X.nnz or not np.array_equal(self.item_of_row, X.indices):
            return False
        return np.array_equal(self.user_of_row, np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)))

    def of_rows(self, keep: NDArray[np.bool_]) -> SourceTable:
        """Only some of the rows."""
        return replace(
            self, rows=self.rows[keep], user_of_row=self.user_of_row[keep], item_of_row=self.item_of_row[keep]
        )

    def of_users(self, users: NDArray[np.int64]) -> SourceTable | None:
        """The rows of some users; the users get the numbers 0, 1, … in the order given.

        None if a user is named twice (a bootstrap sample), since the data then no longer matches the table.
        """
        n_users = int(max(self.user_of_row.max(initial=-1), users.max(initial=-1))) + 1
        number = np.full(n_users, -1, dtype=np.int64)
        number[users] = np.arange(users.size)
        if np.count_nonzero(number >= 0) < users.size:
            return None
        renumbered = replace(self, user_of_row=number[self.user_of_row])
        return renumbered.of_rows(renumbered.user_of_row >= 0)


def plain_source(data: PublicData) -> SourceTable:
    """A table of user, item and rating for data that came without one (likes have no rating column)."""
    X = data.X
    user_of_row = np.repeat(np.arange(data.n_users, dtype=np.int64), np.diff(X.indptr))
    item_of_row = X.indices.astype(np.int64)
    columns = {
        "user": pa.array(data.users[user_of_row]),
        "item": pa.array(data.items[item_of_row]),
    }
    if not data.scale.is_likes:
        raw = np.round(data.scale.from_unit(X.data), 9)
        whole = all(float(number).is_integer() for number in (data.scale.lowest, data.scale.step))
        columns["rating"] = pa.array(raw.astype(np.int64) if whole else raw)
    return SourceTable(
        table=pa.table(columns),
        user=0,
        item=1,
        rating=None if data.scale.is_likes else 2,
        rows=np.arange(X.nnz, dtype=np.int64),
        user_of_row=user_of_row,
        item_of_row=item_of_row,
    )
