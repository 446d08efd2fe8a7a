"""Who protects a table: it is read whole into memory, or an engine reads it in parts. Loads nothing heavy."""

from __future__ import annotations

import glob
import os
from pathlib import Path

from attriguard.errors import DataError, ParameterError

LARGE_ENGINES = ("embedded", "spark")
ENGINES = ("auto", "memory", *LARGE_ENGINES)
# A table of at least so many bytes goes through the engine, and its release is a folder of parts.
LARGE_BYTES = 512 * 2**20
SQLITE_MAGIC, DUCKDB_MAGIC = b"SQLite format 3\0", b"DUCK"


def choose_engine(ratings: str | os.PathLike[str] | None, asked: str = "auto") -> str:
    """ "memory", or "embedded" for a folder, a glob, a table of a database, and a file of 512 MiB and more.

    ``asked`` is one of the two, "spark", which is never chosen by itself, or "auto".
    """
    if asked not in ENGINES:
        raise ParameterError(f"unknown engine {asked!r}; known: {', '.join(ENGINES)}")
    if asked != "auto":
        return asked
    return "embedded" if ratings is not None and is_large(ratings, LARGE_BYTES) else "memory"


def is_large(given: str | os.PathLike[str], least: int) -> bool:
    """Whether an engine reads this: a folder, a glob, a table of a database, or a file of at least so many bytes."""
    path = Path(given)
    if path.is_file():
        return path.stat().st_size >= least
    return path.is_dir() or bool(glob.has_magic(str(path))) or database_of(path) is not None


def database_of(path: Path) -> tuple[Path, str, str] | None:
    """The file, the kind and the table that FILE:TABLE names; None for anything else."""
    name, colon, table = str(path).rpartition(":")
    if not (colon and table and os.path.isfile(name)):
        return None
    with open(name, "rb") as file:
        head = file.read(16)
    kind = "sqlite" if head == SQLITE_MAGIC else "duckdb" if head[8:12] == DUCKDB_MAGIC else None
    if kind is None:
        raise DataError(f"{name} is neither a DuckDB nor an SQLite file; name a table's file without ':{table}'")
    return Path(name), kind, table
