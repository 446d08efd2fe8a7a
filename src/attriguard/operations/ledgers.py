"""Ledgers looked at: what one holds, whether it is whole and belongs to a key and a guard, a user erased."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attriguard.data.scale import check_scale
from attriguard.errors import DataError, ParameterError
from attriguard.guard import AttriGuard, load_guard
from attriguard.ledger.files import check_files, in_spans
from attriguard.ledger.store import Ledger, State, check_mark, ledger_key, read_ledger
from attriguard.operations.keys import KeyLike, read_key
from attriguard.report.page import Table


@dataclass(frozen=True)
class LedgerCard:
    """What there is to say about a ledger; nothing about a single user."""

    folder: str
    attribute: str
    scale: tuple[float, float, float]
    users: int
    counts: Mapping[str, int]  # of ratings: kept, hidden, added, changed
    releases: tuple[Mapping[str, Any], ...]

    @property
    def facts(self) -> dict[str, str]:
        """A line each, for people."""
        low, high, step = self.scale
        told = ", ".join(f"{count:,} {name}" for name, count in self.counts.items())
        return {
            "attribute": self.attribute or "–",
            "scale": f"{low:g} to {high:g} in steps of {step:g}",
            "users": f"{self.users:,}, as keyed hashes",
            "ratings": told,
            "releases": f"{len(self.releases):,}",
        }

    def table(self) -> Table:
        """The releases, one row each."""
        names = ("number", "day", "goal", "budget", "users", "planned", "kept", "hidden", "added", "changed", "guard")
        rows = [[_shown(release.get(name)) for name in names] for release in self.releases]
        return Table(list(names), rows, numeric=(0, *range(3, 10)), caption="")

    def record(self) -> dict[str, Any]:
        """Everything, as JSON knows it."""
        return {**vars(self), "scale": list(self.scale), "releases": [dict(each) for each in self.releases]}


def describe_ledger(path: str | os.PathLike[str]) -> LedgerCard:
    """What a ledger holds: its attribute, its releases, and how many ratings were kept, hidden, added and changed."""
    folder = Path(path)
    state = _read(folder)
    return _card(folder, state)


def check_ledger(
    path: str | os.PathLike[str], *, key: KeyLike = None, guard: AttriGuard | str | os.PathLike[str] | None = None
) -> LedgerCard:
    """Refuse a ledger that is damaged or tells something twice; with a key and a guard, one that is not of these.

    Parameters
    ----------
    path
        The ledger's folder.
    key
        The key of its releases: it must have been written under it, and not changed since.
    guard
        A guard, or its file: it must hide the ledger's attribute, on the ledger's scale.
    """
    folder = Path(path)
    state = _read(folder)
    card = _card(folder, state)
    attribute = state.attribute
    if guard is not None:
        loaded = guard if isinstance(guard, AttriGuard) else load_guard(guard)
        attribute = str(loaded.metadata_.get("attribute", ""))
        scale = None if loaded.scale is None else check_scale(loaded.scale)
        if scale is not None and (scale.lowest, scale.highest, scale.step) != state.scale:
            raise DataError(f"the guard was learnt from ratings, {scale}, the ledger {folder} is of another scale")
    secret = read_key(key)
    if secret is None and guard is not None:
        raise ParameterError("to check a guard against a ledger, give the key of the ledger's releases, too")
    if secret is not None:
        check_mark(folder, ledger_key(secret, attribute), attribute, state)
    return card


def forget_user(path: str | os.PathLike[str], user: Any, *, key: KeyLike) -> int:
    """Erase a user's entries from a ledger, on request: the next release takes the user as new.

    How many entries there were; 0 for a user whom the ledger does not know. What was released stays released: an
    attacker who kept it can then see what the next release shows anew.
    """
    folder, secret = Path(path), read_key(key)
    if secret is None:
        raise ParameterError("users are kept as keyed hashes: give the key of the ledger's releases")
    state = _read(folder)
    _, erased = Ledger.open(folder, secret, state.attribute).forget(user)
    return erased


def _read(folder: Path) -> State:
    found = read_ledger(folder)
    if found is None:
        raise DataError(f"there is no ledger in {folder}; attriguard protect --ledger begins one")
    check_files(folder, found.files)
    return found


def _card(folder: Path, state: State) -> LedgerCard:
    """What the files say, range by range of users; a ledger that contradicts itself is refused."""
    users, counts = 0, Counter[str]()
    for entries in in_spans(folder, state.files):
        broken = entries.broken()
        if broken is not None:
            raise DataError(f"the ledger {folder} holds {broken}; restore it from a copy")
        users += int(np.unique(entries.user).size)
        counts.update(entries.latest().counts())
    return LedgerCard(str(folder), state.attribute, state.scale, users, dict(counts), state.releases)


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)[:12]
