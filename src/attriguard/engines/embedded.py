"""``ag.protect_files`` on this machine: DuckDB brings users together, processes protect them in parts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attriguard._checks import check_count
from attriguard._text import count_of
from attriguard.data.files import folder_for, sweep, written_beside
from attriguard.data.locks import used_alone
from attriguard.data.tables.columns import Roles
from attriguard.engines.buckets import Buckets, bucket_count
from attriguard.engines.duck import NoSpaceError, connected, load_duckdb
from attriguard.engines.ledgers import entry_of, pieces_of
from attriguard.engines.maker import job_of, totals_of
from attriguard.engines.parts import Parts
from attriguard.engines.pool import made_parts
from attriguard.engines.processes import BESIDE, Worker, WorkerError
from attriguard.engines.release import (
    HEAD_ROWS,
    ReleasedParts,
    asked_wishes,
    check_folder,
    guard_bytes,
    looked_at,
    refuse_inside,
    terms_of,
)
from attriguard.engines.sources import Source, open_source
from attriguard.errors import DataError
from attriguard.kernels.threads import n_threads
from attriguard.operations.protector import Protector
from attriguard.operations.ready import GuardLike, protector_for
from attriguard.progress import Progress


def protect_here(
    ratings: str | os.PathLike[str],
    guard: GuardLike,
    folder: Path,
    limit: int,
    parts: int | None,
    others: Sequence[Worker],
    progress: Progress,
    options: dict[str, Any],
) -> ReleasedParts:
    """Protect what an engine reads into a folder; ``others`` are processes that make parts, too."""
    n = None if parts is None else check_count(parts, name="parts")
    load_duckdb()
    check_folder(folder)
    wishes = asked_wishes(options)
    protector = protector_for(guard, wishes, options).for_blocks()
    source = open_source(ratings)
    refuse_inside(source, folder, wishes.ledger)
    with folder_for(folder), used_alone(folder):
        content = guard_bytes(guard)
        terms = terms_of(source, content, protector, options, f"duckdb {load_duckdb().__version__}")
        return _run(_Run(protector, source, folder, options, limit, others), terms, content, n, progress)


@dataclass(frozen=True, eq=False)
class _Run:
    """What a run works on."""

    protector: Protector
    source: Source
    folder: Path
    options: Mapping[str, Any]
    memory: int
    others: Sequence[Worker]

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
        found.close()
        return ReleasedParts(run.folder, goal, found.n, found.totals, run.shuffled)
    roles, rows = _looked_at(run, workers)
    usual = bucket_count(rows, len(run.source.schema), run.memory, workers)
    parts = found or Parts.begun(run.folder, terms, run.source.suffix, n or usual)
    sweep(run.folder)
    with written_beside(parts.work / "guard", private=True) as file:
        file.write(guard)
    buckets = Buckets(run.source, roles, parts.work / "buckets", parts.n, run.protector.memory)
    dividing, protecting = progress.parts(1, 5)
    done: dict[int, dict[str, Any]] = {}
    try:
        buckets.fill(run.memory - run.memory // BESIDE, workers, dividing)
        done = {k: facts for k in range(parts.n) if (facts := parts.facts(k)) is not None}
        job = job_of(parts, buckets, run.protector.wishes, run.options)
        for k, facts in made_parts(job, [k for k in range(parts.n) if k not in done], workers, run.others):
            done[k] = facts
            _tell(protecting, done, rows, parts.n)
    except DataError as error:
        told = _stopped(error, run, len(done), parts.n)
        if found is None and not done and not isinstance(told, (NoSpaceError, WorkerError)):
            parts.abandon()  # when the mistake is mended, this is no longer a run of the same terms
        raise told from error
    totals = totals_of(done.values(), len(run.protector.wishes.locked.pairs))
    entry = entry_of(run.protector, (facts["ledger"] for facts in done.values()), pieces_of(parts.work))
    totals |= {} if entry is None else {"entered": entry.words}
    parts.finish(totals, None if entry is None else entry.write)
    return ReleasedParts(run.folder, goal, parts.n, totals, run.shuffled)


def _looked_at(run: _Run, threads: int) -> tuple[Roles, int]:
    """The columns, and about how many rows there are; mistakes that the first rows show are told before the work."""
    with (
        tempfile.TemporaryDirectory(dir=run.folder, prefix=".attriguard-look-") as spill,
        connected(Path(spill), memory=run.memory, threads=threads) as connection,
    ):
        head, rows = run.source.head(connection, HEAD_ROWS), run.source.count(connection)
    return looked_at(run.protector, head), rows


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
        return WorkerError(f"{error}; {done} of {n} parts are done, the same command goes on with the others")
    return error
