"""What stands in the other columns of new rows: what could stand in a row of that user about that item.

A new row has a *donor*, a row of the same user: the one beside it in time, or any. Columns that do not depend on the
item are copied from the donor, so that device, country and session belong together. Columns that depend on the item
(titles) come from a row of the item. Times are drawn by ``visits``; a second column of times moves with the main one,
or is the same rounded down (a date). A user without rows, or with one row, has the times of other rows of the item.

Not covered: columns that follow from the time otherwise (a weekday beside a timestamp) are the donor's, which is
nearly always of the same day; text about both user and item (comments) stays empty, and is reported as telltale.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from attriguard.data.public_data import PublicData
from attriguard.data.releases.chance import Draws
from attriguard.data.releases.changes import TableChanges
from attriguard.data.releases.item_order import ItemOrder
from attriguard.data.releases.survey import ColumnKind, Survey
from attriguard.data.releases.visits import Visits
from attriguard.data.tables.arrays import plain_type
from attriguard.data.tables.ids import lookup
from attriguard.data.tables.source import SourceTable

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
# Positions in a column followed by new cells (-1: empty), and the new cells.
Cells = tuple[Ints, pa.Array | None]
# How often times are drawn anew for rows of a user that got the same one.
TURNS = 6


@dataclass(frozen=True, eq=False)
class Filled:
    """The other columns of new rows: their cells, the times of old and new rows, and what the publisher is told."""

    cells: dict[int, Cells] = field(default_factory=dict)
    times: dict[int, tuple[Ints, Ints]] = field(default_factory=dict)
    how: dict[str, str] = field(default_factory=dict)
    telltale: list[str] = field(default_factory=list)


def fill_new_rows(
    data: PublicData,
    source: SourceTable,
    changes: TableChanges,
    items: NDArray[Any],
    survey: Survey,
    draws: Draws,
    recent: Flags | None = None,
) -> Filled:
    """Cells for every column of the new rows but user, item, rating and row ids.

    ``recent``: of the source's rows, those like which the new ones shall be, for users who have any.
    """
    filled, main = Filled(), survey.main_time
    if not survey.columns:
        return filled
    new = _NewRows(data, source, changes, items, recent)
    donors = new.random_donors(draws)
    known = lookup(items, survey.items)[changes.added_columns]
    if main is not None:
        donors = _fill_main_time(filled, new, (main, survey), known, (donors, draws))
    end = source.table.num_rows
    for k, kind in survey.columns.items():
        name = source.table.column_names[k]
        if kind.kind == "time" and main is not None and k != main:
            filled.cells[k], filled.times[k] = _other_time(filled, source, (k, main), survey, donors)
            filled.how[name] = f"moved along with {source.table.column_names[main]}"
        elif kind.kind == "copy":
            filled.cells[k] = donors, None
            filled.how[name] = "copied from a row of the same user"
        elif kind.kind == "item":
            filled.cells[k] = np.where(known >= 0, end + known, -1), survey.item_cells[k]
            if (known < 0).any():
                filled.telltale.append(name)
            else:
                filled.how[name] = "taken from rows of the same item"
        elif kind.kind == "hex":
            filled.cells[k] = end + np.arange(donors.size), _hex_cells(source, k, kind, draws)
            filled.how[name] = "drawn anew in the same shape"
        elif kind.kind == "unique":
            filled.cells[k] = np.full(donors.size, -1, dtype=np.int64), None
            filled.telltale.append(name)
    return filled


def _starts(survey: Survey, known: Ints) -> Ints:
    """The first time that each new row may have: that of its item, if the survey knows the item."""
    return np.append(survey.item_starts, np.iinfo(np.int64).min)[known]


class _NewRows:
    """The users and items of new rows, and the table's rows of the same users and of the same items."""

    def __init__(
        self,
        data: PublicData,
        source: SourceTable,
        changes: TableChanges,
        items: NDArray[Any],
        recent: Flags | None = None,
    ) -> None:
        self.source = source
        self.items = lookup(items, data.items)[changes.added_columns]
        # Users are numbered anew, so that users without new rows cost nothing.
        gets_new = np.bincount(changes.added_users, minlength=data.n_users) > 0
        number = np.where(gets_new, np.cumsum(gets_new) - 1, -1)
        self.user, self.n_users = number[changes.added_users], int(np.count_nonzero(gets_new))
        of_row = number[source.user_of_row]
        if recent is not None:
            has_recent = np.bincount(source.user_of_row[recent], minlength=data.n_users) > 0
            of_row = np.where(recent | ~has_recent[source.user_of_row], of_row, -1)
        mine = np.flatnonzero(of_row >= 0)
        # By user and item, so that nothing depends on where the rows stand in the table.
        rank, _ = ItemOrder(data.items, data.items[:0]).ranks(by_number=True)
        mine = mine[np.lexsort((rank[source.item_of_row[mine]], of_row[mine]))]
        self.mine, self.owner = source.rows[mine], of_row[mine]

    def random_donors(self, draws: Draws) -> Ints:
        """A row of the table for each new row: of the same user, else of the same item, else any."""
        count = np.bincount(self.owner, minlength=self.n_users)
        start = np.cumsum(count) - count
        place = start[self.user] + draws.choice("donor", count[self.user])
        donors = np.append(self.mine, 0)[np.minimum(place, self.mine.size)]
        without = np.flatnonzero(count[self.user] == 0)
        if without.size and self.source.rows.size:
            some = draws.of(without)
            rows, low, high = self._rows_of_items(without)
            same = rows[np.minimum(low + some.choice("other donor", high - low), rows.size - 1)]
            anyone = self.source.rows[some.choice("any donor", np.full(without.size, self.source.rows.size))]
            donors[without] = np.where(high > low, same, anyone)
        return donors

    def _rows_of_items(self, which: Ints) -> tuple[Ints, Ints, Ints]:
        """The rows of the items of some new rows, item by item, and each new row's range among them."""
        source, items = self.source, self.items[which]
        order = np.argsort(source.item_of_row, kind="stable")
        of_item = source.item_of_row[order]
        rows = np.append(source.rows[order], 0)
        return rows, np.searchsorted(of_item, items), np.searchsorted(of_item, items, side="right")


def _fill_main_time(
    filled: Filled, new: _NewRows, column: tuple[int, Survey], known: Ints, given: tuple[Ints, Draws]
) -> Ints:
    """Draw the times of new rows; the result are their donors: where there is one, the own row beside the new one.

    ``known`` is the position of each new row's item in the survey, -1 where it has none.
    """
    (k, survey), (random_donors, draws) = column, given
    kind, earliest = survey.columns[k], _starts(survey, known)
    form = kind.time
    cells, name = new.source.table.column(k), new.source.table.column_names[k]
    times, valid = form.read(cells)
    dated = valid[new.mine]
    steps = [step for step in form.steps if step % kind.step == 0]
    visits = Visits.of(
        new.owner[dated],
        times[new.mine[dated]],
        new.mine[dated],
        n_users=new.n_users,
        steps=steps,
        per_day=form.per_day,
    )
    donors = random_donors.copy()
    drawn, todo = np.zeros(donors.size, dtype=np.int64), np.arange(donors.size)
    for turn in range(TURNS):
        some = draws.of(todo)
        drawn[todo], beside = visits.draw(new.user[todo], earliest[todo], (kind.low, kind.high), some, turn)
        donors[todo] = np.where(beside >= 0, np.append(visits.rows, 0)[beside], donors[todo])
        lost = todo[beside < 0]
        if lost.size:
            drawn[lost] = _times_of_others(survey, known[lost], kind.step, draws.of(lost), turn)
        todo = np.flatnonzero(visits.clash(new.user, drawn))
        if not todo.size:
            break
    # As many new rows are without a time as the user's rows are.
    empty = ~valid[random_donors]
    donors[empty] = random_donors[empty]
    made = form.cells(drawn, plain_type(cells.type))
    filled.cells[k] = np.where(empty, donors, len(cells) + np.arange(donors.size)), made
    filled.times[k] = np.where(valid, times, np.iinfo(np.int64).min), np.where(empty, np.iinfo(np.int64).min, drawn)
    filled.how[name] = "drawn from the user's own times"
    return donors


def _times_of_others(survey: Survey, known: Ints, step: int, draws: Draws, turn: int) -> Ints:
    """Times between those of two rows of the same item, or of the table, for users whose own will not do."""
    moments = survey.moments
    low, high = moments.starts[known], np.where(known < 0, moments.starts[known], moments.starts[known + 1])
    after = low + draws.choice("item time", np.maximum(high - low - 1, 1), turn)
    place = draws.choice("table time", np.full(known.size, max(moments.table.size - 1, 1)), turn)
    alone = high - low < 2
    last = moments.times.size - 1
    first = np.where(alone, moments.table[place], moments.times[np.minimum(after, last)])
    second = np.where(
        alone,
        moments.table[np.minimum(place + 1, moments.table.size - 1)],
        moments.times[np.clip(after + 1, 0, np.maximum(high - 1, 0))],
    )
    between = draws.uniform("between", turn) * ((second - first) // step)
    return first + np.floor(between).astype(np.int64) * step


def _other_time(
    filled: Filled, source: SourceTable, columns: tuple[int, int], survey: Survey, donors: Ints
) -> tuple[Cells, tuple[Ints, Ints]]:
    """A further column of times: the main one rounded down, where it is that in all rows, else moved as far."""
    k, main = columns
    kind, of_main = survey.columns[k], survey.columns[main]
    old, valid = kind.time.read(source.table.column(k))
    first, new_first = filled.times[main]
    lowest = np.iinfo(np.int64).min
    a, b = of_main.time.per_day, kind.time.per_day
    known = valid & (first != lowest)
    if a is None or b is None:
        return (donors, None), (np.where(valid, old, lowest), np.where(valid[donors], old[donors], lowest))
    coarse = a * kind.step // b
    if coarse and a * kind.step % b == 0 and (first[known] // coarse * kind.step == old[known]).all():
        new = new_first // coarse * kind.step
    else:
        moved = (new_first - first[donors]) * (b / a) / kind.step
        new = old[donors] + np.rint(moved).astype(np.int64) * kind.step
    made = kind.time.cells(np.where(known[donors], new, 0), plain_type(source.table.column(k).type))
    index = np.where(known[donors], source.table.num_rows + np.arange(donors.size), donors)
    values = np.where(known[donors], new, np.where(valid[donors], old[donors], lowest))
    return (index, made), (np.where(valid, old, lowest), values)


def _hex_cells(source: SourceTable, k: int, kind: ColumnKind, draws: Draws) -> pa.Array:
    """Text with a letter at each place that occurs there."""
    places = [
        np.array(list(letters))[draws.choice(f"hex {k}", np.full(draws.seeds.size, len(letters)), place)]
        for place, letters in enumerate(kind.letters)
    ]
    text = np.stack(places, axis=1).view(f"<U{len(places)}").reshape(-1) if draws.seeds.size else np.empty(0, str)
    return pa.array(text.tolist(), plain_type(source.table.column(k).type))
