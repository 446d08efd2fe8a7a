"""Files of a ledger: Parquet, sorted by user, so that the entries of a range of users are read without the others."""

from __future__ import annotations

import hashlib
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from attriguard.data.files import written_beside
from attriguard.data.sealed import BROKEN
from attriguard.errors import DataError
from attriguard.ledger.entries import Entries, check_table

ENTRIES, CELLS = "entries", "cells"
# The names of its files; nobody else's file is called so.
OWN_FILE = re.compile(rf"({ENTRIES}|{CELLS})-[0-9a-f]{{16}}[.]parquet")
# What the ledger's own columns are called beside the cells of added rows.
USER, ITEM, CELL = "user", "item", "cell "
# Rows that are read at once: a group of them has one range of users.
GROUP_ROWS = 100_000
# Entries that a reader of the whole ledger has in memory at a time.
SPAN_ROWS = 4_000_000
LAST_USER = 2**64 - 1

Described = Mapping[str, Any]  # of a file: kind, name, sha256, rows, and the first and the last of its users
Span = tuple[int, int]  # of users: the first and the last hash


def write_file(folder: Path, kind: str, tables: Iterable[pa.Table]) -> dict[str, Any]:
    """A new file of some tables, one behind the other, in the order of users; it does not count yet."""
    path, rows, users = folder / f"{kind}-{secrets.token_hex(8)}.parquet", 0, list[int]()
    with written_beside(path, private=True) as file:
        writer: pq.ParquetWriter | None = None
        for table in tables:
            if writer is None:
                writer = pq.ParquetWriter(file, table.schema, compression="zstd", write_page_checksum=True)
            writer.write_table(table, row_group_size=GROUP_ROWS)
            rows += table.num_rows
            users += [table.column(USER)[at].as_py() for at in (0, -1) if table.num_rows]
        if writer is not None:
            writer.close()
    return {
        "kind": kind,
        "name": path.name,
        "sha256": sha256_of(path),
        "rows": rows,
        "users": [users[0], users[-1]] if users else [],
    }


def write_told(folder: Path, entries: Entries, cells: pa.Table | None) -> list[dict[str, Any]]:
    """Files of what a release tells: its entries, and the other cells of rows that it added."""
    files = [write_file(folder, ENTRIES, [entries.to_arrow()])]
    if cells is not None and cells.num_rows:
        files.append(write_file(folder, CELLS, [cells.sort_by(USER)]))
    return files


def adopt(folder: Path, whence: Path, files: Iterable[Described]) -> list[dict[str, Any]]:
    """Copies of files that were written elsewhere; one that is not as it was written is refused."""
    taken = []
    for each in files:
        path = folder / f"{each['kind']}-{secrets.token_hex(8)}.parquet"
        try:
            with (whence / str(each["name"])).open("rb") as source, written_beside(path, private=True) as file:
                shutil.copyfileobj(source, file)
        except OSError as error:
            raise DataError(f"{whence / str(each['name'])} cannot be read; make the release again") from error
        taken.append({**each, "name": path.name})
    check_files(folder, taken)
    return taken


def read_file(folder: Path, described: Described, span: Span = (0, LAST_USER)) -> pa.Table:
    """The rows of a range of users; what cannot be read is refused."""
    path = folder / str(described["name"])
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            groups = [k for k, found in enumerate(_ranges(file)) if found[0] <= span[1] and span[0] <= found[1]]
            table = file.read_row_groups(groups)
        users = table.column(USER).to_numpy()
        first, end = np.searchsorted(users, np.uint64(span[0])), np.searchsorted(users, np.uint64(span[1]), "right")
        table = table.slice(int(first), int(end - first))
        return check_table(table) if described["kind"] == ENTRIES else table
    except (pa.ArrowException, *BROKEN) as error:
        raise DataError(f"{path} is missing or damaged; restore the ledger from a copy") from error


def _ranges(file: pq.ParquetFile) -> Iterator[Span]:
    """The first and the last user of each group of rows."""
    place = file.schema_arrow.get_field_index(USER)
    for k in range(file.metadata.num_row_groups):
        found = file.metadata.row_group(k).column(place).statistics
        yield (0, LAST_USER) if found is None or not found.has_min_max else (found.min, found.max)


def read_past(folder: Path, files: Sequence[Described], span: Span) -> tuple[Entries, tuple[pa.Table, ...]]:
    """The entries of a range of users, and the cells of rows that were added for them, file by file."""
    near = [each for each in files if _near(each, span)]
    tables = [read_file(folder, each, span) for each in near if each["kind"] == ENTRIES]
    cells = tuple(read_file(folder, each, span) for each in near if each["kind"] == CELLS)
    return Entries.of_arrow(tables), cells


def _near(described: Described, span: Span) -> bool:
    """Whether a file can have users of a range; one that does not say which it holds can."""
    users = described.get("users", (0, LAST_USER))
    return bool(users) and users[0] <= span[1] and span[0] <= users[1]


def in_spans(folder: Path, files: Sequence[Described]) -> Iterator[Entries]:
    """All entries, one range of users after the other, so that memory holds few of them."""
    rows = sum(int(each["rows"]) for each in files if each["kind"] == ENTRIES)
    n = max(1, -(-rows // SPAN_ROWS))
    ends = [(k * (LAST_USER + 1)) // n for k in range(n + 1)]
    for first, end in pairwise(ends):
        yield read_past(folder, files, (first, end - 1))[0]


def without_user(folder: Path, described: Described, user: int) -> tuple[Described, int]:
    """The file without a user's rows, and how many there were; a file without any stays as it is."""
    found = read_file(folder, described, (user, user)).num_rows
    if not found:
        return described, 0
    tables = [read_file(folder, described, (0, user - 1))] if user else []
    tables += [read_file(folder, described, (user + 1, LAST_USER))] if user < LAST_USER else []
    return write_file(folder, str(described["kind"]), tables), found


def check_files(folder: Path, files: Iterable[Described]) -> None:
    """Refuse a ledger of which a file is missing, or is not what was written."""
    for each in files:
        path = folder / str(each["name"])
        if not stands(path, str(each["sha256"])):
            raise DataError(f"{path} is missing or damaged; restore the ledger from a copy")


def stands(path: Path, digest: str) -> bool:
    """Whether a file is there, and is the one of this SHA-256."""
    try:
        return path.is_file() and sha256_of(path) == digest
    except OSError:
        return False


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


Adding = Callable[[Path], list[dict[str, Any]]]  # writes what a release adds into a ledger's folder, and describes it
