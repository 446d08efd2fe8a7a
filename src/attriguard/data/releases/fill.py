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
# Times of the table among which a row falls that has no other to go by.
SAMPLE = 1_000


@dataclass(frozen=True, eq=False)
class Filled:
    """The other columns of new rows: their cells, the times of old and new rows, and what the publisher is told."""

    cells: dict[int, Cells] = field(default_factory=dict)
    times: dict[int, tuple[Ints, Ints]] = field(default_factory=dict)
    how: dict[str, str] = field(default_factory=dict)
    telltale: list[str] = field(default_factory=list)


def fill_new_rows(
    data: PublicData, source: SourceTable, changes: TableChanges, items: NDArray[Any], survey: Survey, draws: Draws
) -> Filled:
    """Cells for every column of the new rows but user, item, rating and row ids."""
    filled, main = Filled(), survey.main_time
    if not survey.columns:
        return filled
    new = _NewRows(data, source, changes, items)
    donors = new.random_donors(draws)
    known = lookup(items, survey.items)[changes.added_columns]
    if main is not None:
        donors = _fill_main_time(filled, new, (main, survey.columns[main]), _starts(survey, known), (donors, draws))
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

    def __init__(self, data: PublicData, source: SourceTable, changes: TableChanges, items: NDArray[Any]) -> None:
        self.source = source
        self.items = lookup(items, data.items)[changes.added_columns]
        # Users are numbered anew, so that users without new rows cost nothing.
        gets_new = np.bincount(changes.added_users, minlength=data.n_users) > 0
        number = np.where(gets_new, np.cumsum(gets_new) - 1, -1)
        self.user, self.n_users = number[changes.added_users], int(np.count_nonzero(gets_new))
        of_row = number[source.user_of_row]
        mine = np.flatnonzero(of_row >= 0)
        if (np.diff(of_row[mine]) < 0).any():
            mine = mine[np.argsort(of_row[mine], kind="stable")]
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
            n_rows = self.source.table.num_rows
            rows, low, high = self.rows_of_items(without, np.arange(n_rows), np.ones(n_rows, dtype=np.bool_))
            same = rows[np.minimum(low + some.choice("other donor", high - low), rows.size - 1)]
            anyone = self.source.rows[some.choice("any donor", np.full(without.size, self.source.rows.size))]
            donors[without] = np.where(high > low, same, anyone)
        return donors

    def rows_of_items(self, which: Ints, times: Ints, valid: Flags) -> tuple[Ints, Ints, Ints]:
        """The valid rows of the items of some new rows, item by item in the order of time, and each new row's range."""
        source, items = self.source, self.items[which]
        wanted = np.zeros(int(max(source.item_of_row.max(initial=-1), items.max(initial=-1))) + 2, dtype=np.bool_)
        wanted[items] = True
        wanted[-1] = False  # a new row of an item that has no column
        chosen = np.flatnonzero(wanted[source.item_of_row] & valid[source.rows])
        chosen = chosen[np.lexsort((times[source.rows[chosen]], source.item_of_row[chosen]))]
        of_item = source.item_of_row[chosen]
        rows = np.append(source.rows[chosen], 0)
        return rows, np.searchsorted(of_item, items), np.searchsorted(of_item, items, side="right")


def _fill_main_time(
    filled: Filled, new: _NewRows, column: tuple[int, ColumnKind], earliest: Ints, given: tuple[Ints, Draws]
) -> Ints:
    """Draw the times of new rows; the result are their donors: where there is one, the own row beside the new one."""
    (k, kind), (random_donors, draws) = column, given
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
        drawn[lost] = _times_of_others(new, lost, (times, valid), kind, draws, turn)
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


def _times_of_others(
    new: _NewRows, which: Ints, known: tuple[Ints, Flags], kind: ColumnKind, draws: Draws, turn: int
) -> Ints:
    """Times between those of two rows of the same item, or of the table, for users whose own will not do."""
    if not which.size:
        return which
    times, valid = known
    some = draws.of(which)
    rows, low, high = new.rows_of_items(which, times, valid)
    after = low + some.choice("item time", np.maximum(high - low - 1, 1), turn)
    dated = new.source.rows[valid[new.source.rows]]
    sample = np.sort(times[dated[np.linspace(0, dated.size - 1, min(SAMPLE, dated.size)).astype(np.int64)]])
    place = some.choice("table time", np.full(which.size, max(sample.size - 1, 1)), turn)
    alone = high - low < 2
    first = np.where(alone, sample[place], times[rows[np.minimum(after, rows.size - 1)]])
    second = np.where(
        alone,
        sample[np.minimum(place + 1, sample.size - 1)],
        times[rows[np.clip(after + 1, 0, np.maximum(high - 1, 0))]],
    )
    between = some.uniform("between", turn) * ((second - first) // kind.step)
    return first + np.floor(between).astype(np.int64) * kind.step


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
