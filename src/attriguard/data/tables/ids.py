"""Ids of users and items: whole numbers or text, kept as they came, compared as text where types differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from attriguard.data.tables.arrays import plain_array
from attriguard.data.tables.table import InputTable
from attriguard.errors import DataError

# Above this, neighbouring whole numbers are the same floating-point number.
MAX_EXACT_FLOAT = 2.0**53
# Text that is equal to the text of its own number ("7", not "007" or "+7") and fits into 64 bits.
CANONICAL_INTEGER = "^(0|-?[1-9][0-9]{0,17})$"

LARGEST = np.iinfo(np.int64).max
# Numbers that lie within so many of each other are counted in a table, however few they are.
SMALL_SPAN = 100_000


def encode_ids(table: InputTable, column: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The ids of a column, sorted, and for every row its id's position among them."""
    try:
        cells = plain_array(table.table.column(column))
        _refuse_null(table, column, cells)
        if pa.types.is_integer(cells.type):
            quickly = _encode_integers(cells.to_numpy())
            if quickly is not None:
                return quickly
        encoded = cells.dictionary_encode()
        distinct = _as_ids(encoded.dictionary, trim=table.csv is not None)
        codes = encoded.indices.to_numpy()
        if distinct.null_count:
            bad = np.flatnonzero(distinct.is_null().to_numpy(zero_copy_only=False))
            row = int(np.flatnonzero(np.isin(codes, bad))[0])
            raise DataError(
                f"{table.at(row, column)}: an id must be a whole number or text, got a fraction or nothing; "
                f"correct the row, or name another column"
            )
        # Two cells may stand for one id (" 7" and "7"), so the distinct ones are counted once more.
        again = distinct.dictionary_encode()
        order = pc.array_sort_indices(again.dictionary).to_numpy()
        rank = np.empty(order.size, dtype=np.int64)
        rank[order] = np.arange(order.size)
        ids = again.dictionary.take(pa.array(order)).to_numpy(zero_copy_only=False)
        return ids, rank[again.indices.to_numpy()][codes]
    except (pa.ArrowException, UnicodeDecodeError) as error:
        kind = table.table.column(column).type
        raise DataError(
            f"{table.name}, column {table.column_names[column]!r}: ids must be whole numbers or text, "
            f"but these {kind} values are neither; convert the column"
        ) from error


def _encode_integers(cells: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
    """As `encode_ids`, for whole numbers that are sorted or close to each other: they need neither hash nor sort."""
    if not cells.size or int(cells.max()) > LARGEST:
        return None
    cells = cells.astype(np.int64, copy=False)
    if (cells[1:] >= cells[:-1]).all():
        first = np.append(True, cells[1:] != cells[:-1])
        return cells[first], np.cumsum(first) - 1
    low, span = int(cells.min()), int(cells.max()) - int(cells.min()) + 1
    if span > max(SMALL_SPAN, cells.size):
        return None
    place = cells - low
    seen = np.zeros(span, dtype=np.bool_)
    seen[place] = True
    return np.flatnonzero(seen) + low, (np.cumsum(seen) - 1)[place]


def _refuse_null(table: InputTable, column: int, cells: pa.Array) -> None:
    if cells.null_count:
        row = int(np.flatnonzero(cells.is_null().to_numpy(zero_copy_only=False))[0])
        raise DataError(
            f"{table.at(row, column)}: the id is missing ({cells.null_count:,} such rows); "
            f"remove these rows, or name another column"
        )


def _as_ids(cells: pa.Array, *, trim: bool) -> pa.Array:
    """Distinct cells as int64, uint64 or text; null where a cell is no id."""
    kind = cells.type
    if pa.types.is_large_string(kind):
        text = pc.utf8_trim_whitespace(cells) if trim else cells
        if trim and pc.all(pc.match_substring_regex(text, CANONICAL_INTEGER)).as_py():
            return text.cast(pa.int64())
        return pc.if_else(pc.equal(text, ""), None, text)
    if pa.types.is_floating(kind):
        number = cells.cast(pa.float64())
        exact = pc.and_(pc.less_equal(pc.abs(number), MAX_EXACT_FLOAT), pc.equal(pc.floor(number), number))
        return pc.if_else(exact, number, None).cast(pa.int64())
    if kind == pa.uint64() and len(cells) and pc.max(cells).as_py() >= 2**63:
        return cells
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return cells.cast(pa.int64())
    raise pa.ArrowTypeError(str(kind))


def count_distinct(column: pa.ChunkedArray) -> int:
    """How many different cells a column has."""
    if pa.types.is_integer(column.type) and not column.null_count and len(column):
        cells = plain_array(column).to_numpy()
        if (cells[1:] >= cells[:-1]).all():
            return 1 + int(np.count_nonzero(cells[1:] != cells[:-1]))
    return len(column.unique())


def lookup(ids: ArrayLike, among: ArrayLike) -> NDArray[np.int64]:
    """For each id its position in ``among``, or -1. 7 and "7" are the same id."""
    left, right = _comparable(ids, among)
    found = pc.index_in(left, value_set=right)
    return found.fill_null(-1).to_numpy().astype(np.int64)


def union(ids: ArrayLike, more: ArrayLike) -> NDArray[Any]:
    """All ids of both, sorted, each once; all of them text if one of the two is."""
    left, right = _comparable(ids, more)
    distinct = pa.concat_arrays([left, right]).unique()
    return distinct.take(pc.array_sort_indices(distinct)).to_numpy(zero_copy_only=False)


def _comparable(ids: ArrayLike, more: ArrayLike) -> tuple[pa.Array, pa.Array]:
    left, right = _arrow_ids(ids), _arrow_ids(more)
    if left.type != right.type:
        return left.cast(pa.large_string()), right.cast(pa.large_string())
    return left, right


def _arrow_ids(ids: ArrayLike) -> pa.Array:
    try:
        array = pa.array(np.asarray(ids))
        if pa.types.is_string(array.type) or pa.types.is_null(array.type):
            return array.cast(pa.large_string())
        return _as_ids(array, trim=False)
    except (pa.ArrowException, TypeError) as error:
        raise DataError("ids must be all whole numbers or all text, got ids of mixed types") from error
