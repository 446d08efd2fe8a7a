"""Columns of a ratings table that hold the private attribute itself, by their name or by what is in them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from attriguard._text import bare_name
from attriguard.data.public_data import PublicData
from attriguard.data.tables.arrays import plain_array
from attriguard.data.tables.attributes import SEPARATOR
from attriguard.data.tables.source import SourceTable
from attriguard.errors import DataError

Ints = NDArray[np.int64]
# A column that goes with the attribute in every user is refused where this would hardly ever happen by chance.
BY_CHANCE = 1e-6


def refuse_attribute(data: PublicData, source: SourceTable, attribute: str) -> None:
    """Refuse a table that holds the private attribute itself: it must not be published, whatever its ratings are.

    A column is the attribute if it has its name, whatever case, blanks and marks. It is as good as the attribute if it
    is the same in all rows of a user, and whoever shares a cell shares the value, too: other words for the values, a
    finer division such as postcodes, or the numbers of which the values are bins.
    """
    names = {bare_name(part) for part in attribute.split(SEPARATOR)} - {""}
    roles = (source.user, source.item, source.rating)
    others = {k: name for k, name in enumerate(source.table.column_names) if k not in roles}
    for name in others.values():
        if bare_name(name) in names:
            raise DataError(f"the ratings table holds the private attribute itself, in column {name!r}; {_REMEDY}")
    for k, name in others.items():
        if any(_tells(source, k, values) for values in _values(data)):
            raise DataError(
                f"column {name!r} of the ratings table tells the private attribute of the users whose value is known; "
                f"{_REMEDY}"
            )


_REMEDY = "leave that column out with --drop-columns, or take it out of the table"


def _values(data: PublicData) -> Iterator[Ints]:
    """Every user's value as a code, -1 where it is unknown; of a joint attribute also the values of its parts."""
    if not data.disclosed.any():
        return
    yield data.y
    parts = [value.split(SEPARATOR) for value in data.values]
    if SEPARATOR in data.attribute and len({len(part) for part in parts}) == 1:
        for part in zip(*parts, strict=True):
            codes = np.unique(part, return_inverse=True)[1]
            yield np.where(data.disclosed, codes[data.y], data.y)


def _tells(source: SourceTable, k: int, values: Ints) -> bool:
    """Does the column go with the values, user by user? One row a user nearly always shows that it does not."""
    row = np.full(values.size, -1, dtype=np.int64)
    row[source.user_of_row[::-1]] = source.rows[::-1]
    users = np.flatnonzero((row >= 0) & (values >= 0))
    cells = _codes(source.table.column(k), row[users])
    if cells is None:
        return False
    users, cells = users[cells >= 0], cells[cells >= 0]
    found = values[users]
    value_of = np.full(cells.max(initial=-1) + 1, -1, dtype=np.int64)
    value_of[cells] = found
    if not users.size or (value_of[cells] != found).any():
        return False
    # Users who share a cell share the value by chance with at most the share of the most frequent value.
    confirmed, frequent = users.size - np.unique(cells).size, np.bincount(found).max() / users.size
    return bool(confirmed * np.log(frequent) < np.log(BY_CHANCE)) and _same_in_all_rows(source, k, users)


def _same_in_all_rows(source: SourceTable, k: int, users: Ints) -> bool:
    """Is the column the same in all filled rows of each of these users?"""
    cells = _codes(source.table.column(k), source.rows)
    if cells is None:
        return False
    among = np.zeros(int(source.user_of_row.max(initial=-1)) + 1, dtype=np.bool_)
    among[users] = True
    mine = among[source.user_of_row] & (cells >= 0)
    last = np.full(among.size, -1, dtype=np.int64)
    last[source.user_of_row[mine]] = cells[mine]
    return bool((last[source.user_of_row[mine]] == cells[mine]).all())


def _codes(column: pa.ChunkedArray, rows: Ints) -> Ints | None:
    """The cells of some rows: equal cells have equal codes, an empty one has -1; None for lists and structures."""
    try:
        cells = plain_array(column).take(pa.array(rows))
        if pa.types.is_large_string(cells.type):
            text = pc.utf8_trim_whitespace(cells)
            cells = pc.if_else(pc.equal(text, ""), None, text)
        codes: Ints = cells.dictionary_encode().indices.fill_null(-1).to_numpy().astype(np.int64)
    except pa.ArrowException:
        return None
    return codes
