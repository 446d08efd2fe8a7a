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
from attriguard.data.releases.orders import Rows, find_order
from attriguard.data.releases.places import place_new_rows
from attriguard.data.releases.survey import ColumnKind, Survey
from attriguard.data.tables.arrays import plain_array, plain_type
from attriguard.data.tables.cells import gather

Ints = NDArray[np.int64]


def row_ids(
    rows: Rows, k: int, survey: Survey, order: tuple[Ints, Ints], chance: tuple[Chance, Draws], *, part: bool
) -> tuple[pa.Array, int] | None:
    """The column of row ids of the released table and the next number, or None if a part cannot be given one.

    ``order`` are the released rows as positions in the rows that stay followed by the new ones, and the new rows in
    the sequence in which they follow.
    """
    kind, (released, sequence) = survey.columns[k], order
    old = _read(rows, k)
    stay = ~rows.changes.removed
    if kind.follows:
        start = survey.next_number.get(k, int(old[0]) if old.size else 0)
        if not kind.consecutive and not sequence.size and k not in survey.next_number:
            return _cells(old[stay][released], rows, k, kind), start
        steps = np.cumsum(_gaps(old, kind, released.size, chance[0])) * kind.follows
        next_number = start + int(steps[-1]) if steps.size else start
        return _cells(start + np.append(0, steps)[: released.size], rows, k, kind), next_number
    if part:
        return None
    new = _numbered(rows, kind, survey, old, chance)
    every = np.concatenate((new[0][stay], new[1][sequence]))
    return _cells(every[released], rows, k, kind), 0


def _numbered(
    rows: Rows, kind: ColumnKind, survey: Survey, old: Ints, chance: tuple[Chance, Draws]
) -> tuple[Ints, Ints]:
    """The ids of the table's rows and of the new ones, for ids that do not follow the rows."""
    by_id = np.argsort(old, kind="stable")
    levels = find_order(rows, survey, by_id)
    changes, draws = rows.changes, chance[1].apart("row ids")
    if not (levels or kind.consecutive):
        return old, _free(old, draws)
    new_order, slot = place_new_rows(rows, levels, draws, by_id)
    stay = ~changes.removed[by_id]
    rank = np.argsort(np.concatenate((np.flatnonzero(stay), slot - 0.5)), kind="stable")
    numbers = np.empty(rank.size, dtype=np.int64)
    numbers[rank] = old.min() + np.append(0, np.cumsum(_gaps(old[by_id], kind, rank.size, chance[0])))[: rank.size]
    result, new = np.zeros_like(old), np.zeros(new_order.size, dtype=np.int64)
    result[by_id[stay]] = numbers[: int(stay.sum())]
    new[new_order] = numbers[int(stay.sum()) :]
    return result, new


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
