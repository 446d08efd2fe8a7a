"""The same (user, item) twice: found, refused or resolved while X is built."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from attriguard.data.scale import RatingScale
from attriguard.data.tables.cells import gather
from attriguard.data.tables.rating_text import new_rating_cells
from attriguard.data.tables.source import SourceTable
from attriguard.data.tables.table import InputTable
from attriguard.errors import DataError

DUPLICATES = ("error", "last", "mean")


class Repeats(NamedTuple):
    """How many keys come more than once, and the first two rows that have the same key."""

    keys: int
    first: int
    second: int


def find_repeats(keys: NDArray[np.int64]) -> Repeats:
    """The repeats among keys of which at least one comes more than once."""
    order, starts, counts = _group(keys)
    twice = starts[counts > 1]
    k = int(np.argmin(order[twice + 1]))
    return Repeats(twice.size, int(order[twice[k]]), int(order[twice[k] + 1]))


def _group(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Rows sorted by key (equal keys in the order of rows), where each key starts and how often it comes."""
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    return order, starts, np.diff(starts, append=keys.size)


def build_matrix(
    table: InputTable,
    source: SourceTable,
    raw: NDArray[np.float64] | None,
    scale: RatingScale,
    shape: tuple[int, int],
    duplicates: str,
) -> tuple[csr_array, SourceTable]:
    """X, and the source with one row for each (user, item); ``raw`` is None for likes."""
    if raw is not None and raw.size != source.rows.size:
        raw = raw[source.rows]
    unit = np.ones(source.rows.size, dtype=np.float32) if raw is None else scale.to_unit(raw)
    keys = source.user_of_row * shape[1] + source.item_of_row
    if (keys[1:] > keys[:-1]).all():  # sorted by user and item already, each pair once
        return _as_they_stand(unit, source, shape), source
    X = coo_array((unit, (source.user_of_row, source.item_of_row)), shape=shape).tocsr()
    if X.nnz == source.rows.size:
        return X, source
    if duplicates == "error":
        repeats = find_repeats(keys)
        first, second = (table.row(int(source.rows[row])) for row in (repeats.first, repeats.second))
        raise DataError(
            f"{table.name} has {repeats.keys:,} (user, item) pairs that come more than once, first {first} "
            f"and {second}; set the option duplicates to 'last' or 'mean', or remove the surplus rows"
        )
    order, starts, counts = _group(keys)
    last = order[starts + counts - 1]
    if duplicates == "mean" and raw is not None:
        mean = scale.to_unit(np.add.reduceat(raw[order], starts) / counts)
        moved = unit[last] != mean
        levels = np.rint(mean[moved] * scale.levels).astype(np.int64)
        source = _with_levels(source, scale, last[moved], levels)
        unit[last] = mean
    keep = np.zeros(keys.size, dtype=np.bool_)
    keep[last] = True
    source = source.of_rows(keep)
    return coo_array((unit[keep], (source.user_of_row, source.item_of_row)), shape=shape).tocsr(), source


def _as_they_stand(unit: NDArray[np.float32], source: SourceTable, shape: tuple[int, int]) -> csr_array:
    """X of rows that are sorted by user and item."""
    indptr = np.zeros(shape[0] + 1, dtype=np.int32 if unit.size < 2**31 else np.int64)
    np.cumsum(np.bincount(source.user_of_row, minlength=shape[0]), out=indptr[1:])
    X = csr_array((unit, source.item_of_row.astype(np.int32), indptr), shape=shape)
    X.has_sorted_indices = X.has_canonical_format = True
    return X


def _with_levels(
    source: SourceTable, scale: RatingScale, which: NDArray[np.int64], levels: NDArray[np.int64]
) -> SourceTable:
    """The source with other ratings in some of its rows; ``which`` are positions in ``source.rows``."""
    if source.rating is None:
        return source
    column = source.table.column(source.rating)
    cells, position = new_rating_cells(source, scale, source.user_of_row[which], levels)
    index = np.arange(len(column), dtype=np.int64)
    index[source.rows[which]] = len(column) + position
    field = source.table.schema.field(source.rating)
    return replace(source, table=source.table.set_column(source.rating, field, gather(column, index, cells)))
