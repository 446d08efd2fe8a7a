"""What the publisher wants of a release, in any form: items that must not change, items that may be added, the key."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_choice, check_count, check_rng
from attriguard._keys import derive_key, fresh_key
from attriguard.data.tables.columns import find_column
from attriguard.data.tables.table import TableLike, read_table
from attriguard.errors import DataError, ParameterError
from attriguard.operations.keys import read_key

ADDED_RATINGS = ("drawn", "top")
EVERYONE, NOBODY = "everyone", "nobody"


def read_additions(additions: Any) -> Any:
    """A list of items or a mapping item → rating; a table has an item column and may have a rating column."""
    if additions is None or not _is_table(additions):
        return additions
    columns = _columns(additions, {"item": True, "rating": False}, "the table of additions")
    if "rating" in columns:
        return dict(zip(columns["item"], columns["rating"], strict=True))
    return columns["item"]


@dataclass(frozen=True)
class Locked:
    """Items that must not change: for everybody, and user by user."""

    items: tuple[Any, ...] = ()
    # (user, item), as text: 7 and "7" are the same id
    pairs: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def pattern(self, users: NDArray[Any], items: NDArray[Any]) -> tuple[csr_array | None, tuple[tuple[str, str], ...]]:
        """The pairs as a sparse pattern (users × items), and those whose user or item is not there."""
        if not self.pairs:
            return None, ()
        rows = {str(user): u for u, user in enumerate(users.tolist())}
        columns = {str(item): j for j, item in enumerate(items.tolist())}
        known = {(rows[u], columns[i]) for u, i in self.pairs if u in rows and i in columns}
        index = np.array(sorted(known), dtype=np.int64).reshape(-1, 2)
        missed = tuple((u, i) for u, i in self.pairs if u not in rows or i not in columns)
        ones = np.ones(len(index), dtype=np.float32)
        return csr_array((ones, (index[:, 0], index[:, 1])), shape=(users.size, items.size)), missed


def read_locked(locked: Any) -> Locked:
    """A list of items, or a table with an item column; one with a user column too locks items user by user."""
    if locked is None:
        return Locked()
    if not _is_table(locked):
        return Locked(items=tuple(locked))
    columns = _columns(locked, {"item": True, "user": False}, "the table of locked items")
    if "user" not in columns:
        return Locked(items=tuple(columns["item"]))
    return Locked(pairs=tuple((str(u), str(i)) for u, i in zip(columns["user"], columns["item"], strict=True)))


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What the publisher wants of a release, besides protection.

    Parameters
    ----------
    key
        A secret (bytes or text), or the path of a file that holds it: it fixes every user's draw, so that repeated
        releases do not average the noise away. It may serve for several attributes: what is drawn for one tells nothing
        about another. None: every release is drawn anew, under a key that is thrown away.
    locked
        Items that must not change: a list, or a table with an item column and, user by user, a user column.
    additions
        Items that may be added: a list, a mapping item → rating, or a table with an item and a rating column.
    most
        No user gets more changes than that, whatever is drawn.
    knows
        On an own table, with the goal "conceal". "everyone" (usual): the guards are told the value of each user they
        protect, and remove what the ratings say of it. "nobody": they are not, so that what is removed depends on a
        user's ratings alone.
    drop_columns
        Columns of the table that are not published.
    order
        Of the released rows: "keep", "sorted" (by user and item) or "shuffled".
    added_ratings
        "drawn": from how the user rates, and how others rate the item. "top": the top of the scale, which misleads best
        and tells that the row is new. Where additions are named with ratings, these are taken.
    ledger
        The folder of a ledger: what was released of whom so far. What was hidden stays hidden, what was added stays,
        and only what is new changes; see docs/ledger.md. It needs a key.
    budget_ever
        With a ledger: no user gets more changes than that over all releases together.
    """

    key: bytes | None = field(default=None, repr=False)
    locked: Locked = field(default_factory=Locked)
    additions: Any = None
    most: int | None = None
    knows: str | None = None
    drop_columns: Sequence[str] = ()
    order: str = "keep"
    added_ratings: str = "drawn"
    ledger: Path | None = None
    budget_ever: int | None = None

    @classmethod
    def of(cls, options: dict[str, Any], random_state: Any) -> Wishes:
        """Takes the wishes out of the options; without a key and without a random state, a fresh key draws."""
        given = {each.name: options.pop(each.name) for each in fields(cls) if each.name in options}
        read = {"key": read_key, "locked": read_locked, "additions": read_additions, "ledger": _folder}
        wishes = cls(**{name: read[name](value) if name in read else value for name, value in given.items()})
        if wishes.added_ratings not in ADDED_RATINGS:
            raise ParameterError(f"added_ratings must be drawn or top, got {wishes.added_ratings!r}")
        if wishes.knows is not None:
            check_choice(wishes.knows, (EVERYONE, NOBODY), name="knows")
        if wishes.key is not None and random_state is not None:
            raise ParameterError("give either a key or a random_state: a keyed draw leaves nothing to chance")
        _check_ledger(wishes)
        return wishes if wishes.key or random_state is not None else replace(wishes, key=fresh_key())

    @property
    def informed(self) -> bool:
        """Whether guards are told the values of the users they protect."""
        return self.knows != NOBODY

    def key_for(self, attribute: str, purpose: str) -> bytes | None:
        """The key for one attribute and one purpose; None where a random state draws."""
        return None if self.key is None else derive_key(self.key, attribute, purpose)

    def seed(self, chance: np.random.Generator | None, attribute: str, purpose: str) -> int:
        """What seeds the learning: it follows from the key, where there is one, so that a release can be repeated."""
        key = self.key_for(attribute, purpose)
        return int.from_bytes(key[:4], "big") if key else int(check_rng(chance).integers(2**32))


def _folder(given: str | os.PathLike[str] | None) -> Path | None:
    return None if given is None else Path(given)


def _check_ledger(wishes: Wishes) -> None:
    """What was told is found again by the key, in every release."""
    if wishes.ledger is not None and wishes.key is None:
        raise ParameterError(
            "a ledger needs the same key in every release; make one with: attriguard key new secret.key"
        )
    if wishes.budget_ever is None:
        return
    if wishes.ledger is None:
        raise ParameterError("budget_ever counts the changes of all releases, which a ledger remembers: give one, too")
    check_count(wishes.budget_ever, name="budget_ever")


def _is_table(given: Any) -> bool:
    if isinstance(given, Mapping):
        return False
    return isinstance(given, (str, os.PathLike)) or hasattr(given, "__arrow_c_stream__")


def _columns(given: TableLike, wanted: dict[str, bool], what: str) -> dict[str, list[Any]]:
    """Columns of a small table by their role; True: the table must have it."""
    table = read_table(given, what)
    found = {role: find_column(table.column_names, role) for role in wanted}
    if found["item"] is None and len(table.column_names) == 1:
        found["item"] = table.column_names[0]
    for role, needed in wanted.items():
        if needed and found[role] is None:
            raise DataError(f"{table.name} needs a column of {role}s, its columns are {table.shown_columns}")
    return {role: table.column(name).to_pylist() for role, name in found.items() if name is not None}


def first_few(names: Iterable[Any], most: int = 5) -> str:
    """The first of some names, for a warning."""
    shown = [str(name) for name in names]
    return ", ".join(shown[:most]) + (", …" if len(shown) > most else "")
