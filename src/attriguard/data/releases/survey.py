"""What a whole table says about its columns, so that new rows can be like the others.

A survey of the whole table makes the releases of its blocks agree; without one, a block is surveyed as if it were the
whole. A column other than user, item and rating is one of these:

- *time*: see ``times``;
- *number*: whole numbers that are all distinct (row ids);
- *hex*: text that is nearly always distinct, hexadecimal digits and dashes of one shape (UUIDs, hashes);
- *unique*: other values that are nearly always distinct (comments): no new row can have one;
- *item*: the same in nearly all rows of an item, and no less so than in the rows of a user (titles, genres);
- *copy*: anything else, which a new row takes from a row of the same user (devices, countries).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from attriguard.data.releases.times import TimeFormat, time_format
from attriguard.data.tables.arrays import plain_array, plain_type
from attriguard.data.tables.ids import lookup, union
from attriguard.data.tables.source import SourceTable

Ints = NDArray[np.int64]
# A column depends on the item if at most this share of rows says otherwise.
EXCEPTIONS = 0.02
# A column is unique if at most this share of its cells comes more than once.
REPEATED = 0.1
# An item with fewer rows than this does not tell when it came.
KNOWN_ITEM = 20
# Cells from which the letters at each place of a hexadecimal id are learnt.
SAMPLE = 10_000
_HEX = r"^[0-9a-fA-F-]*$"
FEWEST_HEX = 8
NO_TIME = TimeFormat(None)
# Times of the table among which a row falls that has no other to go by.
MOMENTS = 1_000


@dataclass(frozen=True, eq=False)
class ColumnKind:
    """One column: its kind, and what is needed to make new cells of that kind.

    A time has its format, the table's first and last time, and the ``step`` that all times share. A number says whether
    it rises (1) or falls (-1) with the rows, and how many digits text has that begins with zeros. Hexadecimal text
    has the letters that occur at each place.
    """

    kind: str
    time: TimeFormat = NO_TIME
    low: int = 0
    high: int = 0
    step: int = 1
    follows: int = 0
    consecutive: bool = False
    digits: int = 0
    letters: tuple[str, ...] = ()


class Moments(NamedTuple):
    """The times of surveyed rows: item by item, each item's in their order from ``starts`` on; a few of ``table``."""

    times: Ints
    starts: Ints
    table: Ints

    @classmethod
    def of(cls, times: Ints, item: Ints, n_items: int) -> Moments:
        """Sort the times of each item, and take some of all that lie evenly in their order."""
        order = np.lexsort((times, item))
        starts = np.searchsorted(item[order], np.arange(n_items + 1))
        places = np.linspace(0, times.size - 1, min(MOMENTS, times.size)).astype(np.int64)
        return cls(times[order], starts, np.sort(times)[places])


@dataclass(frozen=True, eq=False)
class Survey:
    """The kinds of a table's other columns by position, and what is known about its items.

    ``item_cells`` holds a cell for each of ``items`` for every column that depends on the item, ``item_starts`` the
    first time of each item in the main column of times. A survey that comes from a release of a block has the next row
    id of each numbered column in ``next_number``. ``settled`` says that rows are put in the table's ``order`` even in a
    block that gets no new ones; ``complete``, that a block has nothing to add to it. ``source`` is what was
    surveyed, ``source_items`` the ids of its items.
    """

    columns: dict[int, ColumnKind]
    items: NDArray[Any]
    item_cells: dict[int, pa.Array] = field(default_factory=dict)
    item_starts: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    order: Any = None
    next_number: dict[int, int] = field(default_factory=dict)
    settled: bool = True
    complete: bool = False
    source: SourceTable | None = field(default=None, repr=False)
    source_items: NDArray[Any] = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False)

    @cached_property
    def moments(self) -> Moments:
        """The times of the surveyed rows, for users whose own times will not do."""
        main = self.main_time
        if main is None or self.source is None:
            raise ValueError("a survey without a column of times")
        times, valid = self.columns[main].time.read(self.source.table.column(main))
        dated = valid[self.source.rows]
        item = lookup(self.source_items, self.items)[self.source.item_of_row]
        return Moments.of(times[self.source.rows][dated], item[dated], self.items.size)

    @property
    def main_time(self) -> int | None:
        """The column of times that tells most: the one with the finest step in days."""
        found = {k: kind for k, kind in self.columns.items() if kind.kind == "time"}
        return min(found, key=lambda k: found[k].step / (found[k].time.per_day or 1e-9)) if found else None

    def with_items(self, source: SourceTable, items: NDArray[Any]) -> Survey:
        """The survey with the items of another block, of which it learns what depends on the item."""
        seen = np.flatnonzero(np.bincount(source.item_of_row, minlength=items.size))
        new = seen[lookup(items[seen], self.items) < 0] if self.items.size else seen
        every = union(self.items, items[new]) if self.items.size else items[new]
        order = np.argsort(np.concatenate((lookup(self.items, every), lookup(items[new], every))), kind="stable")
        rows = np.zeros(items.size, dtype=np.int64)
        rows[source.item_of_row] = source.rows
        cells = {}
        for k in (k for k, kind in self.columns.items() if kind.kind == "item"):
            own = plain_array(source.table.column(k)).take(pa.array(rows[new]))
            cells[k] = pa.concat_arrays([self.item_cells.get(k, own.slice(0, 0)), own]).take(pa.array(order))
        starts, main = self.item_starts, self.main_time
        if main is not None:
            own_starts = _starts(source, main, self.columns[main].time, items.size)[new]
            starts = np.concatenate((starts, own_starts))[order]
        return replace(self, items=every, item_cells=cells, item_starts=starts)


def survey_table(source: SourceTable, items: NDArray[Any]) -> Survey:
    """What the table says about its columns; ``items`` are the ids of the source's items."""
    roles = (source.user, source.item, source.rating)
    kinds = {k: _kind(source, k) for k in range(source.table.num_columns) if k not in roles}
    return Survey(kinds, items[:0], source=source, source_items=items).with_items(source, items)


def _kind(source: SourceTable, k: int) -> ColumnKind:
    column = source.table.column(k)
    form = time_format(column, source.table.column_names[k])
    number = _number(column) if form is None or form.unit is None else None
    if form is not None and (number is None or not number.consecutive):
        times, valid = form.read(column)
        times = times[valid]
        # Most columns show their step in a few rows; only if these share a larger one, all are looked at.
        shared = int(np.gcd.reduce(times[:SAMPLE] - times[0]))
        shared = shared if shared == 1 else int(np.gcd.reduce(times - times[0]))
        step = next(step for step in form.steps if shared % step == 0)
        return ColumnKind("time", time=form, low=int(times.min()), high=int(times.max()), step=step)
    if number is not None:
        return number
    try:
        encoded = plain_array(column).dictionary_encode()
    except pa.ArrowException:
        return ColumnKind("copy")  # lists and structures
    filled = _filled(encoded.dictionary)[encoded.indices.fill_null(-1).to_numpy()]
    if len(encoded.dictionary) > max(1, (1 - REPEATED) * int(filled.sum())):
        letters = _hex_letters(encoded.dictionary)
        return ColumnKind("hex", letters=letters) if letters else ColumnKind("unique")
    codes = encoded.indices.fill_null(-1).to_numpy().astype(np.int64)
    of_item, of_user = _exceptions(codes, source.item_of_row), _exceptions(codes, source.user_of_row)
    return ColumnKind("item" if of_item <= min(EXCEPTIONS * codes.size, of_user) else "copy")


def _filled(distinct: pa.Array) -> NDArray[np.bool_]:
    """Which of the distinct cells hold something, and a last False for a null (position -1)."""
    filled = distinct.is_valid()
    if pa.types.is_large_string(distinct.type):
        filled = pc.and_(filled, pc.not_equal(distinct, ""))
    return np.append(filled.to_numpy(zero_copy_only=False), False)


def _exceptions(codes: Ints, group: Ints) -> int:
    """In how many rows a column differs from the last row of the same group."""
    last = np.full(int(group.max(initial=-1)) + 1, -1, dtype=np.int64)
    last[group] = codes
    return int(np.count_nonzero(last[group] != codes))


def _number(column: pa.ChunkedArray) -> ColumnKind | None:
    """The column as row ids: whole numbers, or text of whole numbers, that are all distinct."""
    kind, digits = plain_type(column.type), 0
    if column.null_count or len(column) < 2 or not (pa.types.is_integer(kind) or pa.types.is_large_string(kind)):
        return None
    cells = plain_array(column)
    if pa.types.is_large_string(kind):
        width = pc.min_max(pc.utf8_length(cells)).as_py()
        padded = width["min"] == width["max"]
        pattern = "^[0-9]{1,18}$" if padded else "^(0|[1-9][0-9]{0,17})$"
        if not pc.all(pc.match_substring_regex(cells.slice(0, SAMPLE), pattern)).as_py():
            return None
        if not pc.all(pc.match_substring_regex(cells, pattern)).as_py():
            return None
        digits = width["max"] if padded and pc.any(pc.starts_with(cells, "0")).as_py() else 0
    try:
        numbers = cells.cast(pa.int64()).to_numpy()
    except pa.ArrowException:
        return None
    steps = np.diff(numbers)
    follows = 1 if (steps > 0).all() else -1 if (steps < 0).all() else 0
    if not follows and not np.diff(np.sort(numbers)).all():
        return None
    low, high = int(numbers.min()), int(numbers.max())
    return ColumnKind(
        "number", low=low, high=high, follows=follows, consecutive=high - low + 1 == numbers.size, digits=digits
    )


def _hex_letters(distinct: pa.Array) -> tuple[str, ...]:
    """The letters at each place of hexadecimal text of one length, or nothing."""
    if not pa.types.is_large_string(distinct.type):
        return ()
    cells = distinct.filter(pc.and_(distinct.is_valid(), pc.not_equal(distinct, "")))
    width = pc.min_max(pc.utf8_length(cells)).as_py()
    if width["min"] != width["max"] or not pc.all(pc.match_substring_regex(cells, _HEX)).as_py():
        return ()
    texts = cells.slice(0, SAMPLE).to_pylist()
    letters = tuple("".join(sorted(set(place))) for place in zip(*texts, strict=True))
    return letters if sum(len(each) > 1 for each in letters) >= FEWEST_HEX else ()


def _starts(source: SourceTable, column: int, form: TimeFormat, n_items: int) -> Ints:
    """The first time of each item, for items with enough rows; else a time before all others."""
    times, valid = form.read(source.table.column(column))
    times, items = times[source.rows][valid[source.rows]], source.item_of_row[valid[source.rows]]
    starts = np.full(n_items, np.iinfo(np.int64).max)
    np.minimum.at(starts, items, times)
    few = np.bincount(items, minlength=n_items) < KNOWN_ITEM
    return np.where(few, np.iinfo(np.int64).min, starts)
