"""Tables that people might have: most are nearly right, and wrong in one to three ways. A seed makes one case."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

# Every private value holds one of these, as text or as digits, and no message may.
TEXT_MARK, DIGIT_MARK = "Zqprivat", "7351"
Rows = list[list[str]]
Chance = np.random.Generator

RATINGS = (
    "NaN", "nan", "inf", "-inf", "Infinity", "1e308", "1e309", "-1e309", "1e-320", "9" * 4300, "-" + "9" * 4301, "",
    " ", "4,5", "５", "٣", "0x10", "1_000", "+5", "-0", "0", "True", "null", "NA", "five", "4.0000000001", "1e",
    "5\x00", "0." + "3" * 400, "\u2212" + "1", "1e5", "２.５",
)  # fmt: skip
IDS = (
    "", " ", "2024-01-01", "2024-01-01T10:00:00Z", "1e5", "007", "1.0", "-1", "null", "NA", "NaN",
    "9223372036854775808", "18446744073709551616",
    "9" * 4300, "\x1b[31mred", "\u202eabc", "\x00", "a\x00b", "x" * 70_000, "é", "e\u0301",
    "🦊", '"', "'", "=1+1", "a,b", "a;b", "a\tb", "a|b", "line\nbreak", "\ufeffu", "\u2028", "\x7f", "\\N", "0", "+1",
)  # fmt: skip
VALUES = (
    "",
    "NA",
    "unknown",
    " ",
    "-",
    "nan",
    "inf",
    "-inf",
    "1e309",
    "9" * 4300,
    "2024-02-30",
    "é",
    "\x00",
    "\x1b[2J",
)
NAMES = (
    "", " ", "user", "item", "rating", "userId", "movie_id", "stars", "city", "\x1b[31m", "a\nb", "\x00", "n" * 9_000,
    "a,b", '"', "user ", "USER", "\u202e", "timestamp", "f0", "__index_level_0__", "é", "\ufeffuser", "\r",
)  # fmt: skip
SUFFIXES = (".csv", ".csv", ".csv", ".tsv", ".txt", ".csv.gz", ".CSV", ".parquet", ".pq", ".dat", "")


@dataclass
class Draft:
    """A table on its way into a file: its header and rows, and how it will be written."""

    header: list[str]
    rows: Rows
    private: int | None = None  # the column of private values
    delimiter: str = ","
    newlines: tuple[str, ...] = ("\n",)
    quoting: int = csv.QUOTE_MINIMAL
    bom: bool = False
    final_newline: bool = True
    encoding: str = "utf-8"
    troubles: list[str] = field(default_factory=list)


@dataclass
class Case:
    """What is given to the package, and what was done to it."""

    ratings: Any
    attributes: Any
    options: dict[str, Any]
    troubles: list[str]


def pick(chance: Chance, choices: Any) -> Any:
    """One of a sequence, as it is."""
    return choices[int(chance.integers(len(choices)))]


# --- tables as they should be ---


def good_tables(chance: Chance) -> tuple[Draft, Draft]:
    """Ratings and attributes without a mistake."""
    n_users, n_items, m = int(chance.integers(8, 30)), int(chance.integers(3, 12)), int(chance.integers(2, 5))
    levels = pick(chance, ((1, 2, 3, 4, 5), (1, 2, 3, 4, 5), (0.5, 1, 1.5, 2, 2.5), (0, 10), (1,)))
    number = bool(chance.integers(2))
    user = [str(u) if number else f"u{u:02d}" for u in range(n_users)]
    wide = [f"{DIGIT_MARK}{k:04d}" if chance.integers(4) == 0 else f"{TEXT_MARK}{k}" for k in range(m)]
    value = [wide[int(k)] for k in chance.integers(m, size=n_users)]
    rows = []
    for u in range(n_users):
        for i in chance.permutation(n_items)[: int(chance.integers(1, min(n_items, 7) + 1))]:
            rows.append([user[u], str(i) if number else f"item {i}", f"{pick(chance, levels):g}"])
    ratings = Draft(["user", "item", "rating"], rows)
    city = dict(zip(user, value, strict=True))
    for name, cell in (
        ("timestamp", lambda k: str(1_700_000_000 + 60 * k)),
        ("note", lambda k: pick(chance, ("", "fine", 'so "so"', "a, b"))),
        ("city", lambda k: city[ratings.rows[k][0]]),
        ("id", lambda k: str(k)),
    ):
        if chance.integers(4) == 0:
            cells = [cell(k) for k in range(len(rows))]
            ratings.private = len(ratings.header) if name == "city" else ratings.private
            ratings.header.append(name)
            ratings.rows = rows = [[*row, cell] for row, cell in zip(rows, cells, strict=True)]
    attributes = Draft(["user", "city"], [[u, v] for u, v in zip(user, value, strict=True)], private=1)
    if chance.integers(3) == 0:
        attributes.header.append("age")
        attributes.rows = [[*row, f"{DIGIT_MARK}{chance.integers(10, 99)}"] for row in attributes.rows]
    if chance.integers(3) == 0:
        chance.shuffle(ratings.rows)
    return ratings, attributes


# --- mistakes in the cells, the header and the rows ---


def _some_rows(draft: Draft, chance: Chance) -> list[int]:
    n = len(draft.rows)
    return chance.permutation(n)[: int(pick(chance, (1, 1, 2, max(n // 4, 1), n)))].tolist()


def _cells(column: int, choices: tuple[str, ...]) -> Callable[[Draft, Chance], None]:
    def put(draft: Draft, chance: Chance) -> None:
        same = pick(chance, choices) if chance.integers(2) else None
        for k in _some_rows(draft, chance):
            if column < len(draft.rows[k]):
                draft.rows[k][column] = pick(chance, choices) if same is None else same

    return put


def _values(draft: Draft, chance: Chance) -> None:
    """Other private values: some are marks for nothing, numbers of every size, or long; all the rest hold the mark."""
    if draft.private is None:
        return
    other = (
        *VALUES, TEXT_MARK + "\x1b[1m", TEXT_MARK * 2_000, f"{TEXT_MARK}\nz", DIGIT_MARK * 1_100, f"-{DIGIT_MARK}.5",
        f"{DIGIT_MARK}e300", f"1e{DIGIT_MARK}", f"{DIGIT_MARK}-01-01", f'"{TEXT_MARK}', f"{TEXT_MARK}, x",
    )  # fmt: skip
    everybody = chance.integers(4) == 0
    for k in range(len(draft.rows)) if everybody else _some_rows(draft, chance):
        if draft.private < len(draft.rows[k]):
            unlike = f"{DIGIT_MARK}{chance.integers(10_000)}{pick(chance, ('', '.25', '.0'))}"
            draft.rows[k][draft.private] = unlike if everybody else pick(chance, other)


def _header(draft: Draft, chance: Chance) -> None:
    for k in range(len(draft.header)):
        if chance.integers(3) == 0:
            draft.header[k] = pick(chance, NAMES)


def _no_rows(draft: Draft, chance: Chance) -> None:
    draft.rows = draft.rows[: int(chance.integers(2))]


def _ragged(draft: Draft, chance: Chance) -> None:
    for k in _some_rows(draft, chance):
        draft.rows[k] = (
            draft.rows[k][:-1] if chance.integers(2) else [*draft.rows[k], pick(chance, ("", "x", TEXT_MARK))]
        )


def _again(draft: Draft, chance: Chance) -> None:
    for k in _some_rows(draft, chance):
        draft.rows.append(list(draft.rows[k]))


def _blank_lines(draft: Draft, chance: Chance) -> None:
    for k in _some_rows(draft, chance):
        draft.rows.insert(k, [])


def _missing_users(draft: Draft, chance: Chance) -> None:
    for k in sorted(_some_rows(draft, chance), reverse=True):
        del draft.rows[k]


def _columns(draft: Draft, chance: Chance) -> None:
    order = chance.permutation(len(draft.header)).tolist()
    if chance.integers(2):
        order = order[:-1] or order
    if chance.integers(6) == 0:
        order = order * int(pick(chance, (2, 80)))
    draft.header = [draft.header[k] for k in order]
    draft.rows = [[row[k] for k in order if k < len(row)] for row in draft.rows]
    draft.private = order.index(draft.private) if draft.private in order else None


def _long_line(draft: Draft, chance: Chance) -> None:
    if draft.rows and draft.rows[0]:
        row = pick(chance, draft.rows) or draft.rows[0]
        row[int(chance.integers(len(row)))] = pick(chance, ("y", "1", '"', "\n", ",")) * 1_100_000


# --- mistakes in the style ---


def _delimiter(draft: Draft, chance: Chance) -> None:
    draft.delimiter = pick(chance, (";", "\t", "|", " ", ":"))


def _newlines(draft: Draft, chance: Chance) -> None:
    draft.newlines = pick(chance, (("\r\n",), ("\r",), ("\n", "\r\n"), ("\r", "\n"), ("\n", "\n\n"), ("\u2028",)))


def _style(draft: Draft, chance: Chance) -> None:
    draft.bom, draft.final_newline = bool(chance.integers(2)), bool(chance.integers(2))
    draft.quoting = pick(chance, (csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC, csv.QUOTE_NONE, csv.QUOTE_MINIMAL))


def _encoding(draft: Draft, chance: Chance) -> None:
    draft.encoding = pick(chance, ("utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-7", "utf-8-sig"))
    if draft.rows and draft.rows[0]:
        draft.rows[0][0] += "é"


TABLE_TROUBLES: dict[str, Callable[[Draft, Chance], None]] = {
    "ids of users": _cells(0, IDS),
    "ids of items": _cells(1, IDS),
    "ratings": _cells(2, RATINGS),
    "ids as ratings": _cells(2, IDS),
    "private values": _values,
    "header": _header,
    "no rows": _no_rows,
    "ragged": _ragged,
    "rows again": _again,
    "blank lines": _blank_lines,
    "rows gone": _missing_users,
    "columns": _columns,
    "long line": _long_line,
    "delimiter": _delimiter,
    "newlines": _newlines,
    "style": _style,
    "encoding": _encoding,
}


def render(draft: Draft, chance: Chance) -> bytes:
    """The text of a CSV file."""
    parts = []
    for row in (draft.header, *draft.rows):
        line = io.StringIO()
        try:
            csv.writer(line, delimiter=draft.delimiter, quoting=draft.quoting, lineterminator="").writerow(row)
            parts.append(line.getvalue())
        except csv.Error:  # without quotes, some cells cannot be written: they stand as they are
            parts.append(draft.delimiter.join(row))
        parts.append(pick(chance, draft.newlines))
    text = "".join(parts if draft.final_newline else parts[:-1])
    return (b"\xef\xbb\xbf" if draft.bom else b"") + text.encode(draft.encoding, errors="replace")


# --- mistakes in the bytes ---


def _flip(content: bytes, chance: Chance) -> bytes:
    damaged = bytearray(content)
    for _ in range(int(pick(chance, (1, 1, 3, 20)))):
        if damaged:
            damaged[int(chance.integers(len(damaged)))] ^= 1 << int(chance.integers(8))
    return bytes(damaged)


def _insert(content: bytes, chance: Chance) -> bytes:
    place = int(chance.integers(len(content) + 1))
    dirt = pick(
        chance, (b"\0", b"\0" * 5_000, b"\xff", b"\xed\xa0\x80", b'"', b"\r", b"\n\n\n", b"\x1a", b"\xef\xbb\xbf")
    )
    return content[:place] + dirt + content[place:]


def _zip(content: bytes, chance: Chance) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as bundle:
        bundle.writestr("ratings.csv", content)
    return file.getvalue()


BYTE_TROUBLES: dict[str, Callable[[bytes, Chance], bytes]] = {
    "flipped": _flip,
    "inserted": _insert,
    "cut": lambda content, chance: content[: int(chance.integers(len(content) + 1))],
    "empty": lambda content, chance: pick(chance, (b"", b"\n", b"\xef\xbb\xbf", b" ", b"\0", b",\n,\n", b'"')),
    "zip": _zip,
    "gzip": lambda content, chance: gzip.compress(content, mtime=0),
    "gzip twice": lambda content, chance: gzip.compress(gzip.compress(content, mtime=0), mtime=0),
    "gzip cut": lambda content, chance: gzip.compress(content, mtime=0)[: int(chance.integers(4, 60))],
    "gzip flipped": lambda content, chance: _flip(gzip.compress(content, mtime=0), chance),
    "garbage": lambda content, chance: pick(chance, (b"\x1f\x8b", b"PAR1", b"PK\x03\x04", b"")) + chance.bytes(300),
}


# --- Arrow: every type a frame or a Parquet file can have ---


def _arrow_types() -> list[pa.DataType]:
    text, number = pa.string(), pa.int32()
    plain = [
        pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float16(),
        pa.float32(), pa.float64(), pa.decimal32(9, 2), pa.decimal64(18, 2), pa.decimal128(20, 3), pa.decimal256(50, 3),
        pa.bool_(), pa.date32(), pa.date64(), pa.time32("s"), pa.time64("us"), pa.timestamp("s"), pa.timestamp("ns"),
        pa.timestamp("ms", "Europe/Berlin"), pa.duration("s"), pa.month_day_nano_interval(), pa.string(),
        pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(4), pa.null(),
    ]  # fmt: skip
    nested = [
        pa.list_(number), pa.large_list(text), pa.list_(number, 2), pa.list_view(number), pa.large_list_view(text),
        pa.struct([("a", number), ("b", text)]), pa.map_(text, number), pa.dictionary(pa.int8(), text),
        pa.dictionary(pa.int32(), pa.int64()), pa.dictionary(pa.uint8(), pa.float64()),
        pa.run_end_encoded(number, text), pa.run_end_encoded(pa.int16(), pa.int64()),
        pa.dense_union([pa.field("a", number), pa.field("b", text)]),
        pa.sparse_union([pa.field("a", number), pa.field("b", text)]), pa.struct([]), pa.list_(pa.list_(number)),
    ]  # fmt: skip
    return plain + nested + [make() for make in (getattr(pa, "uuid", pa.null), getattr(pa, "bool8", pa.null))]


ARROW_TYPES = _arrow_types()


def as_arrow(cells: list[str], kind: pa.DataType, chance: Chance) -> pa.Array:
    """Cells as another type: by Arrow's own cast, or as values of that type that stand for the cells."""
    try:
        return pa.array(cells, pa.string()).cast(kind)
    except (pa.ArrowException, NotImplementedError):
        codes = np.unique(np.array(cells, dtype=object).astype(str), return_inverse=True)[1].tolist()
        return _of_codes(codes, cells, kind)


def _of_codes(codes: list[int], cells: list[str], kind: pa.DataType) -> pa.Array:
    if pa.types.is_union(kind):
        parts = [pa.array(codes, pa.int32()), pa.array(cells, pa.string())]
        which = pa.array([k % 2 for k in range(len(codes))], pa.int8())
        if kind.mode == "dense":
            return pa.UnionArray.from_dense(which, pa.array(range(len(codes)), pa.int32()), parts)
        return pa.UnionArray.from_sparse(which, parts)
    if pa.types.is_run_end_encoded(kind):
        ends = pa.array(range(1, len(codes) + 1), kind.run_end_type)
        values = cells if pa.types.is_string(kind.value_type) else codes
        return pa.RunEndEncodedArray.from_arrays(ends, pa.array(values, kind.value_type))
    if isinstance(kind, pa.BaseExtensionType):
        size = getattr(kind.storage_type, "byte_width", 1)
        storage = [code % 2 if size == 1 else code.to_bytes(size, "big") for code in codes]
        return pa.ExtensionArray.from_storage(kind, pa.array(storage, kind.storage_type))
    for values in (
        codes, [code % 2 == 0 for code in codes], [[code, code] for code in codes], [[cell] for cell in cells],
        [{"a": code, "b": cell} for code, cell in zip(codes, cells, strict=True)], [[(c, 1)] for c in cells],
        [code.to_bytes(4, "big") for code in codes], [(code, 0, 0) for code in codes], [[[code]] for code in codes],
    ):  # fmt: skip
        try:
            return pa.array(values, kind)
        except (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError):
            continue
    return pa.nulls(len(codes), kind)


def arrow_table(draft: Draft, chance: Chance) -> pa.Table:
    """The draft as an Arrow table, whose columns may have any type, with nulls, and in several chunks."""
    width = len(draft.header)
    rows = [row for row in draft.rows if len(row) == width]
    columns = []
    for k in range(width):
        cells = [row[k] for row in rows]
        kind = pick(chance, ARROW_TYPES) if chance.integers(6) == 0 else None
        try:
            column = pa.array([float(cell) for cell in cells]) if kind is None and k == 2 else pa.array(cells)
        except ValueError:
            column = pa.array(cells)
        if kind is not None:
            column = as_arrow(cells, kind, chance)
            draft.troubles.append(f"column {k} as {kind}")
        if chance.integers(8) == 0 and len(rows):
            column = _with_nulls(column, chance)
        columns.append(column)
    names = [name.encode("utf-8", "replace").decode() for name in draft.header]
    table = pa.Table.from_arrays(columns, names=names)
    if chance.integers(3) == 0 and len(rows) > 1:
        half = len(rows) // 2
        table = pa.concat_tables([table.slice(0, half), table.slice(half)])
    return table


def _with_nulls(column: pa.Array, chance: Chance) -> pa.Array:
    keep = chance.random(len(column)) < pick(chance, (0.0, 0.5, 0.95))
    index = pa.array([k if kept else None for k, kept in enumerate(keep.tolist())], pa.int64())
    try:
        return column.take(index)
    except (pa.ArrowException, NotImplementedError):
        return column


def frame(table: pa.Table, chance: Chance) -> Any:
    """The table as Arrow, pandas or polars; where one of these cannot hold it, as Arrow."""
    way = pick(chance, ("arrow", "arrow", "pandas", "mixed", "polars", "reader"))
    try:
        if way == "polars":
            import polars

            return polars.from_arrow(table)
        if way in ("pandas", "mixed"):
            found = table.to_pandas()
            if way == "mixed" and len(found) and found.shape[1] == len(set(found.columns)):
                name = pick(chance, list(found.columns))
                odd = (None, 3, 2.5, "x", b"y", TEXT_MARK, (1, 2), {"a": 1}, float("nan"), 10**30)
                found[name] = [value if chance.integers(3) else pick(chance, odd) for value in found[name].tolist()]
            return found
    except KeyboardInterrupt:
        raise
    except BaseException:  # polars panics with one that is no Exception
        return table
    return table.to_reader() if way == "reader" else table


# --- a whole case ---


def _options(chance: Chance) -> dict[str, Any]:
    choices: dict[str, tuple[float, tuple[Any, ...]]] = {
        "duplicates": (0.4, ("last", "mean", "error")),
        "unmatched": (0.6, ("keep", "keep", "drop", "error")),
        "scale": (0.05, ((1, 5, 1), (0, 1, 1), (0.5, 5, 0.5), (1, 1e9, 1))),
        "like": (0.1, (True,)),
        "bins": (0.1, (3, [10, 20], "none", [73_000_000, 74_000_000])),
        "min_users": (0.1, (1, 2, 50)),
        "rare": (0.1, ("drop", "merge")),
        "missing": (0.1, ((), ("x",))),
        "rating": (0.03, ("timestamp", "rating", "city")),
        "item": (0.03, ("note", "item")),
    }
    options = {name: pick(chance, values) for name, (share, values) in choices.items() if chance.random() < share}
    options.setdefault("min_users", 1)
    return options | {"attribute": ["city", "age"] if chance.integers(30) == 0 else "city"}


def _given(draft: Draft, name: str, folder: Path, chance: Chance) -> Any:
    """A file or a frame of a draft."""
    if chance.integers(4) == 0:
        table = arrow_table(draft, chance)
        if chance.integers(2):
            return frame(table, chance)
        try:
            path = folder / f"{name}.parquet"
            pq.write_table(table, path, compression=pick(chance, ("snappy", "none", "zstd", "gzip")))
        except (pa.ArrowException, NotImplementedError, OSError):
            path.unlink(missing_ok=True)
            return table
        if chance.integers(6) == 0:
            draft.troubles.append("flipped Parquet")
            path.write_bytes(_flip(path.read_bytes(), chance))
        return path
    content = render(draft, chance)
    if chance.integers(9) == 0:
        trouble = pick(chance, sorted(BYTE_TROUBLES))
        draft.troubles.append(trouble)
        content = BYTE_TROUBLES[trouble](content, chance)
    suffix = pick(chance, SUFFIXES) if chance.integers(9) == 0 else ".csv"
    path = folder / (name + suffix)
    path.write_bytes(gzip.compress(content, mtime=0) if suffix == ".csv.gz" and chance.integers(3) else content)
    return path


def make_case(chance: Chance, folder: Path) -> Case:
    """Two tables with their files in a folder, and options to read them with."""
    drafts = good_tables(chance)
    for _ in range(int(pick(chance, (0, 0, 1, 1, 1, 2, 3)))):
        draft = drafts[int(chance.integers(3)) // 2]
        trouble = pick(chance, sorted(TABLE_TROUBLES))
        TABLE_TROUBLES[trouble](draft, chance)
        draft.troubles.append(trouble)
    ratings, attributes = (_given(draft, name, folder, chance) for draft, name in zip(drafts, ("r", "a"), strict=True))
    options = _options(chance)
    return Case(ratings, attributes, options, [*drafts[0].troubles, *(f"attributes: {t}" for t in drafts[1].troubles)])
