"""The ledger on disk: a folder with a file of entries for each release, and one small file that says which count.

A release and its entries become true together. The entries are written first, then the release beside its name; then
``pending.json`` says which release (its path and its SHA-256) would make the entries true; then the release gets its
name, and ``pending.json`` becomes ``ledger.json``. Whoever opens the ledger after a kill looks whether that release
stands: if it does, the entries count, and else they are dropped. Every file is its owner's alone.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from attriguard._keys import derive_key
from attriguard._text import bare_name
from attriguard.data.files import check_target, make_folder, sweep, sync, written_beside
from attriguard.data.locks import used_alone
from attriguard.data.sealed import BROKEN, parse_json
from attriguard.errors import DataError, ParameterError
from attriguard.ledger.entries import Entries, check_table, user_hashes

FORMAT, VERSION = "attriguard ledger", 1
STATE, PENDING = "ledger.json", "pending.json"
ENTRIES, CELLS = "entries", "cells"
# The names of its files; nobody else's file is called so.
OWN_FILE = re.compile(rf"({ENTRIES}|{CELLS})-[0-9a-f]{{16}}[.]parquet")
# What the ledger's own columns are called beside the cells of added rows.
USER, ITEM, CELL = "user", "item", "cell "


@dataclass(frozen=True)
class State:
    """What counts: the files, the releases, and what they belong to."""

    attribute: str
    scale: tuple[float, float, float]
    releases: tuple[Mapping[str, Any], ...] = ()
    files: tuple[Mapping[str, Any], ...] = ()  # kind, name, sha256

    def record(self) -> dict[str, Any]:
        """As JSON knows it."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "attribute": self.attribute,
            "scale": list(self.scale),
            "releases": [dict(each) for each in self.releases],
            "files": [dict(each) for each in self.files],
        }

    def text(self, key: bytes, release: Mapping[str, Any] | None) -> bytes:
        """The content of the file, with a mark that only who has the key can make."""
        record = self.record() | {"of": release}
        return json.dumps(record | {"mark": _mark(record, key)}, indent=1).encode()


def _mark(record: Mapping[str, Any], key: bytes) -> str:
    return hmac.new(key, json.dumps(record, sort_keys=True).encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True, eq=False)
class Addition:
    """What one release adds: its entries, and the other cells of rows that it added."""

    attribute: str
    scale: tuple[float, float, float]
    entries: Entries
    cells: pa.Table | None
    about: Mapping[str, Any]  # of the release, for people: goal, guard, budget …


@dataclass(frozen=True, eq=False)
class Ledger:
    """A ledger as it stands, with its entries.

    Parameters
    ----------
    folder
        Where it lies.
    state
        Which files count; None for a ledger that has no release yet.
    entries
        What was told, ever.
    cells
        The other cells of added rows, a table a release.
    """

    folder: Path
    state: State | None
    key: bytes = field(repr=False)
    entries: Entries = field(repr=False)
    cells: tuple[pa.Table, ...] = field(default=(), repr=False)

    @classmethod
    def open(cls, folder: str | Path, key: bytes, attribute: str) -> Ledger:
        """Open a ledger, or begin one; ``key`` is the secret of the releases, and the attribute what they hide.

        A release that a kill has cut off is settled first: see this module.
        """
        path, secret = _folder(Path(folder)), ledger_key(key, attribute)
        found = read_ledger(path)
        if found is None:
            return cls(path, None, secret, Entries.of_arrow([]))
        check_mark(path, secret, attribute, found[0])
        return cls(path, found[0], secret, *found[1:])

    @property
    def number(self) -> int:
        """How many releases it has."""
        return 0 if self.state is None else len(self.state.releases)

    def hashes(self, users: NDArray[Any]) -> NDArray[np.uint64]:
        """The users as the ledger knows them."""
        return user_hashes(users, self.key)

    def check_scale(self, scale: tuple[float, float, float]) -> None:
        """Refuse ratings of another scale than those of the releases so far."""
        if self.state is not None and self.state.scale != scale:
            raise DataError(
                f"the ledger {self.folder} is of ratings from {self.state.scale[0]:g} to {self.state.scale[1]:g}, "
                f"these go from {scale[0]:g} to {scale[1]:g}; begin another ledger for them"
            )

    def commit(
        self, addition: Addition, write: Callable[[Callable[[Path], None] | None], None], target: Path | None
    ) -> None:
        """Write a release and enter it, so that both are there or neither is.

        ``write`` writes the release, and calls what it is given with the file before it gets its name; ``target`` is
        that name. None: the release goes where it cannot be looked for, and counts from the moment it begins to.
        """
        with used_alone(self.folder):
            settle(self.folder)
            before = read_state(self.folder)
            if before != self.state:
                raise DataError(
                    f"the ledger {self.folder} has changed since this release was planned; protect the table again"
                )
            state = before or State(addition.attribute, addition.scale)
            about = {"number": self.number + 1, "day": datetime.now(UTC).date().isoformat()} | dict(addition.about)
            files = [*state.files, _write(self.folder, ENTRIES, addition.entries.to_arrow())]
            if addition.cells is not None and addition.cells.num_rows:
                files.append(_write(self.folder, CELLS, addition.cells))
            after = replace(state, releases=(*state.releases, about), files=tuple(files))
            place = None if target is None else check_target(target)

            def pend(whole: Path) -> None:
                found = {"path": str((place or whole).absolute()), "sha256": _sha256(whole)}
                self._write_pending(after, found)

            if place is None:
                self._write_pending(after, None)
            write(None if place is None else pend)
            _commit(self.folder)

    def _write_pending(self, state: State, release: Mapping[str, Any] | None) -> None:
        with written_beside(self.folder / PENDING, private=True) as file:
            file.write(state.text(self.key, release))

    def forget(self, user: Any) -> tuple[Ledger, int]:
        """The ledger without a user's entries, and how many there were; the next release takes the user as new."""
        (mark,) = self.hashes(np.array([user], dtype=object))
        mine = self.entries.user == mark
        if self.state is None or not mine.any():
            return self, 0
        with used_alone(self.folder):
            settle(self.folder)
            if read_state(self.folder) != self.state:
                raise DataError(f"the ledger {self.folder} has changed meanwhile; try again")
            files = []
            for each in self.state.files:
                table = _read(self.folder, each)
                kept = table.filter(pa.array(table.column(USER).to_numpy() != mark))
                same = kept.num_rows == table.num_rows
                files.append(each if same else _write(self.folder, each["kind"], kept))
            after = replace(self.state, files=tuple(files))
            self._write_pending(after, None)
            _commit(self.folder)
            settle(self.folder)  # the files that still name the user go
        entries, cells = _content(self.folder, after)
        return replace(self, state=after, entries=entries, cells=cells), int(mine.sum())


def ledger_key(key: bytes, attribute: str) -> bytes:
    """The key of one attribute's ledger."""
    return derive_key(key, attribute, "ledger")


def read_ledger(folder: Path) -> tuple[State, Entries, tuple[pa.Table, ...]] | None:
    """A ledger's state, entries and cells, whoever asks; None where there is none yet."""
    if not folder.is_dir():
        return None
    with used_alone(folder):
        settle(folder)
        state = read_state(folder)
    return None if state is None else (state, *_content(folder, state))


def _content(folder: Path, state: State) -> tuple[Entries, tuple[pa.Table, ...]]:
    tables = [_read(folder, each) for each in state.files if each["kind"] == ENTRIES]
    return Entries.of_arrow(tables), tuple(_read(folder, each) for each in state.files if each["kind"] == CELLS)


def read_state(folder: Path) -> State | None:
    """What counts; None where there is no ledger yet."""
    record = _record(folder / STATE)
    return None if record is None else _state(folder, record)


def check_mark(folder: Path, key: bytes, attribute: str, state: State) -> None:
    """Refuse a ledger of another attribute, or one that was written under another key."""
    if bare_name(state.attribute) != bare_name(attribute):
        raise ParameterError(
            f"the ledger {folder} is of the attribute {state.attribute!r}, but the guard hides {attribute!r}; name the "
            "ledger of this attribute, or begin another one"
        )
    record = dict(_record(folder / STATE) or {})
    mark = str(record.pop("mark", ""))
    if not hmac.compare_digest(mark, _mark(record, key)):
        raise ParameterError(
            f"the ledger {folder} was not written under this key, or was changed since; use the key of its releases"
        )


def settle(folder: Path) -> None:
    """Settle what a kill has left: the entries of a release count if the release stands, and else they go."""
    record = _record(folder / PENDING)
    if record is not None:
        release = record.get("of")
        if release is None or _stands(Path(release["path"]), release["sha256"]):
            _commit(folder)
        else:
            (folder / PENDING).unlink()
    state = read_state(folder)
    used = {each["name"] for each in state.files} if state is not None else set()
    for path in folder.iterdir():
        if path.name not in used and OWN_FILE.fullmatch(path.name):
            path.unlink()
    sweep(folder)


def _commit(folder: Path) -> None:
    """The one step that counts."""
    (folder / PENDING).replace(folder / STATE)
    sync(folder)


def _stands(path: Path, digest: str) -> bool:
    try:
        return path.is_file() and _sha256(path) == digest
    except OSError:
        return False


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _record(path: Path) -> dict[str, Any] | None:
    """The content of a state file; None where there is none."""
    try:
        if not path.exists():
            return None
        record = parse_json(path.read_text(encoding="utf-8"))
        if record["format"] != FORMAT or record["version"] != VERSION:
            raise DataError(f"{path} is of another version of attriguard; read it with that version")
        return dict(record)
    except BROKEN as error:
        raise DataError(f"{path} is damaged, or no ledger; restore it from a copy") from error


def _state(folder: Path, record: Mapping[str, Any]) -> State:
    try:
        low, high, step = (float(each) for each in record["scale"])
        return State(
            str(record["attribute"]), (low, high, step), tuple(record["releases"]), tuple(map(dict, record["files"]))
        )
    except BROKEN as error:
        raise DataError(f"{folder / STATE} is damaged, or no ledger; restore it from a copy") from error


def _write(folder: Path, kind: str, table: pa.Table) -> dict[str, Any]:
    """A new file, which does not count yet."""
    path = folder / f"{kind}-{secrets.token_hex(8)}.parquet"
    with written_beside(path, private=True) as file:
        pq.write_table(table, file, compression="zstd")
    return {"kind": kind, "name": path.name, "sha256": _sha256(path), "rows": table.num_rows}


def _read(folder: Path, described: Mapping[str, Any]) -> pa.Table:
    """A file that counts; one that is not what was written is refused."""
    path = folder / str(described["name"])
    if not _stands(path, str(described["sha256"])):
        raise DataError(f"{path} is missing or damaged; restore the ledger from a copy")
    try:
        table = pq.read_table(path)
        return check_table(table) if described["kind"] == ENTRIES else table
    except (pa.ArrowException, *BROKEN) as error:
        raise DataError(f"{path} is damaged; restore the ledger from a copy") from error


def _folder(path: Path) -> Path:
    """The ledger's folder, made where there is none; one that holds other things than a ledger is refused."""
    if not path.exists():
        make_folder(path).chmod(0o700)
        return path
    if not (make_folder(path) / STATE).exists():
        foreign = [each.name for each in path.iterdir() if not (each.name == PENDING or _own(each.name))]
        if foreign:
            raise DataError(f"{path} holds other files and no ledger; name a new folder for the ledger")
    return path


def _own(name: str) -> bool:
    return name.startswith(".attriguard") or OWN_FILE.fullmatch(name) is not None
