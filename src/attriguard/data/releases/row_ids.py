"""Row ids of a released table: neither a gap nor a number out of sequence tells a row that came or went.

Numbers that follow the rows, or another order that the table shows (times), are given anew to all rows along that
order: consecutive ones without gaps, others with gaps drawn from the column's own. Numbers that follow nothing and are
not consecutive stay, and new rows get free ones between the smallest and the largest. In a block of a larger table,
numbers that do not follow the rows cannot be given anew: they are empty in new rows, and reported as telltale.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from attriguard.data.releases.chance import Chance, Draws
from attriguard.data.releases.orders import Rows, completed, find_order
from attriguard.data.releases.places import in_order, shuffled
from attriguard.data.releases.survey import ColumnKind, Survey
from attriguard.data.tables.arrays import are_all, plain_array, plain_type
from attriguard.data.tables.cells import gather

Ints = NDArray[np.int64]


def row_ids(
    rows: Rows, k: int, survey: Survey, released: Ints, chance: tuple[Chance, Draws], *, part: bool
) -> tuple[pa.Array, int] | None:
    """The column of row ids of the released table and the next number, or None if a part cannot be given one.

    ``released`` are the released rows as positions in the rows that stay followed by the new ones.
    """
    kind, old = survey.columns[k], _read(rows, k)
    same = released.size == old.size and are_all(released) and not rows.changes.removed.any()
    if kind.follows:
        start = survey.next_number.get(k, int(old[0]) if old.size else 0)
        steps = np.cumsum(_gaps(old, kind, released.size, chance[0])) * kind.follows
        numbers = start + np.append(0, steps)
        if same and old.size and k not in survey.next_number:  # nothing to hide
            numbers = np.append(old, old[-1] + kind.follows * _gaps(old, kind, 1, chance[0]))
        return _cells(numbers[: released.size], rows, k, kind), int(numbers[-1])
    if part:
        return None
    every = old if same else _numbered(rows, kind, survey, old, chance)
    return _cells(every[released], rows, k, kind), 0


def _numbered(rows: Rows, kind: ColumnKind, survey: Survey, old: Ints, chance: tuple[Chance, Draws]) -> Ints:
    """The ids of the rows that stay and of the new ones, for ids that do not follow the rows."""
    by_id = np.argsort(old, kind="stable")
    levels = find_order(rows, survey, by_id)
    if not (levels or kind.consecutive):
        return np.concatenate((old[~rows.changes.removed], _free(old, chance[1].apart("row ids"))))
    order = in_order(rows, completed(rows, levels)) if levels else shuffled(rows, chance[0], "row ids")
    numbers = np.empty(order.size, dtype=np.int64)
    numbers[order] = old.min() + np.append(0, np.cumsum(_gaps(old[by_id], kind, order.size, chance[0])))[: order.size]
    return numbers


def _gaps(numbers: Ints, kind: ColumnKind, count: int, chance: Chance) -> Ints:
    """``count`` gaps as there are between the numbers, which rise or fall; all ones, if they are consecutive."""
    gaps = np.abs(np.diff(numbers))
    if kind.consecutive or not gaps.size:
        return np.ones(count, dtype=np.int64)
    return chance.generator("gaps").choice(gaps, count)


def _free(old: Ints, draws: Draws) -> Ints:
    """Distinct numbers between the smallest and the largest that no row has."""
    low, high = int(old.min()), int(old.max())
    new, todo = np.zeros(draws.seeds.size, dtype=np.int64), np.arange(draws.seeds.size)
    for turn in range(64):
        new[todo] = low + (draws.of(todo).uniform("free", turn) * (high - low)).astype(np.int64)
        _, first = np.unique(np.concatenate((old, new)), return_index=True)
        taken = np.ones(old.size + new.size, dtype=np.bool_)
        taken[first] = False
        todo = np.flatnonzero(taken[old.size :])
        if not todo.size:
            break
    new[todo] = high + 1 + np.arange(todo.size)  # no number is free
    return new


def _read(rows: Rows, k: int) -> Ints:
    return plain_array(rows.source.table.column(k)).cast(pa.int64()).to_numpy()[rows.source.rows]


def _cells(numbers: Ints, rows: Rows, k: int, kind: ColumnKind) -> pa.Array:
    """Numbers as cells of the column."""
    column = rows.source.table.column(k)
    cells = pa.array(numbers).cast(plain_type(column.type))
    if kind.digits:
        cells = pc.utf8_lpad(cells, kind.digits, "0")
    index = np.arange(len(column), len(column) + numbers.size)
    return gather(column, index, cells)
