"""DuckDB, loaded on first use: it comes with the extra `bulk`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attriguard.errors import DataError, MissingExtraError, ParameterError

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
SMALLEST_MEMORY = 200 * 10**6


def load_duckdb() -> Any:
    """The module duckdb; where it is not installed, the error names the extra."""
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtraError("large tables need the extra 'bulk': pip install 'attriguard[bulk]'") from error
    return duckdb


def memory_bytes(asked: str | int) -> int:
    """Memory as people write it (2GB, 512 MB, 1.5GiB) in bytes."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([A-Za-z]*)\s*", str(asked))
    if found is None or found[2].upper() not in UNITS:
        raise ParameterError(f"memory must be a number with a unit, such as 2GB or 512MB, got {asked!r}")
    amount = int(float(found[1]) * UNITS[found[2].upper()])
    if amount < SMALLEST_MEMORY:
        raise ParameterError(f"memory must be at least {SMALLEST_MEMORY // 10**6}MB, got {asked!r}")
    return amount


@contextmanager
def connected(spill: Path, *, memory: int, threads: int) -> Iterator[Any]:
    """A connection that keeps to ``memory`` bytes and puts what does not fit into the folder ``spill``."""
    duckdb = load_duckdb()
    connection = duckdb.connect(
        config={
            "memory_limit": f"{memory // 10**6}MB",
            "temp_directory": str(spill),
            "threads": threads,
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
    )
    try:
        connection.execute("SET enable_progress_bar = false")  # there is one already
        yield connection
    except duckdb.Error as error:
        raise duck_error(error) from error
    finally:
        connection.close()


def duck_error(error: Exception) -> DataError:
    """What DuckDB says, in one line; never a row, which it may quote behind the first line."""
    said = str(error).splitlines()[0] if str(error) else type(error).__name__
    if "No space left" in str(error) or "max_temp_directory_size" in str(error):
        return NoSpaceError("there is no space left on the disk")
    if "OutOfMemory" in type(error).__name__:
        return DataError("the memory does not suffice to bring the users together; give more with --memory")
    return DataError(f"DuckDB cannot read the table: {said}")


class NoSpaceError(DataError):
    """The disk is full; when there is space, the same command goes on."""


def quoted(name: str) -> str:
    """A name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


def text(value: object) -> str:
    """A text as SQL takes it."""
    return "'" + str(value).replace("'", "''") + "'"
