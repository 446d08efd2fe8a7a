"""Names of items for people to read: a table with a row an item, or a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from attriguard._text import bare_name
from attriguard.data.tables.arrays import plain_array
from attriguard.data.tables.columns import find_column, usable_columns
from attriguard.data.tables.ids import encode_ids
from attriguard.data.tables.table import InputTable, TableLike, read_table
from attriguard.errors import DataError

ItemNames: TypeAlias = TableLike | Mapping[Any, str]


def read_item_names(given: ItemNames, item: str = "") -> dict[str, str]:
    """The name of every item by its id as text (7 and "7" are the same id); of two names the first counts.

    A table has a column of item ids, called ``item`` as in the ratings table or by a usual name, and one of names
    ("title", "name", "movie_title" …); of two columns, one is enough to tell the other.
    """
    if isinstance(given, Mapping):
        return {str(key): str(name) for key, name in given.items()}
    table = read_table(given, "the table of item names")
    id_column, title_column = _find(table, item)
    ids, codes = encode_ids(table, id_column)
    try:
        titles = pc.utf8_trim_whitespace(plain_array(table.table.column(title_column)).cast(pa.large_string()))
    except (pa.ArrowException, UnicodeDecodeError):
        kind = table.table.column(title_column).type
        raise DataError(
            f"{table.name}, column {table.column_names[title_column]!r}: a name is text, got {kind}; convert the column"
        ) from None
    keys = [str(identity) for identity in ids.tolist()]
    rows = zip(codes.tolist(), titles.to_pylist(), strict=True)
    # From the last row to the first, so that the first name of an item is the one that stays.
    return {keys[code]: title for code, title in reversed(list(rows)) if title}


def _find(table: InputTable, item: str) -> tuple[int, int]:
    """The columns of ids and of names."""
    free = [table.column_names[k] for k in usable_columns(table)]
    same = [name for name in free if bare_name(name) == bare_name(item)]
    identity = same[0] if same else find_column(free, "item_id")
    title = find_column([name for name in free if name != identity], "title")
    rest = [name for name in free if name not in (identity, title)]
    if len(free) == 2 and len(rest) == 1:  # the one that is not found is the one that is left
        identity, title = identity or rest[0], title or rest[0]
    if identity is None or title is None:
        raise DataError(
            f"{table.name} must have a column of item ids and one of names, such as item,title, but its columns are "
            f"{table.shown_columns}; rename them"
        )
    return table.column_names.index(identity), table.column_names.index(title)


def name_items(items: NDArray[Any], names: Mapping[str, str]) -> tuple[NDArray[Any], int]:
    """A name for every item, its id where there is none, and how many of the items have a name."""
    ids = [str(item) for item in items.tolist()]
    if not (known := sum(identity in names for identity in ids)):
        raise DataError(
            f"the item names name none of the {len(ids):,} items; are the ids written as in the table of ratings?"
        )
    return np.array([names.get(identity, identity) for identity in ids], dtype=object), known
