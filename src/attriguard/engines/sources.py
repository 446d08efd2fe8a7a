"""Where a large table lies: files, a folder or a glob of them, or a table of a DuckDB or SQLite file.

Inside the engine columns are called c0, c1, …, since a table's own names may repeat or be empty.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from attriguard.data.tables.csv_text import MAX_COLUMNS, CsvStyle, parse_csv, too_many_columns
from attriguard.data.tables.suffixes import PARQUET_SUFFIXES, suffix_of
from attriguard.data.tables.table import InputTable
from attriguard.engines.duck import quoted, text
from attriguard.engines.places import database_of, files_of
from attriguard.errors import DataError

# What is read of a file to learn how it is written, and of both its ends to know it again.
HEAD_BYTES = 1 << 20
BATCH_ROWS = 50_000
# About what a packed text file becomes.
UNPACKED = 5
# How SQL finds the blanks around text that do not count.
BLANKS = "' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13) || chr(133) || chr(160)"


@dataclass(frozen=True, eq=False)
class Source:
    """A table that is read as often as need be, never as a whole."""

    name: str
    kind: str  # "parquet", "text", "duckdb" or "sqlite"
    files: tuple[Path, ...]
    schema: pa.Schema
    table: str = ""  # of a database
    style: CsvStyle | None = None
    failed: list[DataError] = field(default_factory=list)  # what a file that is being read was refused for

    @property
    def suffix(self) -> str:
        """How the names of released parts end: as those of the table, and .parquet for a database."""
        return suffix_of(self.files[0]) if self.kind == "text" else ".parquet"

    @property
    def columns(self) -> list[str]:
        """The columns as the engine calls them."""
        return [f"c{k}" for k in range(len(self.schema))]

    def relation(self, connection: Any) -> str:
        """What stands behind FROM, for one query; its columns are c0, c1, …"""
        named = ", ".join(f"{quoted(name)} AS c{k}" for k, name in enumerate(self.schema.names))
        if self.kind == "parquet":
            files = ", ".join(text(path) for path in self.files)
            return f"(SELECT {named} FROM read_parquet([{files}], hive_partitioning = false))"
        if self.kind == "duckdb":
            attached = connection.execute("SELECT count(*) FROM duckdb_databases() WHERE database_name = 'given'")
            if not attached.fetchone()[0]:
                connection.execute(f"ATTACH {text(self.files[0])} AS given (READ_ONLY)")
            return f"(SELECT {named} FROM given.{quoted(self.table)})"
        plain = pa.schema([pa.field(f"c{k}", each.type) for k, each in enumerate(self.schema)])
        connection.register("given_rows", pa.RecordBatchReader.from_batches(plain, self._watched(plain)))
        return "given_rows"

    def _watched(self, plain: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The batches; an error of ours is kept, since DuckDB would tell it in words of its own."""
        try:
            yield from self._sqlite(plain) if self.kind == "sqlite" else self._lines(plain)
        except DataError as error:
            self.failed.append(error)
            raise

    def _lines(self, plain: pa.Schema) -> Iterator[pa.RecordBatch]:
        for path in self.files:
            try:
                reader = pa.csv.open_csv(
                    path,
                    read_options=pa.csv.ReadOptions(column_names=plain.names, skip_rows_after_names=1),
                    parse_options=pa.csv.ParseOptions(delimiter=(self.style or CsvStyle()).delimiter,
                                                      newlines_in_values=True),
                    convert_options=pa.csv.ConvertOptions(column_types=plain, strings_can_be_null=False),
                )  # fmt: skip
                yield from reader
            except (pa.ArrowException, OSError, EOFError) as error:
                # Arrow's own message quotes the row, which may hold a private value: it is not passed on.
                ragged = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", str(error))
                where = f" (row {ragged[1]} has {ragged[3]} fields, not {ragged[2]})" if ragged else ""
                raise DataError(
                    f"{path} cannot be read as CSV in UTF-8{where}; is it cut, or is a double quote never closed?"
                ) from None

    def _sqlite(self, plain: pa.Schema) -> Iterator[pa.RecordBatch]:
        with _sqlite_file(self.files[0]) as connection:
            rows = connection.execute(f"SELECT * FROM {quoted(self.table)}")
            while some := rows.fetchmany(BATCH_ROWS):
                columns = zip(*some, strict=True)
                yield pa.record_batch([pa.array(c, f.type) for c, f in zip(columns, plain, strict=True)], schema=plain)

    def head(self, connection: Any, rows: int) -> InputTable:
        """Some rows, by which mistakes are found before the long work."""
        found = connection.sql(f"SELECT * FROM {self.relation(connection)} LIMIT {rows}").to_arrow_table()
        return self.typed(found, self.name)

    def typed(self, rows: pa.Table, name: str) -> InputTable:
        """Rows that come from DuckDB as the table has them: its names and types."""
        columns = [_cast(rows.column(k), each.type) for k, each in enumerate(self.schema)]
        return InputTable(pa.Table.from_arrays(columns, schema=self.schema), name, self.style)

    def count(self, connection: Any) -> int:
        """How many rows there are; for text, about how many."""
        if self.kind == "parquet":
            return sum(pq.read_metadata(path).num_rows for path in self.files)
        if self.kind == "duckdb":
            return int(connection.execute(f"SELECT count(*) FROM {self.relation(connection)}").fetchone()[0])
        if self.kind == "sqlite":
            with _sqlite_file(self.files[0]) as opened:
                return int(opened.execute(f"SELECT count(*) FROM {quoted(self.table)}").fetchone()[0])
        with _opened(self.files[0]) as file:
            head = file.read(HEAD_BYTES)
        packed = UNPACKED if self.suffix.endswith(".gz") else 1
        size = sum(path.stat().st_size for path in self.files) * packed
        return max(1, round(head.count(b"\n") * size / len(head)))

    def id_of(self, column: int) -> str:
        """A column of ids in SQL; equal ids are equal there, too."""
        return f"trim(c{column}, {BLANKS})" if self.kind == "text" else f"c{column}"

    def text_of(self, column: int) -> str:
        """A column of ids in SQL as text, in which 7 and 7.0 are the same."""
        kind = self.schema.field(column).type
        whole = "::BIGINT" if pa.types.is_floating(kind) or pa.types.is_decimal(kind) else ""
        return f"({self.id_of(column)}{whole})::VARCHAR"

    def fingerprint(self) -> list[dict[str, Any]]:
        """What tells each file from any other: name, size, time of change, and a hash of both its ends."""
        folder = os.path.commonpath([path.parent.absolute() for path in self.files])
        return [{"file": os.path.relpath(path, folder), **_fingerprint(path)} for path in self.files]


def open_source(given: str | os.PathLike[str]) -> Source:
    """Find the files, and learn what columns they have; files that do not fit together are refused."""
    path = Path(given)
    found = None if path.exists() else database_of(path)
    if found is not None:
        return _open_database(*found)
    files = files_of(path)
    kinds = {"parquet" if suffix_of(each) in PARQUET_SUFFIXES else "text" for each in files}
    if len(kinds) > 1:
        raise DataError(f"{path} holds both Parquet and text files; name those of one kind, such as '{path}/*.parquet'")
    return _open_parquet(path, files) if kinds == {"parquet"} else _open_text(path, files)


def _open_parquet(path: Path, files: tuple[Path, ...]) -> Source:
    schemas = [_schema(each) for each in files]
    first = schemas[0]
    for file, schema in zip(files, schemas, strict=True):
        if not schema.equals(first):
            raise DataError(f"{file} has other columns, or other types, than {files[0]}; convert one of them")
    if len(set(first.names)) < len(first.names):
        raise DataError(f"{files[0]} has two columns of the same name; rename one of them")
    refuse_unknown(first)
    return Source(str(path), "parquet", files, first)


def refuse_unknown(schema: pa.Schema) -> None:
    """Lists, structures and the like are not carried along."""
    for each in schema:
        if not _known(each.type):
            raise DataError(f"column {each.name!r} holds {each.type}, which is not carried along; convert or drop it")


def _schema(path: Path) -> pa.Schema:
    try:
        schema = pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path} cannot be read as Parquet; was it copied whole?") from error
    if len(schema) > MAX_COLUMNS:
        raise DataError(too_many_columns(path.name, len(schema)))
    return schema


def _known(kind: pa.DataType) -> bool:
    """Types that DuckDB gives back as they were."""
    if pa.types.is_dictionary(kind):
        return _known(kind.value_type)
    if pa.types.is_timestamp(kind):
        return kind.tz is None or kind.unit != "ns"
    numbers = (
        pa.types.is_integer,
        pa.types.is_boolean,
        pa.types.is_float32,
        pa.types.is_float64,
        pa.types.is_decimal128,
    )
    others = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_date)
    return any(check(kind) for check in (*numbers, *others))


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_dictionary(kind):
        return column.cast(kind.value_type).dictionary_encode().cast(kind)
    return column if column.type == kind else column.cast(kind)


def _open_text(path: Path, files: tuple[Path, ...]) -> Source:
    headers = []
    for file in files:
        with _opened(file) as opened:
            head = opened.read(HEAD_BYTES)
        whole = len(head) < HEAD_BYTES
        table, style, _ = parse_csv(head if whole else head[: head.rfind(b"\n") + 1], file.name)
        headers.append((table.column_names, style))
        if table.column_names != headers[0][0] or style.delimiter != headers[0][1].delimiter:
            raise DataError(f"{file} has other columns than {files[0]}; give all files the same header line")
    schema = pa.schema([pa.field(name, pa.string()) for name in headers[0][0]])
    return Source(str(path), "text", files, schema, style=headers[0][1])


def _opened(path: Path) -> IO[bytes]:
    try:
        return pa.input_stream(path)  # which unpacks a gzip
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path} cannot be read: {error}") from error


def _open_database(file: Path, kind: str, table: str) -> Source:
    schema = _sqlite_schema(file, table) if kind == "sqlite" else _duckdb_schema(file, table)
    return Source(f"{file}:{table}", kind, (file,), schema, table)


def _duckdb_schema(file: Path, table: str) -> pa.Schema:
    from attriguard.engines.duck import load_duckdb

    duckdb = load_duckdb()
    try:
        with duckdb.connect(str(file), read_only=True) as connection:
            tables = [row[0] for row in connection.execute("SHOW TABLES").fetchall()]
            if table not in tables:
                raise DataError(f"{file} has no table {table!r}; its tables are {', '.join(tables) or 'none'}")
            return connection.sql(f"SELECT * FROM {quoted(table)} LIMIT 0").to_arrow_table().schema
    except duckdb.Error as error:
        raise DataError(f"{file} cannot be opened: {str(error).splitlines()[0]}") from error


class _sqlite_file:  # noqa: N801
    """An SQLite file, read only, closed at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> sqlite3.Connection:
        self.connection = sqlite3.connect(f"file:{quote(str(self.path))}?mode=ro", uri=True)
        return self.connection

    def __exit__(self, *_: object) -> None:
        self.connection.close()


def _sqlite_schema(file: Path, table: str) -> pa.Schema:
    """The types of the cells that are there: SQLite lets any cell be of any type."""
    with _sqlite_file(file) as connection:
        tables = [
            row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        ]
        if table not in tables:
            raise DataError(f"{file} has no table {table!r}; its tables are {', '.join(tables) or 'none'}")
        names = [row[1] for row in connection.execute(f"PRAGMA table_info({quoted(table)})")]
        kinds = ("integer", "real", "text", "blob")
        asked = ", ".join(f"max(typeof({quoted(name)}) = '{kind}')" for name in names for kind in kinds)
        found = connection.execute(f"SELECT {asked} FROM {quoted(table)}").fetchone()
    fields = []
    for k, name in enumerate(names):
        has = {kind for j, kind in enumerate(kinds) if found[k * len(kinds) + j]}
        if "blob" in has or ("text" in has and len(has) > 1):
            raise DataError(f"column {name!r} of {file}:{table} holds {' and '.join(sorted(has))}; make them one type")
        number = pa.float64() if "real" in has else pa.int64()
        fields.append(pa.field(name, pa.string() if "text" in has or not has else number))
    return pa.schema(fields)


def _fingerprint(path: Path) -> dict[str, Any]:
    about = path.stat()
    found = hashlib.sha256()
    with path.open("rb") as file:
        found.update(file.read(HEAD_BYTES))
        file.seek(max(0, about.st_size - HEAD_BYTES))
        found.update(file.read(HEAD_BYTES))
    return {"size": about.st_size, "changed": about.st_mtime_ns, "ends_sha256": found.hexdigest()}
