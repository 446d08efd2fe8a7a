"""Cells of a table: ratings as numbers, and numbers back as cells of the column's own type."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from attriguard.data.scale import RatingScale
from attriguard.data.tables.arrays import are_all, plain_array
from attriguard.data.tables.table import InputTable
from attriguard.errors import DataError

Column: TypeAlias = pa.Array | pa.ChunkedArray

NUMBER = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"


def rating_numbers(table: InputTable, column: int, *, may_like: bool) -> NDArray[np.float64]:
    """A column of ratings as numbers, every one of them finite; ``may_like``: errors propose to take rows as likes."""
    cells = plain_array(table.table.column(column))
    remedy = ", or take every row as a like with the option like" if may_like else ""
    if pa.types.is_large_string(cells.type):
        cells = _numbers_in_text(table, column, cells)
    elif pa.types.is_boolean(cells.type):
        cells = cells.cast(pa.int8())
    elif not (pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type) or pa.types.is_decimal(cells.type)):
        raise DataError(
            f"{table.name}, column {table.column_names[column]!r}: ratings must be numbers, got {cells.type}; "
            f"name another column with the option rating{remedy}"
        )
    numbers: NDArray[np.float64] = cells.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        row = int(bad[0])
        got = "nothing" if not cells[row].is_valid else f"{numbers[row]:g}"
        raise DataError(
            f"{table.at(row, column)}: a rating must be a finite number, got {got} ({bad.size:,} such rows); "
            f"remove these rows{remedy}"
        )
    return numbers


def _numbers_in_text(table: InputTable, column: int, cells: pa.Array) -> pa.Array:
    text = pc.utf8_trim_whitespace(cells)
    text = pc.if_else(pc.equal(text, ""), None, text)
    try:
        return text.cast(pa.float64())
    except pa.ArrowInvalid:
        number = pc.match_substring_regex(text, NUMBER).fill_null(True).to_numpy(zero_copy_only=False)
    bad = np.flatnonzero(~number)
    row = int(bad[0]) if bad.size else 0
    raise DataError(
        f"{table.at(row, column)}: a number was expected, got other text ({bad.size:,} such rows); "
        f"write ratings with a dot for decimals, or name another column with the option rating"
    )


def rating_cells(kind: pa.DataType, scale: RatingScale) -> pa.Array:
    """The cell for every level of the scale (0 is "not rated") in a column of numbers of type ``kind``.

    A cell is null where the type has no number for the level.
    """
    cells: list[float | None] = [*rating_values(scale)]
    if not scale.is_likes:
        cells[0] = None
    if pa.types.is_integer(kind):
        cells = [v if v is not None and v == round(v) else None for v in cells]
    try:
        return pa.array(cells, pa.float64()).cast(kind)
    except pa.ArrowException as error:
        raise DataError(f"ratings of the scale {scale} do not fit a column of {kind}; convert the column") from error


def rating_values(scale: RatingScale) -> list[float]:
    """The rating of every level of the scale, without the digits that binary fractions leave behind."""
    return [float(f"{value:.12g}") for value in scale.from_unit(np.arange(scale.levels + 1) / scale.levels)]


def id_cells(ids: NDArray[Any], kind: pa.DataType) -> pa.Array:
    """Ids as cells of a column of type ``kind`` (its plain type)."""
    texts = pa.array([str(identity) for identity in ids.tolist()], pa.large_string())
    if pa.types.is_large_string(kind):
        return texts
    try:
        if pa.types.is_floating(kind):
            return texts.cast(pa.int64()).cast(kind)
        return texts.cast(kind)
    except pa.ArrowException as error:
        raise DataError(
            f"ids that are new to the table do not fit its column of {kind}; "
            f"give the ids of the table and of the items the same type"
        ) from error


def gather(column: pa.ChunkedArray, index: NDArray[np.int64], extra: pa.Array | None = None) -> Column:
    """Cells by position in the column followed by ``extra``; -1 gives a null. The column's type is kept."""
    everything = index.size == len(column) and are_all(index)
    if everything and not pa.types.is_dictionary(column.type):
        return column
    none = index < 0
    rows = pa.array(index, mask=none if none.any() else None)
    if pa.types.is_dictionary(column.type):
        return _gather_dictionary(column, rows, extra)
    cells = plain_array(column)
    if extra is not None:
        cells = pa.concat_arrays([cells, extra])
    return cells.take(rows).cast(column.type)


def only(column: pa.ChunkedArray, keep: NDArray[np.bool_]) -> Column:
    """The cells to be kept, as ``gather`` would give them."""
    if pa.types.is_dictionary(column.type) or keep.all():
        return gather(column, np.flatnonzero(keep))
    return plain_array(column).filter(pa.array(keep)).cast(column.type)


def _gather_dictionary(column: pa.ChunkedArray, rows: pa.Array, extra: pa.Array | None) -> pa.Array:
    """As ``gather``; categories keep their order, new ones come after them.

    Categories that no gathered row has are left out: they may be those of hidden rows, and would be written with the
    others.
    """
    encoded = column.chunk(0) if column.num_chunks == 1 else column.unify_dictionaries().combine_chunks()
    kind = column.type
    categories = plain_array(encoded.dictionary)
    indices = encoded.indices.cast(pa.int64())
    if extra is not None:
        new = extra.filter(pc.is_null(pc.index_in(extra, value_set=categories))).drop_null().unique()
        categories = pa.concat_arrays([categories, new])
        indices = pa.concat_arrays([indices, pc.index_in(extra, value_set=categories).cast(pa.int64())])
    chosen = indices.take(rows)
    used = np.zeros(len(categories), dtype=np.bool_)
    used[chosen.drop_null().to_numpy()] = True
    chosen = pa.array(np.cumsum(used) - 1, pa.int64()).take(chosen)
    return pa.DictionaryArray.from_arrays(
        chosen.cast(kind.index_type), categories.filter(pa.array(used)).cast(kind.value_type), ordered=kind.ordered
    )
