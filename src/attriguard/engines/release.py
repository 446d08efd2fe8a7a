"""A release in parts, whoever makes it: what may be asked, what it is a release of, and what came of it."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attriguard._keys import derive_key
from attriguard._text import count_of
from attriguard._version import __version__
from attriguard.data.files import read_bytes
from attriguard.data.tables.columns import Roles, find_roles
from attriguard.data.tables.suffixes import PARQUET_SUFFIXES, TEXT_SUFFIXES, suffix_of
from attriguard.data.tables.table import InputTable
from attriguard.engines.ledgers import check_ledger, forgetting
from attriguard.engines.maker import wishes_record
from attriguard.engines.sources import Source
from attriguard.errors import ParameterError
from attriguard.guard.core import Guard
from attriguard.operations.protector import Protector
from attriguard.operations.ready import CHANGES, GuardLike
from attriguard.operations.results import Result
from attriguard.operations.wishes import Wishes
from attriguard.report.page import Page, Section, Table

# Rows by which a guard for other data, a wrong column or another scale is found before the long work.
HEAD_ROWS = 20_000
# How a table is read here; what is about an attributes table has no use.
READING = ("user", "item", "rating", "duplicates")
NO_KEY = (
    "a release in parts needs a key, so that it can go on where it stopped, and any part be made again; make one with: "
    "attriguard key new secret.key, and give it with --key @secret.key"
)


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedParts(Result):
    """A folder of protected parts, and what its publisher must know."""

    folder: Path
    goal: str
    n_parts: int
    totals: Mapping[str, Any]
    shuffled: bool = False

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may give the release away, or was not done."""
        return tuple(self.totals["warnings"])

    def record(self) -> dict[str, Any]:
        """The counts, as JSON knows them; nothing about a single user."""
        return {"goal": self.goal, "folder": str(self.folder), "parts": self.n_parts, **self.totals}

    def rows(self) -> list[dict[str, Any]]:
        """One row a count."""
        return [{"figure": name, "value": value} for name, value in self.record().items() if isinstance(value, int)]

    def tables(self) -> Sequence[Table]:
        """The counts."""
        rows = [[row["figure"].replace("_", " "), f"{row['value']:,}"] for row in self.rows()]
        return [Table(["figure", "value"], rows, numeric=(1,))]

    def page(self) -> Page:
        """The counts as a page."""
        sections = [Section("What was changed", parts=list(self.tables()))]
        if self.warnings:
            sections.insert(0, Section("Before you publish", points=list(self.warnings), warning=True))
        return Page("A protected release in parts", self.headline, sections)

    @property
    def headline(self) -> str:
        """How many users and ratings were released, and what changed."""
        found = self.totals
        return (
            f"released {found['users']:,} users in {count_of(self.n_parts, 'part')}: {found['added']:,} ratings added, "
            f"{found['removed']:,} removed, {found['changed']:,} changed, {found['kept']:,} as they were"
        )

    @property
    def remarks(self) -> Sequence[str]:
        """Where the parts are, and how their rows are ordered."""
        ordered = "in any order" if self.shuffled else "sorted by user and item"
        noted = [self.totals["entered"]] if self.totals.get("entered") else []
        return (*noted, f"wrote {self.folder}; the rows of each part are {ordered}")


def asked_wishes(options: dict[str, Any]) -> Wishes:
    """What the publisher wants, taken out of the options; what only a table in memory has is refused."""
    if options.get("key") is None:
        raise ParameterError(NO_KEY)
    known = (*READING, *CHANGES, *Wishes.__dataclass_fields__)
    strange = [name for name in options if name not in known]
    if strange:
        raise ParameterError(f"{strange[0]} is of no use for a release in parts; known: {', '.join(known)}")
    if options.get("duplicates") == "last":
        raise ParameterError("the rows of a table in parts have no order, so none is the last; use duplicates 'mean'")
    wishes = Wishes.of(options, None)
    options |= {name: value.tolist() for name, value in options.items() if hasattr(value, "tolist")}
    return wishes


def looked_at(protector: Protector, head: InputTable) -> Roles:
    """The columns; mistakes that the first rows show are told before the work."""
    data = replace(forgetting(protector), whole=True).prepare(head).data
    check_ledger(protector, data.scale.numbers)
    named = {name: protector.reading.get(name) for name in ("user", "item", "rating")}
    roles = find_roles(head, **named, like=False)
    # For a guard of likes, a column of ratings is one like any other.
    return roles if data.source is None or data.source.rating is not None else roles._replace(rating=None)


def refuse_inside(source: Source, folder: Path, ledger: Path | None) -> None:
    """The release must not become part of what it is a release of, and its ledger must not be published with it."""
    target = folder.resolve()
    if ledger is not None and target in (ledger.resolve(), *ledger.resolve().parents):
        raise ParameterError(
            f"the ledger {ledger} would be published with the release in {folder}; name another folder for one of them"
        )
    if any(target in path.resolve().parents for path in source.files):
        raise ParameterError(f"{folder} holds the table itself; name another folder for the release")
    given = Path(source.name)
    if given.is_dir() and (given.resolve() == target or given.resolve() in target.parents):
        raise ParameterError(f"{folder} is inside the table's folder {given}; name another folder for the release")


def guard_bytes(guard: GuardLike) -> bytes:
    """The guard's file; a guard that has none is saved for as long as it takes to read it."""
    if not isinstance(guard, Guard):
        return read_bytes(Path(guard))
    with tempfile.TemporaryDirectory(prefix="attriguard-") as private:
        guard.save(Path(private) / "guard")
        return (Path(private) / "guard").read_bytes()


def terms_of(
    source: Source, guard: bytes, protector: Protector, options: Mapping[str, Any], engine: str
) -> dict[str, Any]:
    """All that decides the release. The key's fingerprint tells two keys apart, and nothing else."""
    wishes, memory = protector.wishes, protector.memory
    chosen = wishes_record(wishes)
    for name in ("locked", "additions"):  # lists, which may name users
        chosen[name] = hashlib.sha256(json.dumps(chosen[name], default=str).encode()).hexdigest()[:16]
    return {
        "version": f"attriguard {__version__}, {engine}",
        "guard_sha256": hashlib.sha256(guard).hexdigest(),
        "key": derive_key(wishes.key or b"", "", "fingerprint").hex()[:32],
        "input": source.fingerprint(),
        "options": {**chosen, **options},
        "ledger": None if memory is None else memory.ledger.stamp,
    }


def check_folder(output: Path) -> None:
    """A release in parts is a folder: the name of a file is refused."""
    if suffix_of(output) in TEXT_SUFFIXES + PARQUET_SUFFIXES:
        raise ParameterError(
            f"{output}: a table of this size is released as a folder of parts; name a folder, such as released, or "
            "keep it in memory with --engine memory"
        )
