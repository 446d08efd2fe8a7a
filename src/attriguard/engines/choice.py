"""Who protects a table: it is read whole into memory, or an engine reads it in parts. Loads nothing heavy."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attriguard.engines.duck import memory_bytes
from attriguard.engines.places import is_large
from attriguard.engines.processes import early, started
from attriguard.errors import ParameterError
from attriguard.kernels.threads import n_threads
from attriguard.progress import Progress, ProgressLike

if TYPE_CHECKING:
    from attriguard.engines.release import ReleasedParts
    from attriguard.operations.ready import GuardLike

LARGE_ENGINES = ("embedded", "spark")
ENGINES = ("auto", "memory", *LARGE_ENGINES)
# A table of at least so many bytes goes through the engine, and its release is a folder of parts.
LARGE_BYTES = 512 * 2**20
USUAL_MEMORY = "2GB"


def choose_engine(ratings: str | os.PathLike[str] | None, asked: str = "auto") -> str:
    """ "memory", or "embedded" for a folder, a glob, a table of a database, and a file of 512 MiB and more.

    ``asked`` is one of the two, "spark", which is never chosen by itself, or "auto".
    """
    if asked not in ENGINES:
        raise ParameterError(f"unknown engine {asked!r}; known: {', '.join(ENGINES)}")
    if asked != "auto":
        return asked
    return "embedded" if ratings is not None and is_large(ratings, LARGE_BYTES) else "memory"


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
    limit, folder, told = memory_bytes(memory), Path(output), Progress.of(progress)
    if engine == "spark":
        from attriguard.engines.spark_files import SparkRun, protect_on_spark

        return protect_on_spark(ratings, guard, folder, SparkRun(master, limit, parts, told), options)
    _check_engine(engine, master)
    with started(early(ratings, limit, n_threads())) as others:  # they load while this process does
        from attriguard.engines.embedded import protect_here

        return protect_here(ratings, guard, folder, limit, parts, others, told, options)


def _check_engine(engine: str, master: str | None) -> None:
    if engine not in LARGE_ENGINES:
        raise ParameterError(f"unknown engine {engine!r} for files; known: {', '.join(LARGE_ENGINES)}")
    if master is not None:
        raise ParameterError("a master is Spark's: use --engine spark, or leave it out")
