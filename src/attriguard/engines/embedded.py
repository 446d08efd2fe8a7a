"""``ag.protect_files``: a table that need not fit into memory in, a folder of protected parts out."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attriguard._checks import check_count
from attriguard._text import count_of
from attriguard.data.files import make_folder, sweep, written_beside
from attriguard.data.locks import used_alone
from attriguard.data.tables.columns import Roles
from attriguard.engines.buckets import Buckets, bucket_count
from attriguard.engines.choice import LARGE_ENGINES
from attriguard.engines.duck import NoSpaceError, connected, load_duckdb, memory_bytes
from attriguard.engines.ledgers import entry_of, pieces_of
from attriguard.engines.maker import job_of, totals_of
from attriguard.engines.parts import Parts
from attriguard.engines.pool import WorkerError, made_parts, started, takes_processes
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
from attriguard.errors import DataError, ParameterError
from attriguard.kernels.threads import n_threads
from attriguard.operations.protector import Protector
from attriguard.operations.ready import GuardLike, protector_for
from attriguard.progress import Progress, ProgressLike

USUAL_MEMORY = "2GB"
# What a process takes that has loaded what it needs, and has no rows yet.
LOADED_BYTES = 150 * 10**6


def protect_files(
    ratings: str | os.PathLike[str],
    guard: GuardLike,
    output: str | os.PathLike[str],
    *,
    engine: str = "embedded",
    master: str | None = None,
    memory: str | int = USUAL_MEMORY,
    parts: int | None = None,
    progress: ProgressLike = None,
    **options: Any,
) -> ReleasedParts:
    """Protect a table that need not fit into memory, into a folder of parts.

    An engine brings the rows of each user together, and all cores protect blocks of complete users. The release of a
    user is that of `protect` under the same key, in either engine.

    Parameters
    ----------
    ratings
        A Parquet or CSV file, packed or not; a folder or a glob of such files; ``FILE:TABLE`` for a table of a DuckDB
        or SQLite file.
    guard
        A fitted guard, or its file, for users whose value nobody knows. A budget of everyone needs a settled price.
    output
        The folder: ``part-*`` with the columns and types of the table, ``_manifest.json``, and at the end ``_SUCCESS``.
    engine
        "embedded": DuckDB (the extra `bulk`), on this machine. The same call goes on where one before it stopped.
        "spark": Spark (the extra `spark`), on this machine or a cluster, whose machines must all see the files. It
        makes Parquet parts of a new folder, in which the cells of a CSV file stay text.
    master
        Where Spark is: "local[*]" for all cores of this machine, which is usual, or "spark://HOST:7077".
    memory
        About what all processes together may use, such as "2GB"; a Spark cluster has settings of its own.
    parts
        How many files; by default as many as the memory suggests.
    **options
        Those of `protect` with a guard: ``key``, which is needed, ``budget``, ``locked``, ``user``, ``item`` …
    """
    limit, folder = memory_bytes(memory), Path(output)
    if engine == "spark":
        from attriguard.engines.spark_files import SparkRun, protect_on_spark

        return protect_on_spark(ratings, guard, folder, SparkRun(master, limit, parts, Progress.of(progress)), options)
    _check_engine(engine, master)
    n = None if parts is None else check_count(parts, name="parts")
    return _protect_here(ratings, guard, folder, limit, n, Progress.of(progress), options)


def _check_engine(engine: str, master: str | None) -> None:
    if engine not in LARGE_ENGINES:
        raise ParameterError(f"unknown engine {engine!r} for files; known: {', '.join(LARGE_ENGINES)}")
    if master is not None:
        raise ParameterError("a master is Spark's: use --engine spark, or leave it out")


def _protect_here(
    ratings: str | os.PathLike[str],
    guard: GuardLike,
    folder: Path,
    limit: int,
    n: int | None,
    progress: Progress,
    options: dict[str, Any],
) -> ReleasedParts:
    load_duckdb()
    check_folder(folder)
    wishes = asked_wishes(options)
    protector = protector_for(guard, wishes, options).for_blocks()
    source = open_source(ratings)
    refuse_inside(source, folder)
    with used_alone(make_folder(folder)):
        content = guard_bytes(guard)
        terms = terms_of(source, content, protector, options, f"duckdb {load_duckdb().__version__}")
        return _run(_Run(protector, source, folder, options, limit), terms, content, n, progress)


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
        # Beside what DuckDB counts there are its writers, this process, and workers that load what they will need.
        beside = run.memory // 4
        early = takes_processes(parts.n, workers) and beside >= workers * LOADED_BYTES
        with started(workers - 1 if early else 0) as waiting:
            buckets.fill(run.memory - beside, workers, dividing)
            done = {k: facts for k in range(parts.n) if (facts := parts.facts(k)) is not None}
            job = job_of(parts, buckets, run.protector.wishes, run.options)
            for k, facts in made_parts(job, [k for k in range(parts.n) if k not in done], workers, waiting):
                done[k] = facts
                _tell(protecting, done, rows, parts.n)
    except DataError as error:
        raise _stopped(error, run, len(done), parts.n) from error
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
        return DataError(f"{error}; {done} of {n} parts are done, the same command goes on with the others")
    return error
