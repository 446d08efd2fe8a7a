"""The order of a table's rows: recognised where there is one, and completed where it leaves some rows equal.

Rows may be sorted by any columns, one after the other (user, item, rating, times, others), upwards or downwards, ids as
numbers or as text; or each user's rows may stand together, whatever the order of users. What is looked for first is an
order by user, since only such a table can be released in blocks. Below it, an order of the whole table is believed if
at least ``EVIDENCE`` pairs of neighbours show it, so that a small block does not show one by chance. Row ids do not
count: they are made anew once the order is known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from attriguard.data.public_data import PublicData
from attriguard.data.releases.changes import TableChanges
from attriguard.data.releases.fill import Filled
from attriguard.data.releases.item_order import ItemOrder
from attriguard.data.releases.survey import Survey
from attriguard.data.tables.arrays import are_all, plain_array, plain_type
from attriguard.data.tables.cells import gather, rating_values
from attriguard.data.tables.source import SourceTable

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
EVIDENCE = 30
MOST_LEVELS = 4
# Rows by which a column is judged first; few columns must be looked at as a whole.
WINDOWS, WINDOW = 32, 128


class Level(NamedTuple):
    """Rows are sorted by a column, upwards (1) or downwards (-1).

    ``mode`` says how its cells are compared: as "numbers", as "text", or users "together" (each user's rows in one).
    """

    column: int
    mode: str
    sign: int = 1

    def signed(self, values: NDArray[Any]) -> NDArray[Any]:
        """Numbers that rise along the rows."""
        if self.sign == 1:
            return values
        return -values if values.dtype.kind == "f" else ~values  # ~n is -n - 1, for numbers without a sign, too


class Rows:
    """The cells of the table's rows, and of the new ones, as numbers that compare as the cells do."""

    def __init__(
        self, data: PublicData, source: SourceTable, items: NDArray[Any], changes: TableChanges, filled: Filled
    ) -> None:
        self.data, self.source, self.changes, self.filled = data, source, changes, filled
        self.items, self.item_order = items, ItemOrder(data.items, items)
        self._made: dict[tuple[int, str], tuple[NDArray[Any], NDArray[Any]]] = {}

    def pair(self, column: int, mode: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """For the table's rows and for the new rows: numbers that compare as the cells do."""
        if (column, mode) not in self._made:
            self._made[column, mode] = self._make(column, mode)
        return self._made[column, mode]

    def _make(self, column: int, mode: str) -> tuple[NDArray[Any], NDArray[Any]]:
        source, changes = self.source, self.changes
        if column == source.user:
            if mode == "together":
                rank = _blocks(source.user_of_row, self.data.n_users)
            else:
                rank, _ = ItemOrder(self.data.users, self.data.users[:0]).ranks(by_number=mode == "numbers")
            return _ranked(rank, source.user_of_row), rank[changes.added_users]
        if column == source.item:
            rank, new = self.item_order.ranks(by_number=mode == "numbers")
            return _ranked(rank, source.item_of_row), new[changes.added_columns]
        if column == source.rating:
            values = np.array(rating_values(self.data.scale))
            numbers = _numbers(plain_array(source.table.column(column)), mode)
            return numbers[source.rows], values[changes.added_levels]
        if column in self.filled.times:
            old, new = self.filled.times[column]
            return old[source.rows], new
        cells = plain_array(source.table.column(column))
        index, extra = self.filled.cells.get(column, (np.empty(0, dtype=np.int64), None))
        numbers = _numbers(cells if extra is None else pa.concat_arrays([cells, extra]), mode)
        return numbers[source.rows], np.append(numbers, 0)[index]

    def released(self, column: int, mode: str) -> NDArray[Any]:
        """The same numbers for the rows that stay, with their new ratings, followed by the new rows."""
        old, new = self.pair(column, mode)
        if column == self.source.rating:
            old = np.where(self.changes.changed, np.array(rating_values(self.data.scale))[self.changes.new_level], old)
        return np.concatenate((old[~self.changes.removed], new))

    def modes(self, column: int) -> list[str]:
        """The ways in which the column's cells can be compared."""
        if column in self.filled.times or column == self.source.rating:
            return ["numbers"]
        text = pa.types.is_large_string(plain_type(self.source.table.column(column).type))
        return ["numbers", "text"] if text else ["numbers"]

    def sample(self, column: int, mode: str, rows: Ints) -> NDArray[Any]:
        """The same numbers for a few rows of the table; they compare among themselves only."""
        roles = (self.source.user, self.source.item, *self.filled.times)
        if column in roles or (column, mode) in self._made:
            return self.pair(column, mode)[0][rows]
        return _numbers(plain_array(gather(self.source.table.column(column), self.source.rows[rows])), mode)


def table_rows(data: PublicData, source: SourceTable, survey: Survey) -> Rows:
    """The rows of a table without new ones."""
    none, nothing = np.zeros(source.rows.size, dtype=np.bool_), np.empty(0, dtype=np.int64)
    times = {}
    for k, kind in survey.columns.items():
        if kind.kind == "time":
            ticks, valid = kind.time.read(source.table.column(k))
            times[k] = np.where(valid, ticks, np.iinfo(np.int64).min), nothing
    changes = TableChanges(nothing, none, none, nothing, nothing, nothing)
    return Rows(data, source, data.items[:0], changes, Filled(times=times))


def find_order(rows: Rows, survey: Survey, sequence: Ints | None = None) -> tuple[Level, ...]:
    """The columns that the rows are sorted by; ``sequence`` are the rows in another order than the table's."""
    source = rows.source
    if source.rows.size < 2:
        return (Level(source.user, "together"),)
    alone = int(np.bincount(source.user_of_row).max()) == 1  # every user has one row
    tie, levels = np.ones(source.rows.size - 1, dtype=np.bool_), list[Level]()
    while len(levels) < MOST_LEVELS and tie.any():
        evidence = EVIDENCE if alone or (levels and levels[0].column == source.user) else 1
        found = _user_level(rows, sequence) if not levels else None
        if found is None or (alone and found.mode == "together"):
            found = _next_level(rows, survey, (sequence, tie), evidence, [each.column for each in levels]) or found
        if found is None:
            break
        levels.append(found)
        values = _along(sequence, rows.pair(found.column, found.mode)[0])
        tie &= values[1:] == values[:-1]
    return tuple(levels)


def completed(rows: Rows, levels: tuple[Level, ...]) -> tuple[Level, ...]:
    """The order with user and item behind it, where it lacks them, so that no two rows are equal in it."""
    for column in (rows.source.user, rows.source.item):
        if column not in [level.column for level in levels]:
            modes = rows.modes(column)
            # Of numbers and text, the way in which the rows are sorted already.
            kept = [mode for mode in modes if first_broken(rows, (*levels, Level(column, mode))) is None]
            levels = (*levels, Level(column, (kept or modes)[0]))
    return levels


def first_broken(rows: Rows, levels: tuple[Level, ...]) -> int | None:
    """The first of the levels by which the table's rows are not sorted; None if they are sorted by all."""
    tie = np.ones(max(rows.source.rows.size - 1, 0), dtype=np.bool_)
    for depth, level in enumerate(levels):
        values = level.signed(rows.pair(level.column, level.mode)[0])
        if ((values[1:] < values[:-1]) & tie).any():
            return depth
        tie &= values[1:] == values[:-1]
    return None


def _along(sequence: Ints | None, values: NDArray[Any]) -> NDArray[Any]:
    """The values of the rows in a sequence, or in the table's own order."""
    return values if sequence is None else values[sequence]


def _user_level(rows: Rows, sequence: Ints | None) -> Level | None:
    """Are the rows sorted by user, or does each user have them in one?"""
    of_row = _along(sequence, rows.source.user_of_row)
    others = of_row[1:] != of_row[:-1]
    if np.count_nonzero(others) + 1 > np.count_nonzero(np.bincount(of_row)):
        return None
    user = rows.source.user
    for mode in rows.modes(user):
        sign = _direction(_along(sequence, rows.pair(user, mode)[0]), others, 1)
        if sign is not None:
            return Level(user, mode, sign)
    return Level(user, "together")


def _next_level(
    rows: Rows, survey: Survey, known: tuple[Ints | None, Flags], evidence: int, used: list[int]
) -> Level | None:
    """A column by which the rows are sorted that are equal so far, looked for in a sample of them first."""
    sequence, tie = known
    n_rows = rows.source.rows.size
    starts = np.linspace(0, max(n_rows - WINDOW, 0), WINDOWS).astype(np.int64)
    sample = np.unique((starts[:, None] + np.arange(min(WINDOW, n_rows))).reshape(-1))
    sampled = sample if sequence is None else sequence[sample]
    near = (np.diff(sample) == 1) & tie[sample[:-1]] if used else np.ones(sample.size - 1, dtype=np.bool_)
    times = [k for k, kind in survey.columns.items() if kind.kind == "time"]
    others = [k for k, kind in survey.columns.items() if kind.kind in ("item", "copy")]
    rating = [] if rows.source.rating is None else [rows.source.rating]
    for column in (rows.source.user, rows.source.item, *times, *rating, *others):
        for mode in rows.modes(column) if column not in used else []:
            try:
                if _direction(rows.sample(column, mode, sampled), near, 0) is None:
                    continue
                sign = _direction(_along(sequence, rows.pair(column, mode)[0]), tie, evidence)
            except pa.ArrowException:
                continue  # cells that cannot be compared
            if sign is not None:
                return Level(column, mode, sign)
    return None


def _direction(values: NDArray[Any], among: Flags, evidence: int) -> int | None:
    """1 if neighbours rise, -1 if they fall, ``evidence`` times at least; None if they do both or too seldom."""
    rises = int(np.count_nonzero((values[1:] > values[:-1]) & among))
    falls = int(np.count_nonzero((values[1:] < values[:-1]) & among))
    if (rises and falls) or rises + falls < evidence:
        return None
    return -1 if falls else 1


def _blocks(user_of_row: Ints, n_users: int) -> Ints:
    """The users in the order in which they come; users without rows come last."""
    rank = np.arange(n_users) + user_of_row.size
    first = np.flatnonzero(np.append(True, np.diff(user_of_row) != 0)) if user_of_row.size else user_of_row
    rank[user_of_row[first[::-1]]] = first[::-1]
    return rank


def _ranked(rank: Ints, position: Ints) -> Ints:
    """The rank of each position; most ids stand in their order already."""
    return position if are_all(rank) else rank[position]


def _numbers(cells: pa.Array, mode: str) -> NDArray[Any]:
    """Numbers that compare as the cells do; an empty cell comes before all others."""
    if mode == "numbers" and pa.types.is_large_string(cells.type):
        cells = pc.utf8_trim_whitespace(cells)
        cells = pc.if_else(pc.equal(cells, ""), None, cells).cast(pa.float64())
    if pa.types.is_integer(cells.type) and not cells.null_count:
        return cells.to_numpy()
    if pa.types.is_floating(cells.type):
        return cells.fill_null(-np.inf).to_numpy(zero_copy_only=False)
    encoded = cells.dictionary_encode()
    order = pc.array_sort_indices(encoded.dictionary).to_numpy()
    rank = np.full(order.size + 1, -1, dtype=np.int64)
    rank[order] = np.arange(order.size)
    return rank[encoded.indices.fill_null(-1).to_numpy()]
