"""Any table either comes back exactly as it went in, or is refused with a DataError; nothing else happens."""

from __future__ import annotations

import csv
import gzip
import io
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import attriguard as ag
from attriguard.data.releases.release import release_table
from attriguard.errors import DataError

INTEGERS = st.integers(-3, 12)
TEXTS = st.one_of(st.sampled_from(["a", "b", "007", "7", " 7", "", "é", 'q"', "c,d"]), st.text(max_size=4))
FLOATS = st.sampled_from([1.0, 2.0, 0.5, float("nan"), float("inf"), 1e300])
IDS = (INTEGERS, TEXTS.filter(bool), TEXTS, st.one_of(st.none(), INTEGERS), FLOATS, st.booleans())
RATINGS = (st.integers(1, 5), st.sampled_from(["1", "2", "4.0", "+5", "1e0", "x"]), FLOATS, INTEGERS, TEXTS)
CELLS = {
    "user": IDS[:2] * 3 + IDS,
    "item": IDS[:2] * 3 + IDS,
    "rating": RATINGS[:2] * 2 + RATINGS,
    "when": (st.one_of(st.none(), INTEGERS), st.booleans(), st.dates(), st.lists(INTEGERS, max_size=2)),
    "note": (st.one_of(st.none(), TEXTS),),
    "": (INTEGERS, FLOATS),
    "what is this": (TEXTS,),
}
READ_OPTIONS = st.fixed_dictionaries(
    {"duplicates": st.sampled_from(["error", "last", "mean"]), "like": st.booleans()},
    optional={"scale": st.just((1, 5, 1))},
)


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Tables of which many can be read, and many cannot for one reason or another."""
    names = draw(st.permutations(["user", "item", *draw(st.lists(st.sampled_from(sorted(CELLS)), max_size=3))]))
    rows = draw(st.integers(0, 6))
    columns = [
        pa.array(draw(st.lists(draw(st.sampled_from(CELLS[name])), min_size=rows, max_size=rows))) for name in names
    ]
    return pa.Table.from_arrays(columns, names=names)


def identical(one: pa.Table, other: pa.Table) -> bool:
    """Equal down to the type and the last bit; NaN is equal to itself."""
    return one.schema.equals(other.schema) and repr(one.to_pylist()) == repr(other.to_pylist())


@given(tables(), READ_OPTIONS)
def test_any_arrow_table(table: pa.Table, options: dict[str, object]) -> None:
    with suppress(DataError):
        data = ag.read_ratings(table, **options)
        same = release_table(data, data.X)
        if data.source.rows.size == table.num_rows:
            assert identical(same, table)
        else:
            assert options["duplicates"] != "error"
            assert same.num_rows == data.source.rows.size


@st.composite
def good_tables(draw: st.DrawFn) -> pa.Table:
    """Tables that must be read."""
    ids = st.sampled_from([INTEGERS, TEXTS.map(str.strip).filter(bool)])
    users, items = draw(ids), draw(ids)
    pairs = draw(st.lists(st.tuples(users, items), min_size=1, max_size=12, unique=True))
    columns = {
        "when": [draw(st.one_of(st.none(), INTEGERS)) for _ in pairs],
        "item": [item for _, item in pairs],
        "rating": [draw(st.integers(1, 5)) for _ in pairs],
        "user": [user for user, _ in pairs],
    }
    if draw(st.booleans()):
        del columns["rating"]
    return pa.table(columns)


def release_of(data: ag.PublicData, seed: int) -> csr_array:
    """Some other ratings on the scale."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, data.scale.levels + 1, data.X.shape) * (rng.random(data.X.shape) < 0.4)
    keep = rng.random(data.X.shape) < 0.5
    return csr_array(np.where(keep, data.X.toarray(), (levels / data.scale.levels).astype(np.float32)))


@given(good_tables(), st.integers(0, 99), st.sampled_from(["pyarrow", "pandas", "polars", "out.csv", "out.parquet"]))
def test_a_release_is_read_back_as_it_was_released(tmp_path_factory, table: pa.Table, seed: int, way: str) -> None:
    frame = table
    if way == "pandas":
        frame = table.to_pandas()
    elif way == "polars":
        frame = pl.from_arrow(table)
    scale = (1, 5, 1) if "rating" in table.column_names else None
    data = ag.read_ratings(frame, scale=scale)
    released = release_of(data, seed)
    if released.nnz == 0:
        return
    out = release_table(data, released)
    assert out.schema.types == data.source.table.schema.types
    if "." in way:
        out = tmp_path_factory.mktemp("out") / way
        ag.write_release(data, released, out)
    back = ag.read_ratings(out, scale=scale)
    # Text that a CSV cannot hold apart (blanks around it, or only digits) may come back as another id.
    if not way.endswith("csv"):
        there = back.X.tocoo()
        expected = released.toarray()
        for u, i, value in zip(*there.coords, there.data, strict=True):
            row = data.users.tolist().index(back.users[u])
            column = data.items.tolist().index(back.items[i])
            assert expected[row, column] == value
        assert there.nnz == released.nnz


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_frames_come_back(kind) -> None:
    frame = kind({"user": ["b", "a"], "item": [2, 1], "rating": [4, 5], "note": ["x", None]})
    data = ag.read_ratings(frame)
    table = release_table(data, data.X)
    back = table.to_pandas() if kind is pd.DataFrame else pl.from_arrow(table)
    assert back.equals(frame)


CELL_TEXT = st.text(st.sampled_from("ab7,;\t|\"'\n é0.-"), max_size=5)
ID_TEXT = st.one_of(CELL_TEXT, st.integers(0, 99).map(str))


@given(
    st.lists(st.tuples(ID_TEXT, ID_TEXT, st.sampled_from(["1", "2.0", " 3", "4"]), CELL_TEXT), max_size=8),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_any_csv_comes_back_field_by_field(
    tmp_path_factory, rows: list[tuple[str, ...]], delimiter: str, newline: str, quoting: int
) -> None:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=newline, quoting=quoting)
    writer.writerows([("user", "item", "rating", "note, if any"), *rows])
    folder = tmp_path_factory.mktemp("csv")
    (folder / "in.txt").write_bytes(text.getvalue().encode())
    with suppress(DataError):
        data = ag.read_ratings(folder / "in.txt")
        ag.write_release(data, data.X, folder / "out.txt")
        back = (folder / "out.txt").read_bytes()
        given_rows = list(csv.reader(io.StringIO(text.getvalue(), newline=""), delimiter=delimiter))
        assert list(csv.reader(io.StringIO(back.decode(), newline=""), delimiter=delimiter)) == given_rows
        assert back == text.getvalue().encode()


@given(st.binary(max_size=200), st.sampled_from(["x.csv", "x.csv.gz", "x.tsv", "x.txt", "x.parquet"]), st.booleans())
def test_random_bytes_never_crash_a_reader(tmp_path_factory, content: bytes, name: str, packed: bool) -> None:
    path = tmp_path_factory.mktemp("bytes") / name
    path.write_bytes(gzip.compress(content) if packed else content)
    with suppress(DataError):
        ag.read_ratings(path)
    with suppress(DataError):
        ag.read_ratings(pa.table({"user": [1], "item": [1]}), attributes=path)


TABLE = pa.table({"user": ["a", "b", "c"] * 9, "item": list(range(27)), "rating": [1, 2, 3] * 9})


def _parquet() -> bytes:
    file = io.BytesIO()
    pq.write_table(TABLE, file)
    return file.getvalue()


def _csv() -> bytes:
    return b"user,item,rating\n" + b"".join(b"u%d,%d,%d\n" % (k % 3, k, k % 5 + 1) for k in range(27))


WHOLE = {"x.parquet": _parquet(), "x.csv": _csv(), "x.csv.gz": gzip.compress(_csv(), mtime=0)}


@given(st.sampled_from(sorted(WHOLE)), st.integers(0, 4000), st.binary(max_size=4), st.booleans())
def test_damaged_files_never_crash_a_reader(tmp_path_factory, name: str, place: int, dirt: bytes, cut: bool) -> None:
    content = WHOLE[name]
    place %= len(content)
    damaged = content[:place] + dirt + (b"" if cut else content[place + len(dirt) :])
    path: Path = tmp_path_factory.mktemp("damaged") / name
    path.write_bytes(damaged)
    with suppress(DataError):
        data = ag.read_ratings(path, duplicates="last")
        ag.write_release(data, data.X, path)
