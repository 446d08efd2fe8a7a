"""CSV as text: every field is read as it stands, so that a table can be given back letter by letter."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from attriguard.data.tables.arrays import plain_array
from attriguard.errors import DataError

DELIMITERS = (",", ";", "\t", "|")
# A long table has a handful of columns; more than this is a matrix with one column an item.
MAX_COLUMNS = 200
# How much of a file is looked at to learn which columns are quoted although they need no quotes.
SAMPLE_BYTES = 1 << 15
# Rows turned to text at a time.
BLOCK_ROWS = 250_000

_QUOTE = pa.scalar('"', pa.large_string())
_NOTHING = pa.scalar("", pa.large_string())


@dataclass(frozen=True, slots=True)
class CsvStyle:
    """How a CSV file is written, so that it can be written in the same way again."""

    delimiter: str = ","
    newline: str = "\n"
    bom: bool = False
    final_newline: bool = True
    quoted_header: bool = False
    quoted: frozenset[int] = field(default=frozenset())


def parse_csv(content: bytes, name: str) -> tuple[pa.Table, CsvStyle, bool]:
    """The table with every field as text, the file's style, and whether row k is line k + 1 of the file."""
    text, bom = _without_bom(content, name)
    if not text or text.isspace():
        raise DataError(f"{name} is empty; a header line and at least one row were expected")
    end = re.search(rb"\r\n|\n|\r", text)
    newline = end.group().decode() if end else "\n"
    delimiter = _sniff_delimiter(text[: end.start()] if end else text, name)
    cells = read_cells(text, delimiter, name)
    header = [column[0].as_py() for column in cells.columns]
    table = cells.slice(1).rename_columns(header)
    has_quotes = b'"' in text
    quoted_header, quoted = False, frozenset[int]()
    if has_quotes:
        quoted_header, quoted = _unneeded_quotes(text, delimiter)
    final_newline = text.endswith((b"\n", b"\r"))
    style = CsvStyle(delimiter, newline, bom, final_newline, quoted_header, quoted)
    lines = text.count(newline.encode()) + (not final_newline)
    return table, style, not has_quotes and lines == cells.num_rows


def _without_bom(content: bytes, name: str) -> tuple[bytes, bool]:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(f"{name} is UTF-16 text; save it as UTF-8 (in a spreadsheet: 'CSV UTF-8')")
    if content.startswith(b"PK\x03\x04"):
        raise DataError(f"{name} is a zip file or a spreadsheet, not CSV; unpack it, or save it as CSV UTF-8")
    if content.startswith(b"PAR1"):
        raise DataError(f"{name} is a Parquet file; name it .parquet")
    bom = content.startswith(codecs.BOM_UTF8)
    return (content[len(codecs.BOM_UTF8) :], True) if bom else (content, False)


def _sniff_delimiter(line: bytes, name: str) -> str:
    """The delimiter that occurs most often in the header line."""
    bare = re.sub(rb'"[^"]*"', b"", line)
    counts = [bare.count(delimiter.encode()) for delimiter in DELIMITERS]
    most = max(counts)
    if most == 0:
        if re.match(rb"\d+:[\d.]+(\s|$)", line):
            raise DataError(f"{name} looks like the authors' format: read its folder with read_authors_format")
        if b"::" in line:
            raise DataError(f"{name} looks like MovieLens 1M: read its folder with read_movielens")
    if most >= MAX_COLUMNS:
        raise DataError(too_many_columns(name, most + 1))
    return DELIMITERS[counts.index(most)]


def too_many_columns(name: str, count: int) -> str:
    """The error line for a matrix with one column an item, where a long table was expected."""
    return (
        f"{name} has {count:,} columns; a long table was expected, one row a rating (user, item, rating), "
        f"not one column an item: melt or unpivot the matrix first"
    )


def read_cells(text: bytes, delimiter: str, name: str, *, quotes: bool = True) -> pa.Table:
    """All fields of all lines as text; a header is row 0, so column names may repeat."""
    names = [f"f{k}" for k in range(MAX_COLUMNS)]
    try:
        return pa.csv.read_csv(
            pa.BufferReader(text),
            # Only with one thread does Arrow say in an error which row is wrong.
            read_options=pa.csv.ReadOptions(autogenerate_column_names=True, use_threads=False),
            parse_options=pa.csv.ParseOptions(
                delimiter=delimiter,
                quote_char='"' if quotes else False,
                newlines_in_values=quotes and b'"' in text,
            ),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowException as error:
        # Arrow's own message quotes the row, which may hold a private value: it is not passed on.
        raise DataError(_what_is_wrong(text, str(error), name)) from None


def _what_is_wrong(text: bytes, message: str, name: str) -> str:
    ragged = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", message)
    if ragged:
        line, expected, found = ragged.groups()
        return (
            f"{name} has {found} fields in line {line}, but {expected} in its first line; is the file cut, or "
            f"does a field without double quotes hold the delimiter?"
        )
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        return f"{name} is not UTF-8 text (line {line}); convert it, for example with: iconv -f latin1 -t utf-8"
    return f"{name} cannot be read as CSV; look for a double quote that is never closed"


def _unneeded_quotes(text: bytes, delimiter: str) -> tuple[bool, frozenset[int]]:
    """Whether the header is in quotes that it does not need, and which columns are (some programs quote all text)."""
    mark = re.escape(delimiter)
    cell_and_end = re.compile(rf'("(?:[^"]|"")*"|[^\r\n{mark}]*)({mark}|\r\n|\n|\r|\Z)')
    quoted_header, quoted = False, set()
    row = column = 0
    for cell, end in cell_and_end.findall(text[:SAMPLE_BYTES].decode("utf-8", errors="ignore")):
        if len(cell) > 1 and cell[0] == cell[-1] == '"' and not re.search(rf'[\r\n"{mark}]', cell[1:-1]):
            if row == 0:
                quoted_header = True
            else:
                quoted.add(column)
        row, column = (row, column + 1) if end == delimiter else (row + 1, 0)
    return quoted_header, frozenset(quoted)


def render_csv(table: pa.Table, style: CsvStyle) -> Iterator[bytes]:
    """The table as the bytes of a CSV file, block by block; a null is an empty field."""
    names = pa.table([pa.array([name], pa.string()) for name in table.column_names], names=table.column_names)
    everything = frozenset(range(table.num_columns))
    header = _render_block(names, style, everything if style.quoted_header else frozenset())
    if style.bom:
        yield codecs.BOM_UTF8
    yield header if table.num_rows or style.final_newline else header.removesuffix(style.newline.encode())
    for start in range(0, table.num_rows, BLOCK_ROWS):
        block = _render_block(table.slice(start, BLOCK_ROWS), style, style.quoted)
        last = start + BLOCK_ROWS >= table.num_rows
        yield block.removesuffix(style.newline.encode()) if last and not style.final_newline else block


def _render_block(table: pa.Table, style: CsvStyle, quoted: frozenset[int]) -> bytes:
    columns = [
        _render_column(table.column(k), table.column_names[k], style, always=k in quoted)
        for k in range(table.num_columns)
    ]
    lines = pc.binary_join_element_wise(*columns, pa.scalar(style.delimiter, pa.large_string()))
    newline = pa.scalar(style.newline, pa.large_string())
    ended = pc.binary_join_element_wise(lines, newline, _NOTHING)
    # The bytes of a text column lie end to end in one buffer, so that this buffer is the content of the file.
    if len(ended) == 0:
        return b""
    first, last = ended.offset, ended.offset + len(ended)
    offsets = memoryview(ended.buffers()[1]).cast("q")
    return ended.buffers()[2].to_pybytes()[offsets[first] : offsets[last]]


def _render_column(column: pa.ChunkedArray, name: str, style: CsvStyle, *, always: bool) -> pa.Array:
    try:
        text = plain_array(column).cast(pa.large_string())
    except pa.ArrowException as error:
        raise DataError(
            f"column {name!r} holds {column.type}, which CSV cannot hold; write a .parquet file, or drop the column"
        ) from error
    need = pc.is_valid(text) if always else pc.match_substring_regex(text, f'[\r\n"{style.delimiter}]')
    if pc.any(need).as_py():
        doubled = pc.replace_substring(text, '"', '""')
        text = pc.if_else(need, pc.binary_join_element_wise(_QUOTE, doubled, _QUOTE, _NOTHING), text)
    return text.fill_null("")
