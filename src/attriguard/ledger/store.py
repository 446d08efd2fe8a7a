"""The ledger on disk: a folder with files of entries for each release, and one small file that says which count.

A release and its entries become true together. The entries are written first, then the release beside its name; then
``pending.json`` says which release (its path and its SHA-256) would make the entries true; then the release gets its
name, and ``pending.json`` becomes ``ledger.json``. Whoever opens the ledger after a kill looks whether that release
stands: if it does, the entries count, and else they are dropped. Every file is its owner's alone.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from attriguard._keys import derive_key
from attriguard._text import bare_name
from attriguard.data.files import check_target, make_folder, make_private_folder, sweep, sync_folder, written_beside
from attriguard.data.locks import used_alone
from attriguard.data.sealed import BROKEN, parse_json
from attriguard.errors import DataError, ParameterError
from attriguard.ledger.entries import Entries
from attriguard.ledger.files import (
    ENTRIES,
    LAST_USER,
    OWN_FILE,
    Adding,
    check_files,
    read_past,
    sha256_of,
    stands,
    without_user,
)
from attriguard.ledger.hashes import user_hashes

FORMAT, VERSION = "attriguard ledger", 3
# Files of version 2 do not say which users they hold.
READABLE = (2, VERSION)
STATE, PENDING = "ledger.json", "pending.json"
# Users whose hashes lie closer together than this share of all are read without the others.
NARROW = 0.5


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

    @property
    def stamp(self) -> str:
        """What tells this state from any other."""
        return hashlib.sha256(json.dumps(self.record(), sort_keys=True).encode()).hexdigest()[:32]

    def text(self, key: bytes, release: Mapping[str, Any] | None) -> bytes:
        """The content of the file, with a mark that only who has the key can make."""
        record = self.record() | {"of": release}
        return json.dumps(record | {"mark": _mark(record, key)}, indent=1).encode()


def _mark(record: Mapping[str, Any], key: bytes) -> str:
    return hmac.new(key, json.dumps(record, sort_keys=True).encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True, eq=False)
class Addition:
    """What one release adds."""

    attribute: str
    scale: tuple[float, float, float]
    about: Mapping[str, Any]  # of the release, for people: goal, guard, budget …
    files: Adding  # writes its entries, and the other cells of rows that it added


@dataclass(frozen=True, eq=False)
class Ledger:
    """A ledger as it stands; its entries are read when they are asked for.

    Parameters
    ----------
    folder
        Where it lies.
    state
        Which files count; None for a ledger that has no release yet.
    key
        Derived from the secret of the releases, for the ledger alone.
    """

    folder: Path
    state: State | None
    key: bytes = field(repr=False)

    @classmethod
    def open(cls, folder: str | Path, key: bytes, attribute: str) -> Ledger:
        """Open a ledger, or begin one; ``key`` is the secret of the releases, and the attribute what they hide.

        A release that a kill has cut off is settled first: see this module. A ledger of which a file is missing or not
        what was written is refused, so that whatever is read of it later, and be it a single user's, is what was told.
        """
        path, secret = _folder(Path(folder)), ledger_key(key, attribute)
        found = read_ledger(path)
        if found is not None:
            check_mark(path, secret, attribute, found)
            check_files(path, found.files)
        return cls(path, found, secret)

    @classmethod
    def joined(cls, folder: Path, key: bytes, attribute: str, stamp: str) -> Ledger:
        """The ledger that another process has opened; one that has changed since is refused. Nothing is settled."""
        found = cls(folder, read_state(folder), ledger_key(key, attribute))
        if found.stamp != stamp:
            raise found.changed()
        return found

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
            before, now = ("{:g} to {:g} in steps of {:g}".format(*each) for each in (self.state.scale, scale))
            raise DataError(
                f"the ledger {self.folder} is of ratings from {before}, these go from {now}; name the ledger's "
                "scale (--scale) if it holds them all; another ledger would know nothing of what this one hid"
            )

    @property
    def stamp(self) -> str:
        """What tells the ledger, as it stands, from what it was and will be; empty before its first release."""
        return "" if self.state is None else self.state.stamp

    def changed(self) -> DataError:
        """What is said where somebody else has entered a release meanwhile, or erased a user."""
        return DataError(
            f"the ledger {self.folder} has changed since this release was planned; protect the table again"
        )

    @cached_property
    def _everything(self) -> tuple[Entries, tuple[pa.Table, ...]]:
        if self.state is None:
            return Entries.of_arrow([]), ()
        return read_past(self.folder, self.state.files, (0, LAST_USER))

    @property
    def entries(self) -> Entries:
        """What was told, ever."""
        return self._everything[0]

    def past(self, hashes: NDArray[np.uint64]) -> tuple[Entries, tuple[pa.Table, ...]]:
        """The entries, and the cells of added rows, of these users, and of others.

        The users of a bucket lie close together: then no others are read, and nothing is kept.
        """
        if self.state is None or not hashes.size:
            return Entries.of_arrow([]), ()
        span = int(hashes.min()), int(hashes.max())
        if span[1] - span[0] > NARROW * LAST_USER:
            return self._everything
        return read_past(self.folder, self.state.files, span)

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
                raise self.changed()
            state = before or State(addition.attribute, addition.scale)
            about = {"number": self.number + 1, "day": datetime.now(UTC).date().isoformat()} | dict(addition.about)
            files = (*state.files, *addition.files(self.folder))
            after = replace(state, releases=(*state.releases, about), files=files)
            place = None if target is None else check_target(target)

            def pend(whole: Path) -> None:
                found = {"path": str((place or whole).absolute()), "sha256": sha256_of(whole)}
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
        mark = int(self.hashes(np.array([user], dtype=object))[0])
        if self.state is None:
            return self, 0
        with used_alone(self.folder):
            settle(self.folder)
            if read_state(self.folder) != self.state:
                raise DataError(f"the ledger {self.folder} has changed meanwhile; try again")
            check_files(self.folder, self.state.files)
            found = [(each["kind"], *without_user(self.folder, each, mark)) for each in self.state.files]
            after = replace(self.state, files=tuple(file for _, file, _ in found))
            if after != self.state:
                self._write_pending(after, None)
                _commit(self.folder)
                settle(self.folder)  # the files that still name the user go
        return replace(self, state=after), sum(n for kind, _, n in found if kind == ENTRIES)


def ledger_key(key: bytes, attribute: str) -> bytes:
    """The key of one attribute's ledger."""
    return derive_key(key, attribute, "ledger")


def read_ledger(folder: Path) -> State | None:
    """A ledger's state, whoever asks; None where there is none yet. What a kill has left is settled first."""
    if not folder.is_dir():
        return None
    with used_alone(folder):
        settle(folder)
        return read_state(folder)


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
        if _stands(folder / PENDING, record.get("of")):
            _commit(folder)
        else:
            (folder / PENDING).unlink()
    state = read_state(folder)
    used = {each["name"] for each in state.files} if state is not None else set()
    for path in folder.iterdir():
        if path.name not in used and OWN_FILE.fullmatch(path.name):
            path.unlink()
    sweep(folder)


def _stands(pending: Path, release: Any) -> bool:
    """Whether the release that an entry waits for is there; one that cannot be looked for counts."""
    try:
        return release is None or stands(Path(release["path"]), str(release["sha256"]))
    except BROKEN as error:
        raise DataError(f"{pending} is damaged; restore the ledger from a copy") from error


def _commit(folder: Path) -> None:
    """The one step that counts."""
    (folder / PENDING).replace(folder / STATE)
    sync_folder(folder)


def _record(path: Path) -> dict[str, Any] | None:
    """The content of a state file; None where there is none."""
    try:
        if not path.exists():
            return None
        record = dict(parse_json(path.read_text(encoding="utf-8")))
        named, version = record["format"], record["version"]
    except BROKEN as error:
        raise DataError(f"{path} is damaged, or no ledger; restore it from a copy") from error
    if named != FORMAT or version not in READABLE:
        raise DataError(f"{path} is of another version of attriguard; read it with that version")
    return record


def _state(folder: Path, record: Mapping[str, Any]) -> State:
    try:
        low, high, step = (float(each) for each in record["scale"])
        files, releases = ([dict(each) for each in record[name]] for name in ("files", "releases"))
        if any(OWN_FILE.fullmatch(each["name"]) is None or each["sha256"] is None for each in files):
            raise ValueError("no file of a ledger is called so")
        return State(str(record["attribute"]), (low, high, step), tuple(releases), tuple(files))
    except BROKEN as error:
        raise DataError(f"{folder / STATE} is damaged, or no ledger; restore it from a copy") from error


def _folder(path: Path) -> Path:
    """The ledger's folder, made where there is none; one that holds other things than a ledger is refused."""
    if not path.exists():
        return make_private_folder(path)
    if not (make_folder(path) / STATE).exists():
        foreign = [each.name for each in path.iterdir() if not (each.name == PENDING or _own(each.name))]
        if foreign:
            raise DataError(f"{path} holds other files and no ledger; name a new folder for the ledger")
    return make_private_folder(path)


def _own(name: str) -> bool:
    return name.startswith(".attriguard") or OWN_FILE.fullmatch(name) is not None
