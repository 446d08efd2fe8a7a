"""What a protector remembers of earlier releases: the ledger, met with the users of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.data.public_data import PublicData
from attriguard.data.releases.release import Release
from attriguard.data.releases.told import ToldRows
from attriguard.data.tables.arrays import plain_array, plain_type
from attriguard.data.tables.ids import lookup
from attriguard.data.tables.source import plain_source
from attriguard.ledger.entries import Entries
from attriguard.ledger.files import CELL, ITEM, USER, Adding, write_told
from attriguard.ledger.met import Met
from attriguard.ledger.store import Addition, Ledger
from attriguard.operations.wishes import Wishes
from attriguard.plan import Plan

Ints = NDArray[np.int64]
# Writes a release, and calls what it is given with the file before that gets its name.
Write = Callable[[Callable[[Path], None] | None], None]
# Users on whom the price of a change is settled, where a budget of everyone has none.
SETTLING = 2_000
# Releases before a new one that an attacker has kept, in the check.
KEPT = 11


@dataclass(frozen=True, eq=False)
class Told:
    """What a release tells that no earlier one did: entries with their users, and the cells of rows it added."""

    entries: Entries
    cells: pa.Table | None
    scale: tuple[float, float, float]
    planned: int  # users with news
    known: int  # users whom an earlier release had
    n_users: int
    budget: float  # of all users with news together
    number: int  # of the release
    met: Met | None = field(default=None, repr=False)

    @property
    def counts(self) -> dict[str, int]:
        """Users, and ratings by what was done to them."""
        return {"users": self.n_users, "planned": self.planned, "known": self.known, **self.entries.counts()}

    def files(self, folder: Path) -> list[dict[str, Any]]:
        """Write it into a ledger's folder, or into one of work for a ledger."""
        return write_told(folder, self.entries, self.cells)

    @property
    def before(self) -> list[csr_array]:
        """The releases before this one, as far as the ledger tells them, on the standing's items; at most `KEPT`."""
        return [] if self.met is None else self.met.history(self.number - 1, KEPT)

    @property
    def bare(self) -> Told:
        """What is entered, without what it was found by."""
        return replace(self, met=None)

    @classmethod
    def joined(cls, parts: Sequence[Told]) -> Told:
        """What the blocks of one table tell, as what the table tells."""
        cells = [part.cells for part in parts if part.cells is not None]
        sums = {name: sum(getattr(part, name) for part in parts) for name in ("planned", "known", "n_users", "budget")}
        entries = Entries.of_arrow([part.entries.to_arrow() for part in parts])
        table = pa.concat_tables(cells, promote_options="default") if cells else None
        return cls(entries, table, parts[0].scale, number=parts[0].number, **sums)


@dataclass(frozen=True, eq=False)
class Memory:
    """A ledger, and how many changes a user may have over all releases."""

    ledger: Ledger
    attribute: str
    budget_ever: int | None = None

    @classmethod
    def of(cls, wishes: Wishes, attribute: str) -> Memory | None:
        """The ledger that the publisher named; None where he named none."""
        if wishes.ledger is None or wishes.key is None:
            return None
        return cls(Ledger.open(wishes.ledger, wishes.key, attribute), attribute, wishes.budget_ever)

    @property
    def turn(self) -> int:
        """Which release this is, from 0 on."""
        return self.ledger.number

    def meet(self, data: PublicData, items: NDArray[Any]) -> Met:
        """The users of a table with their past."""
        self.ledger.check_scale(data.scale.numbers)
        hashes = self.ledger.hashes(data.users)
        entries, cells = self.ledger.past(hashes)
        met = Met(data, items, entries, hashes)
        return replace(met, told_rows=tuple(_told_rows(cells, hashes, met.items))) if cells else met

    def most(self, met: Met, most: int | None) -> int | Ints | None:
        """The most changes: in this release, and of what is left of those for ever."""
        if self.budget_ever is None:
            return most
        left = np.maximum(self.budget_ever - met.spent, 0)
        return left if most is None else np.minimum(left, most)

    def sample(self, n_users: int) -> Ints:
        """Users on whom a price is settled; the first release finds its own."""
        return np.unique(np.linspace(0, n_users - 1, min(SETTLING, n_users)).astype(np.int64)) if self.turn else _NOBODY

    def told(self, data: PublicData, met: Met, rows: csr_array, plan: Plan, choice: Ints, release: Release) -> Told:
        """What the release of these rows tells; ``plan`` and ``choice``, the draw, are of the users with news."""
        draws = np.full(data.n_users, -1, dtype=np.int64)
        draws[met.news] = choice
        row, entries = met.told_now(rows, draws, self.turn + 1)
        known = int(np.count_nonzero(met.has_past))
        return Told(
            replace(entries, user=met.hashes[row]),
            _cells(data, met, release),
            data.scale.numbers,
            int(met.news.size),
            known,
            data.n_users,
            float(plan.budget.sum()),
            self.turn + 1,
            met,
        )


class Entry:
    """What saving a release does: the release is written, and what it tells is entered, both or neither.

    The same release may be saved several times, under several names; it is entered once.
    """

    def __init__(
        self,
        memory: Memory,
        scale: tuple[float, float, float],
        counts: Mapping[str, int],
        about: Mapping[str, Any],
        files: Adding,
    ) -> None:
        self.memory, self.entered = memory, False
        self.about = {"release": memory.turn + 1, **about, **counts}
        self._addition = Addition(memory.attribute, scale, self.about, files)

    @property
    def words(self) -> str:
        """For the publisher: which release this is, and for how many users anything is new."""
        about = self.about
        words = (
            f"release {about['release']} of the ledger: {about['known']:,} of {about['users']:,} users were in it "
            f"before, {about['planned']:,} have something new"
        )
        before = self.memory.ledger.state.releases if self.memory.ledger.state else ()
        other = before and about["guard"] is not None and before[-1].get("guard") != about["guard"]
        return words + ("; the guard is another one than the last release's" if other else "")

    def write(self, write: Write, target: Path | None = None) -> None:
        """Write a release; ``target`` is where it can be looked for after a kill."""
        if self.entered:
            write(None)
            return
        self.memory.ledger.commit(self._addition, write, target)
        self.entered = True


_NOBODY = np.empty(0, dtype=np.int64)


def _told_rows(cells: Sequence[pa.Table], hashes: NDArray[np.uint64], items: NDArray[Any]) -> list[ToldRows]:
    """The rows that were added before, of these users, release by release."""
    order = np.argsort(hashes, kind="stable")
    found = []
    for table in cells if hashes.size else ():
        user = table.column(USER).to_numpy()
        row = order[np.minimum(np.searchsorted(hashes[order], user), hashes.size - 1)]
        column = lookup(table.column(ITEM).to_numpy(zero_copy_only=False), items)
        mine = np.flatnonzero((hashes[row] == user) & (column >= 0))
        names = [name for name in table.column_names if name.startswith(CELL)]
        rows = table.select(names).rename_columns([name.removeprefix(CELL) for name in names])
        found.append(ToldRows(row[mine], column[mine], rows.take(pa.array(mine))))
    return found


def _are_kept(met: Met, added: tuple[Ints, Ints], table: pa.Table) -> NDArray[np.bool_]:
    """Whether the ledger has all cells of each added row: a column may be new, or of another type than it was."""
    kept, wanted = np.zeros(added[0].size, dtype=np.bool_), _plain_fields(table)
    for each in met.told_rows:
        if wanted <= _plain_fields(each.cells):
            kept |= each.place(added, met.items.size) >= 0
    return kept


def _plain_fields(table: pa.Table) -> set[tuple[str, pa.DataType]]:
    """The names and the plain types of columns: as categories or as text, a cell is the same."""
    return {(field.name, plain_type(field.type)) for field in table.schema}


def _cells(data: PublicData, met: Met, release: Release) -> pa.Table | None:
    """The other cells of rows that no release before this one has added with them; None without other columns."""
    source = data.source or plain_source(data)
    every = source.table.column_names
    names = [name for name in source.other_columns if every.count(name) == 1]
    if not names or release.added is None or release.added_users is None or release.added_columns is None:
        return None
    new = np.flatnonzero(~_are_kept(met, (release.added_users, release.added_columns), release.table.select(names)))
    rows = pa.array(np.flatnonzero(release.added)[new])
    items = [str(item) for item in met.items[release.added_columns[new]].tolist()]
    mine = {USER: pa.array(met.hashes[release.added_users[new]]), ITEM: pa.array(items, pa.string())}
    return pa.table(mine | {CELL + name: plain_array(release.table.column(name)).take(rows) for name in names})
