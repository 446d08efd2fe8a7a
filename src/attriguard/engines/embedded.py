"""``ag.protect_files``: a table that need not fit into memory in, a folder of protected parts out, on one machine."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attriguard._checks import check_count
from attriguard._keys import derive_key
from attriguard._text import count_of
from attriguard._version import __version__
from attriguard.data.files import make_folder, read_bytes, sweep, written_beside
from attriguard.data.locks import used_alone
from attriguard.data.tables.columns import Roles, find_roles
from attriguard.data.tables.suffixes import PARQUET_SUFFIXES, TEXT_SUFFIXES, suffix_of
from attriguard.engines.buckets import Buckets, bucket_count
from attriguard.engines.duck import NoSpaceError, connected, load_duckdb, memory_bytes
from attriguard.engines.maker import job_of, totals_of, wishes_record
from attriguard.engines.parts import Parts
from attriguard.engines.pool import WorkerError, made_parts
from attriguard.engines.sources import Source, open_source
from attriguard.errors import DataError, ParameterError
from attriguard.guard import AttriGuard
from attriguard.kernels.threads import n_threads
from attriguard.operations.protect import CHANGES, GuardLike, protector_for
from attriguard.operations.protector import Protector
from attriguard.operations.results import Result
from attriguard.operations.wishes import Wishes
from attriguard.progress import Progress, ProgressLike
from attriguard.report.page import Page, Section, Table

USUAL_MEMORY = "2GB"
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
        return (f"wrote {self.folder}; the rows of each part are {ordered}",)


def protect_files(
    ratings: str | os.PathLike[str],
    guard: GuardLike,
    output: str | os.PathLike[str],
    *,
    memory: str | int = USUAL_MEMORY,
    parts: int | None = None,
    progress: ProgressLike = None,
    **options: Any,
) -> ReleasedParts:
    """Protect a table that need not fit into memory, into a folder of parts.

    DuckDB (the extra `bulk`) brings the rows of each user together, and all cores protect blocks of complete users. The
    release of a user is that of `protect` under the same key. The same call goes on where one before it stopped.

    Parameters
    ----------
    ratings
        A Parquet or CSV file, packed or not; a folder or a glob of such files; "FILE:TABLE" for a table of a DuckDB or
        SQLite file.
    guard
        A fitted guard, or its file, for users whose value nobody knows. A budget of everyone needs a settled price.
    output
        The folder: ``part-*`` with the columns and types of the table, ``manifest.json``, and at the end ``_SUCCESS``.
    memory
        About what all processes together may use, such as "2GB".
    parts
        How many files; by default as many as the memory suggests.
    **options
        Those of `protect` with a guard: ``key``, which is needed, ``budget``, ``locked``, ``user``, ``item`` …
    """
    load_duckdb()
    limit, folder = memory_bytes(memory), Path(output)
    if suffix_of(folder) in TEXT_SUFFIXES + PARQUET_SUFFIXES:
        raise ParameterError(
            f"{folder}: a table of this size is released as a folder of parts; name a folder, such as released, or "
            "keep it in memory with --engine memory"
        )
    wishes = _wishes(options)
    options = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in options.items()}
    protector = protector_for(guard, wishes, options).for_blocks()
    source = open_source(ratings)
    _refuse_inside(source, folder)
    with used_alone(make_folder(folder)):
        content = _guard_bytes(guard, folder)
        terms = _terms(source, content, wishes, options)
        n = None if parts is None else check_count(parts, name="parts")
        return _run(_Run(protector, source, folder, options, limit), terms, content, n, Progress.of(progress))


@dataclass(frozen=True, eq=False)
class _Run:
    """What a run works on."""

    protector: Protector
    source: Source
    folder: Path
    options: Mapping[str, Any]
    memory: int

    @property
    def shuffled(self) -> bool:
        """Whether the publisher wants rows in any order."""
        return self.protector.wishes.order == "shuffled"


def _run(run: _Run, terms: Mapping[str, Any], guard: bytes, n: int | None, progress: Progress) -> ReleasedParts:
    goal, workers = run.protector.planner.goal.name, n_threads()
    found = Parts.found(run.folder, terms, run.source.suffix)
    if found is not None and n not in (None, found.n):
        raise DataError(f"{run.folder} holds a release in {count_of(found.n, 'part')}, not {n}; name a new folder")
    if found is not None and found.finished:
        return ReleasedParts(run.folder, goal, found.n, found.totals, run.shuffled)
    roles, rows = _looked_at(run, workers)
    usual = bucket_count(rows, len(run.source.schema), run.memory, workers)
    parts = found or Parts.begun(run.folder, terms, run.source.suffix, n or usual)
    sweep(run.folder)
    with written_beside(parts.work / "guard", private=True) as file:
        file.write(guard)
    buckets = Buckets(run.source, roles, parts.work / "buckets", parts.n)
    dividing, protecting = progress.parts(1, 5)
    done: dict[int, dict[str, Any]] = {}
    try:
        # Beside what DuckDB counts there are its writers, and the workers of the parts come later.
        buckets.fill(run.memory // 4, workers, dividing)
        done = {k: facts for k in range(parts.n) if (facts := parts.facts(k)) is not None}
        job = job_of(parts, buckets, run.protector.wishes, run.options, run.memory // (2 * workers))
        for k, facts in made_parts(job, [k for k in range(parts.n) if k not in done], workers):
            done[k] = facts
            _tell(protecting, done, rows, parts.n)
    except DataError as error:
        raise _stopped(error, run, len(done), parts.n) from error
    totals = totals_of(done.values(), len(run.protector.wishes.locked.pairs))
    parts.finish(totals)
    return ReleasedParts(run.folder, goal, parts.n, totals, run.shuffled)


def _looked_at(run: _Run, threads: int) -> tuple[Roles, int]:
    """The columns, and about how many rows there are; mistakes that the first rows show are told before the work."""
    with (
        tempfile.TemporaryDirectory(dir=run.folder, prefix=".attriguard-look-") as spill,
        connected(Path(spill), memory=run.memory, threads=threads) as connection,
    ):
        head, rows = run.source.head(connection, HEAD_ROWS), run.source.count(connection)
    data = replace(run.protector, whole=True).prepare(head).data
    named = {name: run.options.get(name) for name in ("user", "item", "rating")}
    roles = find_roles(head, **named, like=False)
    # For a guard of likes, a column of ratings is one like any other.
    return (roles if data.source is None or data.source.rating is not None else roles._replace(rating=None)), rows


def _tell(progress: Progress, done: Mapping[int, Mapping[str, Any]], rows: int, n: int) -> None:
    users, ratings = (sum(facts[name] for facts in done.values()) for name in ("users", "rows"))
    progress.tell(f"{users:,} users, {ratings:,} of about {max(rows, ratings):,} ratings", len(done) / n)


def _stopped(error: DataError, run: _Run, done: int, n: int) -> DataError:
    """The same error with what is done; an error in the table itself comes as it is."""
    failed = run.source.failed
    if failed:
        return failed[0]
    if isinstance(error, NoSpaceError):
        return NoSpaceError(
            f"there is no space left on the disk of {run.folder}: {done} of {n} parts are done; make space, and give "
            "the same command again"
        )
    if isinstance(error, WorkerError):
        return DataError(f"{error}; {done} of {n} parts are done, the same command goes on with the others")
    return error


def _wishes(options: dict[str, Any]) -> Wishes:
    """What the publisher wants; what only a table in memory has is refused."""
    if options.get("key") is None:
        raise ParameterError(NO_KEY)
    known = (*READING, *CHANGES, *Wishes.__dataclass_fields__)
    strange = [name for name in options if name not in known]
    if strange:
        raise ParameterError(f"{strange[0]} is of no use for a release in parts; known: {', '.join(known)}")
    if options.get("ledger") is not None:
        raise ParameterError("a release in parts keeps no ledger yet; protect the table in memory with --engine memory")
    if options.get("duplicates") == "last":
        raise ParameterError("the rows of a table in parts have no order, so none is the last; use duplicates 'mean'")
    return Wishes.of(options, None)


def _refuse_inside(source: Source, folder: Path) -> None:
    """The release must not become part of what it is a release of."""
    target = folder.resolve()
    if any(target in path.resolve().parents for path in source.files):
        raise ParameterError(f"{folder} holds the table itself; name another folder for the release")
    given = Path(source.name)
    if given.is_dir() and (given.resolve() == target or given.resolve() in target.parents):
        raise ParameterError(f"{folder} is inside the table's folder {given}; name another folder for the release")


def _guard_bytes(guard: GuardLike, folder: Path) -> bytes:
    if not isinstance(guard, AttriGuard):
        return read_bytes(Path(guard))
    with tempfile.TemporaryDirectory(dir=folder, prefix=".attriguard-guard-") as private:
        guard.save(Path(private) / "guard")
        return (Path(private) / "guard").read_bytes()


def _terms(source: Source, guard: bytes, wishes: Wishes, options: Mapping[str, Any]) -> dict[str, Any]:
    """All that decides the release. The key's fingerprint tells two keys apart, and nothing else."""
    chosen = wishes_record(wishes)
    for name in ("locked", "additions"):  # lists, which may name users
        chosen[name] = hashlib.sha256(json.dumps(chosen[name], default=str).encode()).hexdigest()[:16]
    return {
        "version": f"attriguard {__version__}, duckdb {load_duckdb().__version__}",
        "guard_sha256": hashlib.sha256(guard).hexdigest(),
        "key": derive_key(wishes.key or b"", "", "fingerprint").hex()[:32],
        "input": source.fingerprint(),
        "options": {**chosen, **options},
    }
