"""Releases: ratings that were changed, given back in the table that they came in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_matrix, check_rng
from attriguard.data.public_data import PublicData
from attriguard.data.releases.changes import Changes, ReleaseSummary, find_changes
from attriguard.data.releases.places import new_places
from attriguard.data.tables.arrays import plain_type
from attriguard.data.tables.attributes import SEPARATOR
from attriguard.data.tables.cells import Column, gather, id_cells, rating_cells
from attriguard.data.tables.ids import lookup
from attriguard.data.tables.source import SourceTable, plain_source
from attriguard.data.tables.table import check_output_suffix, write_table
from attriguard.errors import DataError


def align_items(data: PublicData, items: ArrayLike) -> tuple[csr_array, NDArray[Any]]:
    """``data.X`` on the columns of another catalogue, and the ids in the data that the catalogue lacks."""
    catalogue = np.asarray(items)
    column = lookup(data.items, catalogue)
    X = data.X
    target = column[X.indices]
    known = target >= 0
    ends = np.concatenate(([0], np.cumsum(known)))
    aligned = csr_array((X.data[known], target[known], ends[X.indptr]), shape=(data.n_users, catalogue.size))
    aligned.sort_indices()
    return check_matrix(aligned), data.items[column < 0]


def release_table(
    data: PublicData,
    released: csr_array,
    *,
    items: ArrayLike | None = None,
    random_state: int | np.random.Generator | None = None,
) -> pa.Table:
    """The table that the data came in, with the released ratings.

    ``released`` is users × items in [0, 1], its columns are ``items`` (default: the data's own). Rows of other items
    stay untouched. New rows stand among their user's rows, where their place does not tell that they are new, with
    nulls in the other columns.
    """
    return _release(data, released, items, random_state)[0]


def write_release(
    data: PublicData,
    released: csr_array,
    path: str | os.PathLike[str],
    *,
    items: ArrayLike | None = None,
    random_state: int | np.random.Generator | None = None,
) -> ReleaseSummary:
    """Write the table of ``release_table`` as .csv, .csv.gz, .tsv or .parquet; gives the counts of rows."""
    target = Path(path)
    check_output_suffix(target)
    table, source, summary = _release(data, released, items, random_state)
    if source.csv is not None and target.suffix.lower() in (".parquet", ".pq"):
        table = _typed(table, source, data)
    write_table(table, target, source.csv)
    return summary


def _release(
    data: PublicData,
    released: csr_array,
    items: ArrayLike | None,
    random_state: int | np.random.Generator | None,
) -> tuple[pa.Table, SourceTable, ReleaseSummary]:
    catalogue = data.items if items is None else np.asarray(items)
    matrix = check_matrix(released, name="released", n_items=catalogue.size)
    if matrix.shape[0] != data.n_users:
        raise DataError(f"released must have {data.n_users:,} rows, one a user, but has {matrix.shape[0]:,}")
    source = data.source or plain_source(data)
    refuse_attribute(source, data.attribute)
    changes = find_changes(data, source, matrix, lookup(data.items, catalogue))
    places = new_places(data, source, changes, catalogue, check_rng(random_state))
    return _rewrite(data, source, changes, catalogue, places), source, changes.summary


def refuse_attribute(source: SourceTable, attribute: str) -> None:
    """A table that holds the attribute itself must not be published, whatever its ratings say."""
    for name in attribute.split(SEPARATOR):
        if name and name in source.other_columns:
            raise DataError(
                f"the ratings table holds the private attribute itself, in column {name!r}; "
                f"drop that column from the table and read it again"
            )


def _rewrite(
    data: PublicData, source: SourceTable, changes: Changes, items: NDArray[Any], places: NDArray[np.float64]
) -> pa.Table:
    """Gather every column of the new table: the rows that stay, and new rows at their places between them."""
    n_rows = source.table.num_rows
    last_row = np.full(data.n_users, n_rows, dtype=np.int64)
    last_row[source.user_of_row] = source.rows
    stay = ~changes.removed
    order = np.argsort(np.concatenate((source.rows[stay], places)), kind="stable")
    nothing = np.full(changes.added_users.size, -1, dtype=np.int64)

    columns, fields = [], []
    for k, field in enumerate(source.table.schema):
        column = source.table.column(k)
        old, new, extra = source.rows[stay], nothing, None
        if k == source.user:
            new, extra = _id_positions(column, last_row, n_rows, changes.added_users, data.users)
        elif k == source.item:
            first_row = _first_rows(data, source, items, n_rows)
            new, extra = _id_positions(column, first_row, n_rows, changes.added_columns, items)
        elif k == source.rating:
            extra = rating_cells(column, data.scale)
            old = np.where(changes.changed[stay], n_rows + changes.new_level[stay], old)
            new = n_rows + changes.added_levels
            _refuse_unwritable(extra, np.concatenate((old, new)) - n_rows, field, data)
        else:
            field = field if nothing.size == 0 else field.with_nullable(True)
        columns.append(_gather(column, np.concatenate((old, new))[order], extra, field))
        fields.append(field)
    return pa.table(columns, schema=pa.schema(fields, metadata=source.table.schema.metadata))


def _gather(column: pa.ChunkedArray, index: NDArray[np.int64], extra: pa.Array | None, field: pa.Field) -> Column:
    try:
        return gather(column, index, extra)
    except pa.ArrowException as error:
        raise DataError(
            f"column {field.name!r} holds {field.type}, which cannot be released with rows changed, removed or "
            f"added; convert the column, or drop it"
        ) from error


def _first_rows(data: PublicData, source: SourceTable, items: NDArray[Any], n_rows: int) -> NDArray[np.int64]:
    """For each released item a table row that names it, ``n_rows`` where the table does not."""
    row = np.full(data.n_items + 1, n_rows, dtype=np.int64)
    row[source.item_of_row] = source.rows
    return row[lookup(items, data.items)]


def _id_positions(
    column: pa.ChunkedArray,
    row_of: NDArray[np.int64],
    n_rows: int,
    wanted: NDArray[np.int64],
    ids: NDArray[Any],
) -> tuple[NDArray[np.int64], pa.Array | None]:
    """Where an id's cell is found: in a row that has it, as it is written there, else among new cells."""
    place = row_of[wanted]
    missing = np.unique(wanted[place == n_rows])
    if not missing.size:
        return place, None
    cells = id_cells(ids[missing], plain_type(column.type))
    return np.where(place == n_rows, n_rows + np.searchsorted(missing, wanted), place), cells


def _refuse_unwritable(cells: pa.Array, used: NDArray[np.int64], field: pa.Field, data: PublicData) -> None:
    """A rating between whole numbers has no cell in a column of whole numbers."""
    without = cells.is_null().to_numpy(zero_copy_only=False)
    if without[used[used >= 0]].any():
        raise DataError(
            f"column {field.name!r} holds {field.type}, which cannot hold every rating of the scale "
            f"{data.scale}; convert the column to decimals, or read the ratings on a scale of whole steps"
        )


def _typed(table: pa.Table, source: SourceTable, data: PublicData) -> pa.Table:
    """A CSV's text as typed columns for Parquet: ids as they are in the data, ratings as numbers."""
    roles = {source.user: data.users, source.item: data.items}
    for k, ids in roles.items():
        if ids.dtype.kind in "iu":
            text = pc.utf8_trim_whitespace(table.column(k))
            table = table.set_column(k, table.column_names[k], text.cast(pa.int64()))
    if source.rating is not None:
        numbers = pc.utf8_trim_whitespace(table.column(source.rating)).cast(pa.float64())
        whole = all(float(number).is_integer() for number in (data.scale.lowest, data.scale.step))
        numbers = numbers.cast(pa.int64()) if whole else numbers
        table = table.set_column(source.rating, table.column_names[source.rating], numbers)
    return table
