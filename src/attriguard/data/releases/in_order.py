"""A table that is sorted by user and item, without other columns: its release is the released matrix, row by row.

That is how engines hand blocks of most tables over. Whatever this cannot write in the very cells that `rewrite` would
gather is left to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.data.public_data import PublicData
from attriguard.data.releases.item_order import LARGEST_NUMBER
from attriguard.data.releases.orders import Level
from attriguard.data.releases.rewrite import released_schema
from attriguard.data.releases.survey import Survey
from attriguard.data.tables.arrays import plain_array
from attriguard.data.tables.cells import rating_cells
from attriguard.data.tables.ids import lookup
from attriguard.data.tables.source import SourceTable


def table_in_order(
    data: PublicData, source: SourceTable, released: tuple[csr_array, NDArray[Any]], survey: Survey, wanted: str
) -> pa.Table | None:
    """The released table, given the released matrix and the items of its columns; None for any other kind of table."""
    matrix, items = released
    if not (_by_user_and_item(source, survey, wanted) and _sorted_numbers(data, items) and source.stands_as(data.X)):
        return None
    levels = np.rint(matrix.data.astype(np.float64) * data.scale.levels).astype(np.int64)
    cells = _rating_cells(data, source)
    if cells is None or not levels.all():
        return None
    columns = {
        source.user: pa.array(np.repeat(data.users, np.diff(matrix.indptr))),
        source.item: pa.array(items[matrix.indices]),
    }
    if source.rating is not None:
        columns[source.rating] = cells.take(pa.array(levels))
    schema = released_schema(source.table.schema, levels.size)
    try:
        return pa.table([columns[k].cast(kind) for k, kind in enumerate(schema.types)], schema=schema)
    except pa.ArrowException:
        return None


def _by_user_and_item(source: SourceTable, survey: Survey, wanted: str) -> bool:
    """Whether the release of a table without other columns is to be sorted by user and item."""
    if source.other_columns or source.csv is not None:
        return False
    asked = [(Level(source.user, mode), Level(source.item, "numbers")) for mode in ("numbers", "together")]
    return wanted == "sorted" or (wanted == "keep" and survey.order in asked)


def _sorted_numbers(data: PublicData, items: NDArray[Any]) -> bool:
    """Whether all ids are numbers, and the columns of the released matrix have all items of the data, in order."""
    for ids in (data.users, data.items, items):
        if ids.dtype != np.int64 or (ids.size and max(-int(ids.min()), int(ids.max())) >= LARGEST_NUMBER):
            return False
    return bool((items[1:] > items[:-1]).all()) and bool((lookup(data.items, items) >= 0).all())


def _rating_cells(data: PublicData, source: SourceTable) -> pa.Array | None:
    """The cell of every level, none of them missing; None where the table writes some rating in another way."""
    if source.rating is None:
        return pa.array([], pa.int64())
    old = plain_array(source.table.column(source.rating))
    if not (pa.types.is_integer(old.type) or pa.types.is_floating(old.type)):
        return None
    cells = rating_cells(old.type, data.scale)
    if cells.slice(1).null_count:
        return None
    levels = np.rint(data.X.data.astype(np.float64) * data.scale.levels).astype(np.int64)
    return cells if cells.take(pa.array(levels)).equals(old) else None
