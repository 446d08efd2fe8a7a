"""The table of a release: every column gathered anew from the rows that stay and the rows that come."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from attriguard.data.public_data import PublicData
from attriguard.data.releases.changes import TableChanges
from attriguard.data.releases.fill import Cells
from attriguard.data.tables.arrays import are_all, plain_array, plain_type
from attriguard.data.tables.cells import Column, gather, id_cells, only
from attriguard.data.tables.rating_text import new_rating_cells
from attriguard.data.tables.source import SourceTable
from attriguard.errors import DataError

Ints = NDArray[np.int64]
# Positions in a column followed by new cells, for the rows that stay and for the rows that come; and the new cells.
Gathered = tuple[Ints, Ints, pa.Array | None]


def rewrite(
    data: PublicData,
    source: SourceTable,
    changes: TableChanges,
    items: NDArray[Any],
    order: Ints,
    others: Mapping[int, Cells | Column],
) -> pa.Table:
    """The released rows in ``order``; ``others`` has the cells of new rows, or a whole column, for all other columns.

    ``order`` has positions in the rows that stay followed by the new rows as the changes name them.
    """
    schema, anew = source.table.schema, changes.added_users.size or changes.changed.any()
    if not anew and are_all(order):
        columns = [_left(source, k, ~changes.removed, others.get(k)) for k in range(len(schema))]
        return pa.table(columns, schema=released_schema(schema, order.size))
    rows = source.rows[~changes.removed]
    nothing = np.full(changes.added_users.size, -1, dtype=np.int64)
    last_row = np.full(data.n_users, source.table.num_rows, dtype=np.int64)
    last_row[source.user_of_row] = source.rows
    columns, fields = [], []
    for k, field in enumerate(schema):
        column, given = source.table.column(k), others.get(k, (nothing, None))
        old = rows
        if k == source.user:
            new, extra = _user_cells(column, last_row[changes.added_users], changes.added_users, data.users)
        elif k == source.item:
            new, extra = _item_cells(source, last_row[changes.added_users], changes.added_columns, items)
        elif k == source.rating:
            old, new, extra = _ratings(data, source, changes)
        elif isinstance(given, tuple):
            new, extra = given
            field = field.with_nullable(field.nullable or bool((new < 0).any()))
        if isinstance(given, tuple):
            with _named(field):
                columns.append(gather(column, np.concatenate((old, new))[order], extra))
        else:
            columns.append(given)
        fields.append(field)
    return pa.table(columns, schema=released_schema(pa.schema(fields, metadata=schema.metadata), order.size))


def _left(source: SourceTable, k: int, stay: NDArray[np.bool_], given: Cells | Column | None) -> Column:
    """A column of a release that only takes rows away."""
    if given is not None and not isinstance(given, tuple):
        return given
    with _named(source.table.schema.field(k)):
        return only(source.table.column(k), stay)


def released_schema(schema: pa.Schema, n_rows: int) -> pa.Schema:
    """A table's schema without what may tell about the rows there were."""
    return pa.schema([field.remove_metadata() for field in schema], metadata=_metadata(schema.metadata, n_rows))


def _metadata(metadata: Mapping[bytes, bytes] | None, n_rows: int) -> Mapping[bytes, bytes] | None:
    """What pandas needs to read the release as it read the source; all else may tell about the rows there were.

    The length of the index is that of the release.
    """
    try:
        noted = json.loads((metadata or {})[b"pandas"])
        for index in noted["index_columns"]:
            if isinstance(index, dict) and index.get("kind") == "range":
                index["stop"] = index["start"] + index["step"] * n_rows
    except (ValueError, KeyError, TypeError):
        return None
    return {b"pandas": json.dumps({name: noted[name] for name in noted if name != "attributes"}).encode()}


@contextmanager
def _named(field: pa.Field) -> Iterator[None]:
    """Arrow's refusals in words of the table."""
    try:
        yield
    except pa.ArrowException as error:
        raise DataError(
            f"column {field.name!r} holds {field.type}, which cannot be released with rows changed, removed or "
            f"added; convert the column, or drop it"
        ) from error


def _user_cells(
    column: pa.ChunkedArray, last_row: Ints, users: Ints, ids: NDArray[Any]
) -> tuple[Ints, pa.Array | None]:
    """A user is named as in the user's last row; a user without rows gets a new cell."""
    n_rows = len(column)
    without = last_row == n_rows
    if not without.any():
        return last_row, None
    missing = np.unique(users[without])
    cells = id_cells(ids[missing], plain_type(column.type))
    return np.where(without, n_rows + np.searchsorted(missing, users), last_row), cells


def _item_cells(source: SourceTable, last_row: Ints, added: Ints, items: NDArray[Any]) -> tuple[Ints, pa.Array | None]:
    """New cells for the items of new rows; in a CSV file, with the blanks around them that the user's last row has."""
    if not added.size:
        return added, None
    column = source.table.column(source.item)
    n_rows = len(column)
    distinct, position = np.unique(added, return_inverse=True)
    cells = id_cells(items[distinct], plain_type(column.type))
    if source.csv is not None:
        models = plain_array(column.take(pa.array(last_row, mask=last_row == n_rows)))
        if not pc.all(pc.equal(models, pc.utf8_trim_whitespace(models))).as_py():
            texts = cells.take(pa.array(position)).to_pylist()
            padded = [_padded(text, model or "") for text, model in zip(texts, models.to_pylist(), strict=True)]
            return n_rows + np.arange(added.size), pa.array(padded, cells.type)
    return n_rows + position, cells


def _padded(text: str, model: str) -> str:
    """The text with the blanks that stand before and behind the model's."""
    core = model.strip()
    before, _, behind = model.partition(core) if core else ("", "", "")
    return f"{before}{text}{behind}"


def _ratings(data: PublicData, source: SourceTable, changes: TableChanges) -> Gathered:
    """The rating column: kept ratings from their rows, changed and new ones from new cells."""
    n_rows = source.table.num_rows
    users = np.concatenate((source.user_of_row[changes.changed], changes.added_users))
    levels = np.concatenate((changes.new_level[changes.changed], changes.added_levels))
    cells, position = new_rating_cells(source, data.scale, users, levels)
    _refuse_unwritable(cells, position, source.table.schema.field(source.rating), data)
    n_changed = users.size - changes.added_users.size
    old = source.rows.copy()
    old[changes.changed] = n_rows + position[:n_changed]
    return old[~changes.removed], n_rows + position[n_changed:], cells


def _refuse_unwritable(cells: pa.Array, used: Ints, field: pa.Field, data: PublicData) -> None:
    """A rating between whole numbers has no cell in a column of whole numbers."""
    without = cells.is_null().to_numpy(zero_copy_only=False)
    if without[used].any():
        raise DataError(
            f"column {field.name!r} holds {field.type}, which cannot hold every rating of the scale "
            f"{data.scale}; convert the column to decimals, or read the ratings on a scale of whole steps"
        )
