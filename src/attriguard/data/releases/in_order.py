"""A release that is sorted by user and item, of a table without other columns, is the released matrix, row by row.

Most tables are of this kind: those that are sorted so, those whose columns tell no order, and the blocks that engines
hand over. Whatever this cannot write in the very cells that `rewrite` would gather is left to it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.data.public_data import PublicData
from attriguard.data.releases.changes import ReleaseSummary, compare
from attriguard.data.releases.item_order import LARGEST_NUMBER
from attriguard.data.releases.orders import Level
from attriguard.data.releases.rewrite import released_schema
from attriguard.data.releases.survey import Survey
from attriguard.data.tables.arrays import plain_array
from attriguard.data.tables.cells import rating_cells
from attriguard.data.tables.ids import lookup
from attriguard.data.tables.source import SourceTable

Ints = NDArray[np.int64]


class InOrder(NamedTuple):
    """The released table, its counts, which of its rows are new, and each row's user."""

    table: pa.Table
    summary: ReleaseSummary
    new: NDArray[np.bool_]
    user: Ints


def release_in_order(
    data: PublicData, source: SourceTable, released: tuple[csr_array, NDArray[Any]], survey: Survey, wanted: str
) -> InOrder | None:
    """The release of a plain table, given the released matrix and the items of its columns; None if it is no such."""
    matrix, items = released
    if not _by_user_and_item(data, source, survey, wanted):
        return None
    column = lookup(data.items, items)
    cells = _rating_cells(data, source)
    if cells is None or (column < 0).any():
        return None
    compared = compare(data, matrix, column)
    levels, new = compared.levels, compared.new
    if not (survey.settled or wanted == "sorted" or new.any()):
        return None  # no row is new, so that all stay in their places
    user = np.repeat(np.arange(data.n_users), np.diff(matrix.indptr))
    columns = {source.user: pa.array(data.users[user]), source.item: pa.array(items[matrix.indices])}
    if source.rating is not None:
        columns[source.rating] = cells.take(pa.array(levels))
    schema = released_schema(source.table.schema, levels.size)
    try:
        table = pa.table([columns[k].cast(kind) for k, kind in enumerate(schema.types)], schema=schema)
    except pa.ArrowException:
        return None
    return InOrder(table, compared.summary, new, user) if levels.all() else None


def _by_user_and_item(data: PublicData, source: SourceTable, survey: Survey, wanted: str) -> bool:
    """Whether the release of a plain table is to be in the order of the released matrix."""
    user, item = Level(source.user, "numbers"), Level(source.item, "numbers")
    if wanted == "keep" and survey.order == (Level(source.user, "together"), item):
        return bool((source.user_of_row[1:] >= source.user_of_row[:-1]).all())
    sorted_users = bool((data.users[1:] > data.users[:-1]).all())
    return sorted_users and (wanted == "sorted" or (wanted == "keep" and survey.order == (user, item)))


def are_plain(data: PublicData, source: SourceTable, items: NDArray[Any]) -> bool:
    """Whether all rows are users, items and ratings alone, by numbers; ``items``, those of the matrix, must rise.

    Where a row is left out, the data may have another rating than the row that stands for it: the mean of several.
    """
    if source.other_columns or source.csv is not None or source.rows.size != source.table.num_rows:
        return False
    for ids in (data.users, data.items, items):
        if ids.dtype != np.int64 or (ids.size and max(-int(ids.min()), int(ids.max())) >= LARGEST_NUMBER):
            return False
    return bool((items[1:] > items[:-1]).all())


def _rating_cells(data: PublicData, source: SourceTable) -> pa.Array | None:
    """The cell of every level, none of them missing; None where the table writes some rating in another way."""
    if source.rating is None:
        return pa.array([], pa.int64())
    kind = source.table.schema.field(source.rating).type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return None
    cells = rating_cells(kind, data.scale)
    if cells.slice(1).null_count:
        return None
    column = plain_array(source.table.column(source.rating))
    return cells if not column.null_count and pc.all(pc.is_in(column, cells.slice(1))).as_py() else None
