"""Tables in and out: CSV and Parquet files, and frames that speak Arrow (pandas, polars, pyarrow)."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from attriguard.data.bounds import most_unpacked, refuse_bomb
from attriguard.data.files import check_file, read_bytes, unpacked, written_beside
from attriguard.data.tables.csv_text import (
    MAX_COLUMNS,
    CsvStyle,
    parse_csv,
    render_csv,
    too_many_columns,
)
from attriguard.data.tables.suffixes import (
    PARQUET_SUFFIXES,
    TEXT_SUFFIXES,
    check_output_suffix,
    known_suffixes,
    suffix_of,
)
from attriguard.errors import DataError

PARQUET_MAGIC = b"PAR1"
# About what a cell of a Parquet file takes in memory, its place in a text column included.
CELL_BYTES = 8
# Names in an error line, and letters of each; a table may have more columns than anybody wants to read.
SHOWN_COLUMNS, SHOWN_LETTERS = 12, 60
# A question of a survey may be a column's name; more than this is a cell of a file without a header line.
LONGEST_NAME = 1_000


# Cells by which a first line is known for what it is.
SAMPLE = 20
HEADERLESS = "; the first line looks like data: put a header line above it, such as user,item,rating or user,city"


class ArrowFrame(Protocol):
    """Any frame that speaks the Arrow interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@dataclass(frozen=True, eq=False)
class InputTable:
    """A table as it came, with its name and lines, so that an error can say where the table is wrong.

    A block of a larger table has ``first_row`` rows before it.
    """

    table: pa.Table
    name: str
    csv: CsvStyle | None = None
    rows_are_lines: bool = False
    first_row: int = 0

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, of which some may be equal."""
        return list(self.table.column_names)

    def column(self, name: str) -> pa.ChunkedArray:
        """A column by its name, as it came."""
        return self.table.column(name)

    @property
    def looks_headerless(self) -> bool:
        """Whether the first line of a CSV file looks like data: a number, a cell of its column, or shaped like one."""
        return self.csv is not None and any(
            re.fullmatch(r"[+-]?\d+([.]\d*)?", name.strip()) or _looks_like_a_cell(name, self.table.column(k))
            for k, name in enumerate(self.column_names)
        )

    @property
    def shown_columns(self) -> str:
        """The names of the columns for an error line, which lists the first of them only; never a line of data."""
        if self.looks_headerless:
            return f"not named{HEADERLESS}"
        names = [repr(name[:SHOWN_LETTERS]) for name in self.column_names[:SHOWN_COLUMNS]]
        more = len(self.column_names) - len(names)
        return ", ".join(names) + (f" and {more} more" if more else "")

    def row(self, row: int) -> str:
        """A row's number as a person counts: from 1, and the line in the file where rows are lines."""
        number = self.first_row + row + 1
        return f"row {number:,} (line {number + 1:,})" if self.rows_are_lines else f"row {number:,}"

    def at(self, row: int, column: int) -> str:
        """A cell's table, row and column, as an error names them."""
        return f"{self.name}, {self.row(row)}, column {self.column_names[column]!r}"


def _looks_like_a_cell(name: str, column: pa.ChunkedArray) -> bool:
    """Whether a name comes again in its column, or is shaped like the cells below it: u17, 1999-12-31."""
    if pc.index(column, name).as_py() >= 0:
        return bool(name)
    shapes = {_shape(str(cell)) for cell in column.slice(0, SAMPLE).to_pylist()}
    return "9" in _shape(name) and shapes == {_shape(name)}


def _shape(text: str) -> str:
    """Text with all digits alike, and all letters."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", text))


TableLike: TypeAlias = str | os.PathLike[str] | ArrowFrame | InputTable


def read_table(given: TableLike, what: str = "the table") -> InputTable:
    """A file or a frame as a table; ``what`` names it in errors when it has no file name."""
    if isinstance(given, InputTable):
        table = given
    elif isinstance(given, (str, os.PathLike)):
        table = _read_file(Path(given))
    elif hasattr(given, "__arrow_c_stream__"):
        table = InputTable(_read_frame(given, what), what)
    else:
        raise DataError(
            f"{what} must be a file name or a frame (pandas, polars, pyarrow), got a {type(given).__name__}"
            + ("; call .collect() on it first" if hasattr(given, "collect") else "")
        )
    if table.table.num_columns > MAX_COLUMNS:
        raise DataError(too_many_columns(table.name, table.table.num_columns))
    longest = max(map(len, table.column_names), default=0)
    if longest > LONGEST_NAME:
        raise DataError(
            f"{table.name} has a column whose name has {longest:,} letters, more than {LONGEST_NAME:,}; is there a "
            f"header line with the names of the columns?"
        )
    if table.table.num_rows == 0:
        raise DataError(f"{table.name} has no rows; at least one was expected")
    return table


def parse_table(content: bytes, name: str = "the table") -> InputTable:
    """The bytes of a file as a table: Parquet or CSV, packed with gzip or not, as the first bytes say.

    For a table that comes in no file, such as one from standard input. ``name`` stands for the file name in errors.
    """
    if content.startswith(PARQUET_MAGIC):
        return InputTable(_read_parquet(pa.BufferReader(content), name), name)
    return _as_text(unpacked(content, name), name)


def _read_file(path: Path) -> InputTable:
    suffix = suffix_of(path)
    if suffix in PARQUET_SUFFIXES:
        return InputTable(_read_parquet(check_file(path), str(path)), path.name)
    if not path.is_dir() and suffix not in TEXT_SUFFIXES:
        raise DataError(f"{path.name}: {known_suffixes()}, got {suffix or 'none'}; rename or convert the file")
    return _as_text(read_bytes(path), path.name)


def _as_text(content: bytes, name: str) -> InputTable:
    table, style, rows_are_lines = parse_csv(content, name)
    return InputTable(table, name, style, rows_are_lines)


def _read_parquet(source: Path | pa.BufferReader, name: str) -> pa.Table:
    packed = source.stat().st_size if isinstance(source, Path) else source.size()
    try:
        with pq.ParquetFile(source) as file:
            width = len(file.schema_arrow)
            if width > MAX_COLUMNS:
                raise DataError(too_many_columns(name, width))
            _refuse_large(file, name, packed)
            table = file.read()
        table.validate(full=True)  # a bit that flipped leaves text that is none, or a code without a category
        return table
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = "".join(filter(str.isprintable, (str(error).splitlines() or [type(error).__name__])[0]))
        raise DataError(f"{name} cannot be read as Parquet ({reason}); was it copied whole?") from error


def _refuse_large(file: pq.ParquetFile, name: str, packed: int) -> None:
    """Refuse by what the file says of itself: runs of equal cells take hardly any bytes until they are read."""
    about = file.metadata  # of a damaged file, only these figures can be asked for: for others, Arrow ends the process
    groups = sum(about.row_group(k).total_byte_size for k in range(about.num_row_groups))
    unpacked = max(CELL_BYTES * about.num_rows * about.num_columns, groups)
    if unpacked > most_unpacked(packed):
        raise refuse_bomb(name, packed, f"{about.num_rows:,} rows and at least {unpacked:,} bytes")


def _read_frame(frame: ArrowFrame, what: str) -> pa.Table:
    try:
        return pa.RecordBatchReader.from_stream(frame).read_all()
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        # Only the column's name is taken from Arrow's message: the rest may quote a private value.
        column = re.search(r"for column (.+?) with type", str(error))
        named = f"column {column.group(1)!r} of {what}" if column else f"a column of {what}"
        raise DataError(
            f"{named} cannot be read through Arrow: it holds values of mixed types or of a kind Arrow lacks; "
            f"make them all whole numbers, or all text"
        ) from None


def write_table(
    table: pa.Table, path: Path, style: CsvStyle | None, whole: Callable[[Path], None] | None = None
) -> None:
    """Write a table in the format that the file's name asks for; ``style`` is the source's CSV style.

    ``whole`` is called before the file gets its name: see `written_beside`.
    """
    suffix = check_output_suffix(path)
    if suffix in PARQUET_SUFFIXES:
        with written_beside(path, whole=whole) as file:
            _write_parquet(table, file, path)
        return
    blocks = render_csv(table, _style_for(suffix, style))
    with written_beside(path, whole=whole) as file:
        if suffix.endswith(".gz"):
            # No name and no time in the gzip: the same release gives the same bytes.
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                packed.writelines(blocks)
        else:
            file.writelines(blocks)


def _style_for(suffix: str, style: CsvStyle | None) -> CsvStyle:
    """The source's own style, but a .tsv file is split by tabs, and a .csv file is not."""
    style = style or CsvStyle(delimiter="\t" if suffix.startswith(".txt") else ",")
    if suffix.startswith(".tsv"):
        return replace(style, delimiter="\t")
    if suffix.startswith(".csv") and style.delimiter == "\t":
        return replace(style, delimiter=",")
    return style


def _write_parquet(table: pa.Table, file: Any, path: Path) -> None:
    try:
        pq.write_table(table, file)
    except pa.ArrowException as error:
        raise DataError(f"{path} cannot be written as Parquet: {error}") from error
