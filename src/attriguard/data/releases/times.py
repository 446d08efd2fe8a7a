"""Columns of times: recognised by type, by name and by what is in them, read as whole numbers and written back.

Recognised are Arrow's dates and timestamps; Unix seconds, milliseconds, microseconds and nanoseconds as whole numbers;
whole numbers in a column that is called a time; and ISO text of one shape (``2024-05-01``, ``2024-05-01T10:00:00.5Z``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from attriguard.data.tables.arrays import plain_array, plain_type
from attriguard.data.tables.ids import CANONICAL_INTEGER

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
# Ticks of a day in each unit.
PER_DAY = {"d": 1, "s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
# Unix times from 1985 to 2100 lie between these numbers of days.
FIRST_DAY, LAST_DAY = 5_479, 47_482
_TIME_NAME = re.compile(r"time|date|stamp|epoch|unix|when|created|updated|(^|_)(ts|at|day|days)$", re.I)
_ID_NAME = re.compile(r"(^|_)(id|no|nr|num|number|index|key|row)$|[a-z](Id|ID|Index)$", re.I)
_ISO = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)(?:(?P<mark>[T ])\d\d:\d\d(?P<seconds>:\d\d(?:\.(?P<fraction>\d{1,9}))?)?)?"
    r"(?P<zone>Z|[+-]\d\d:?\d\d)?"
)
_UNIT_OF_DIGITS = ("s", "ms", "ms", "ms", "us", "us", "us", "ns", "ns", "ns")


@dataclass(frozen=True)
class TimeFormat:
    """How a column holds times; ``unit`` is None for whole numbers of an unknown unit.

    Text has blanks before it (``before``), a mark between day and hour, a number of letters, and a zone behind it.
    """

    unit: str | None
    text: bool = False
    before: str = ""
    mark: str | None = None
    letters: int = 0
    zone: str = ""

    @property
    def per_day(self) -> int | None:
        """Ticks of a day, or None if the unit is unknown."""
        return None if self.unit is None else PER_DAY[self.unit]

    @property
    def steps(self) -> list[int]:
        """Days, hours, minutes, seconds and decimals of a second in ticks, the largest first."""
        if self.per_day is None:
            return [1]
        second = self.per_day // 86_400
        fine = [10**k for k in range(9, -1, -1) if 10**k <= second]
        return [self.per_day, *([second * 3_600, second * 60] if second else []), *fine, *([] if second else [1])]

    def read(self, column: pa.ChunkedArray) -> tuple[Ints, Flags]:
        """The times of a column in ticks, and where there is one; an error of Arrow's if a cell is no such time."""
        cells = plain_array(column)
        if self.text:
            cells = pc.if_else(pc.equal(cells, ""), None, cells)
            if not pc.all(pc.starts_with(cells, self.before)).as_py() and len(cells) > cells.null_count:
                raise pa.ArrowInvalid("another shape")
            cells = pc.utf8_slice_codeunits(cells, len(self.before))
        if self.letters:
            cells = self._stamps(cells)
        elif self.text:
            if not pc.all(pc.match_substring_regex(cells, CANONICAL_INTEGER), min_count=0).as_py():
                raise pa.ArrowInvalid("no whole number")
            cells = cells.cast(pa.int64())
        elif pa.types.is_date64(cells.type):
            cells = cells.cast(pa.timestamp("ms"))
        elif pa.types.is_date32(cells.type):
            cells = cells.cast(pa.int32())
        numbers = cells.cast(pa.int64())
        return numbers.fill_null(0).to_numpy(), numbers.is_valid().to_numpy(zero_copy_only=False)

    def _stamps(self, cells: pa.Array) -> pa.Array:
        width = pc.min_max(pc.utf8_length(cells)).as_py()
        right = pc.all(pc.ends_with(cells, self.zone), min_count=0).as_py()
        if set(width.values()) - {self.letters + len(self.zone), None} or not right:
            raise pa.ArrowInvalid("another shape")
        bare = pc.utf8_slice_codeunits(cells, 0, self.letters)
        if self.mark is None:
            return bare.cast(pa.date32()).cast(pa.int32())
        marks = pc.equal(pc.utf8_slice_codeunits(bare, 10, 11), self.mark)
        if not pc.all(marks, min_count=0).as_py():
            raise pa.ArrowInvalid("another shape")
        return bare.cast(pa.timestamp(self.unit))

    def cells(self, times: Ints, kind: pa.DataType) -> pa.Array:
        """Times as cells of a column of the plain type ``kind``, spelt as the column spells them."""
        if not self.text:
            if pa.types.is_date32(kind):
                return pa.array(times.astype(np.int32)).cast(kind)
            if pa.types.is_date64(kind):
                return pa.array(times).cast(pa.timestamp("ms")).cast(kind)
            return pa.array(times).cast(kind)
        if not self.letters:
            text = pa.array(times).cast(pa.large_string())
        elif self.mark is None:
            text = pa.array(times.astype(np.int32)).cast(pa.date32()).cast(pa.large_string())
        else:
            text = pa.array(times).cast(pa.timestamp(self.unit)).cast(pa.large_string())
            text = pc.utf8_slice_codeunits(text, 0, self.letters)
            if self.mark != " ":
                text = pc.utf8_replace_slice(text, 10, 11, self.mark)
        ends = (pa.scalar(self.before, pa.large_string()), pa.scalar(self.zone, pa.large_string()))
        return pc.binary_join_element_wise(ends[0], text, ends[1], pa.scalar("", pa.large_string()))


def time_format(column: pa.ChunkedArray, name: str) -> TimeFormat | None:
    """How the column holds times, or None if it holds none."""
    kind = plain_type(column.type)
    if pa.types.is_timestamp(kind):
        found: TimeFormat | None = TimeFormat(kind.unit)
    elif pa.types.is_date(kind):
        found = TimeFormat("d" if pa.types.is_date32(kind) else "ms")
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        found = _of_numbers(column, name, TimeFormat(None))
    elif pa.types.is_large_string(kind):
        found = _of_text(column, name)
    else:
        return None
    try:
        return found if found is not None and found.read(column)[1].any() else None
    except pa.ArrowException:
        return None


def _of_numbers(column: pa.ChunkedArray, name: str, form: TimeFormat) -> TimeFormat | None:
    try:
        numbers, valid = form.read(column)
    except pa.ArrowException:
        return None
    if not valid.any():
        return None
    low, high = int(numbers[valid].min()), int(numbers[valid].max())
    for unit in ("s", "ms", "us", "ns"):
        if FIRST_DAY * PER_DAY[unit] <= low and high <= LAST_DAY * PER_DAY[unit]:
            called = _TIME_NAME.search(name) is not None
            return TimeFormat(unit, form.text, form.before) if called or not _ID_NAME.search(name) else None
    return form if _TIME_NAME.search(name) else None


def _of_text(column: pa.ChunkedArray, name: str) -> TimeFormat | None:
    """The shape of the first cell that is not empty; `time_format` finds out whether all cells have it."""
    first = next((text for chunk in column.chunks for text in chunk.slice(0, 1_000).to_pylist() if text), "")
    core = str(first).lstrip()
    before = str(first)[: len(str(first)) - len(core)]
    shape = _ISO.fullmatch(core)
    if shape is None:
        if re.fullmatch(CANONICAL_INTEGER, core) is None:
            return None
        return _of_numbers(column, name, TimeFormat(None, text=True, before=before))
    digits = len(shape["fraction"] or "")
    zone = shape["zone"] or ""
    unit = "d" if shape["mark"] is None else _UNIT_OF_DIGITS[digits]
    return TimeFormat(unit, True, before, shape["mark"], len(core) - len(zone), zone)
