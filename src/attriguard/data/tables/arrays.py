"""Arrow arrays in one piece and in their plain type, which all of Arrow's functions understand; and positions."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

# Positions that are looked at together.
BLOCK = 1 << 20


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type without dictionary encoding and without views, and one type for all text."""
    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    return pa.large_string() if pa.types.is_string(kind) else _without_views(kind)


def _without_views(kind: pa.DataType) -> pa.DataType:
    """The type without views, which polars uses and which Arrow can neither take rows from nor compare."""
    if kind == pa.string_view():
        return pa.large_string()
    if kind == pa.binary_view():
        return pa.large_binary()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        inner = kind.value_field.with_type(_without_views(kind.value_type))
        if pa.types.is_fixed_size_list(kind):
            return pa.list_(inner, kind.list_size)
        return pa.large_list(inner) if pa.types.is_large_list(kind) else pa.list_(inner)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_without_views(field.type)) for field in kind])
    return kind


def plain_array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column as one array of its plain type."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    kind = plain_type(column.type)
    return pa.concat_arrays([_plain_chunk(chunk, kind) for chunk in chunks] or [pa.array([], kind)])


def _plain_chunk(chunk: pa.Array, kind: pa.DataType) -> pa.Array:
    if isinstance(chunk, pa.DictionaryArray):
        # The values are cast, not the array: Arrow cannot cast every type of dictionary.
        return chunk.dictionary.cast(kind).take(chunk.indices)
    return chunk.cast(kind)


def are_all(index: NDArray[np.integer]) -> bool:
    """Whether the positions are 0, 1, 2 and so on; block by block, so that a large table needs no second array."""
    starts = range(0, index.size, BLOCK)
    return all(np.array_equal(index[k : k + BLOCK], np.arange(k, min(k + BLOCK, index.size))) for k in starts)
