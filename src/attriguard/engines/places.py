"""Where a large table lies: a file, a folder or a glob of files, a table of a database. Loads nothing heavy."""

from __future__ import annotations

import glob
import os
from pathlib import Path

from attriguard.data.files import check_file
from attriguard.data.tables.suffixes import PARQUET_SUFFIXES, TEXT_SUFFIXES, known_suffixes, suffix_of
from attriguard.errors import DataError

SQLITE_MAGIC, DUCKDB_MAGIC = b"SQLite format 3\0", b"DUCK"


def is_large(given: str | os.PathLike[str], least: int) -> bool:
    """Whether an engine reads this: a folder, a glob, a table of a database, or a file of at least so many bytes."""
    path = Path(given)
    if path.is_file():
        return path.stat().st_size >= least
    return path.is_dir() or bool(glob.has_magic(str(path))) or database_of(path) is not None


def bytes_of(given: str | os.PathLike[str]) -> int:
    """How large the files of a table are."""
    return sum(each.stat().st_size for each in files_of(given))


def files_of(given: str | os.PathLike[str]) -> tuple[Path, ...]:
    """The files of a table: the one that is named, or those of a folder, a glob or a database; in order."""
    path = Path(given)
    found = None if path.exists() else database_of(path)
    if found is not None:
        return (found[0],)
    if path.is_dir():
        files = [each for each in path.rglob("*") if each.is_file() and not _hidden(each.relative_to(path))]
        files = [each for each in files if suffix_of(each) in TEXT_SUFFIXES + PARQUET_SUFFIXES]
    elif glob.has_magic(str(path)) and not path.exists():
        files = [Path(each) for each in glob.glob(str(path), recursive=True) if Path(each).is_file()]
    else:
        files = [check_file(path)]
    if not files:
        raise DataError(f"there is no table in {path}: {known_suffixes()}")
    strange = [each for each in files if suffix_of(each) not in TEXT_SUFFIXES + PARQUET_SUFFIXES]
    if strange:
        raise DataError(f"{strange[0]}: {known_suffixes()}; rename or convert the file, or name the others only")
    return tuple(sorted(files))


def _hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


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
