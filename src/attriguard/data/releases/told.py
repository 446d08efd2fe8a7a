"""Rows that an earlier release has added: they come again with the cells that they had."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from attriguard.data.releases.changes import TableChanges
from attriguard.data.releases.fill import Filled
from attriguard.data.releases.survey import Survey
from attriguard.data.tables.arrays import plain_array, plain_type
from attriguard.data.tables.source import SourceTable

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Earlier:
    """What earlier releases mean for the rows that this one adds.

    ``rows`` came before, release by release, and come again. ``recent`` says which of the table's rows no release has
    met yet: what is added now has come since the last release, too, so its times and cells are those of such rows.
    ``away`` says which rows are not shown: those of items that were hidden, and those of items that were added, since
    the row that was made up comes again.
    """

    rows: Sequence[ToldRows] = ()
    recent: NDArray[np.bool_] | None = None
    away: NDArray[np.bool_] | None = None


@dataclass(frozen=True, eq=False)
class ToldRows:
    """Rows that were added before: each one's user and item (as a column), and its other cells by column name."""

    users: Ints
    columns: Ints
    cells: pa.Table

    def place(self, added: tuple[Ints, Ints], n_items: int) -> Ints:
        """For each of some rows, by user and column, its position among these; -1 for a row that was not there."""
        known = self.users * n_items + self.columns
        order = np.argsort(known, kind="stable")
        wanted = added[0] * n_items + added[1]
        if not known.size:
            return np.full(wanted.size, -1, dtype=np.int64)
        found = order[np.minimum(np.searchsorted(known[order], wanted), known.size - 1)]
        return np.where(known[found] == wanted, found, -1)


def with_told_cells(
    filled: Filled, source: SourceTable, changes: TableChanges, survey: Survey, told: ToldRows, n_items: int
) -> Filled:
    """The cells of new rows, those of rows that were added before as they were; numbers of rows are made anew.

    A column that the table did not have then, or had in another type, gets cells as in any new row. So does one that
    goes with the item (a title), as far as the table has the item: it may be another one by now, in all rows.
    """
    at = told.place((changes.added_users, changes.added_columns), n_items)
    rows = np.flatnonzero(at >= 0)
    cells, times = dict(filled.cells), dict(filled.times)
    for k, kind in survey.columns.items():
        column, name = source.table.column(k), source.table.column_names[k]
        if kind.kind == "number" or name not in told.cells.column_names:
            continue
        mine = rows[filled.cells[k][0][rows] < 0] if kind.kind == "item" else rows
        with suppress(pa.ArrowException):
            stored = plain_array(told.cells.column(name)).cast(plain_type(column.type))
            cells[k] = _put(filled.cells[k], len(column), mine, at[mine], stored)
            if k in times:
                ticks, valid = kind.time.read(pa.chunked_array([stored]))
                old, new = times[k]
                times[k] = old, _with(new, mine, np.where(valid, ticks, np.iinfo(np.int64).min)[at[mine]])
    return replace(filled, cells=cells, times=times)


def _put(
    given: tuple[Ints, pa.Array | None], size: int, rows: Ints, at: Ints, stored: pa.Array
) -> tuple[Ints, pa.Array]:
    """Positions in a column and the cells behind it, with stored cells for some rows."""
    index, extra = given
    behind = stored if extra is None else pa.concat_arrays([extra, stored])
    empty = stored.is_null().to_numpy(zero_copy_only=False)[at]
    return _with(index, rows, np.where(empty, -1, size + len(behind) - len(stored) + at)), behind


def _with(array: NDArray[Any], rows: Ints, values: NDArray[Any]) -> NDArray[Any]:
    changed = array.copy()
    changed[rows] = values
    return changed
