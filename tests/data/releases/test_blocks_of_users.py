"""Under a key, the releases of blocks of complete users are the release of the whole table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import attriguard as ag
from attriguard.data.blocks import complete_users
from attriguard.data.releases.changes import ReleaseSummary
from attriguard.data.releases.release import Release, align_items, join_releases, make_release, survey_data
from attriguard.data.releases.survey import Survey
from attriguard.data.tables.table import InputTable, read_table
from attriguard.errors import DataError, ParameterError

KEY = b"a secret of 16 b"
NUMBERS = [1, 2, 9, 10, 11, 100]
WORDS = ["1", "9", "10", "007", "b", "ab"]
# How a file may write one rating.
WRITTEN = {1: ["1", "1.0", "1.00"], 2: ["2", " 2", "2.0"], 3: ["3", "3.0"], 4: ["4"], 5: ["5", "5.0", "+5"]}


@st.composite
def grouped_tables(draw: st.DrawFn) -> pa.Table:
    """Typed tables grouped by user: ids are numbers or text, with and without ratings and other columns."""
    user_ids = draw(st.sampled_from([NUMBERS, WORDS]))
    item_ids = draw(st.sampled_from([NUMBERS, WORDS]))
    users = draw(st.permutations(user_ids))[: draw(st.integers(1, 6))]
    items = [draw(st.lists(st.sampled_from(item_ids), min_size=1, unique=True)) for _ in users]
    if draw(st.booleans()):
        items = [sorted(chosen) for chosen in items]
    pairs = [(user, item) for user, chosen in zip(users, items, strict=True) for item in chosen]
    columns = {"user": [user for user, _ in pairs], "item": [item for _, item in pairs]}
    if draw(st.booleans()):
        columns["rating"] = [draw(st.integers(1, 5)) for _ in pairs]
    if draw(st.booleans()):
        columns["when"] = list(range(len(pairs)))
    return pa.table(columns)


@st.composite
def csv_tables(draw: st.DrawFn) -> bytes:
    """The same as CSV files, with the blanks and the decimals that people write."""
    table = draw(grouped_tables())
    columns = {name: [str(cell) for cell in table.column(name).to_pylist()] for name in table.column_names}
    if "rating" in columns:
        even = draw(st.booleans())
        columns["rating"] = [c if even else draw(st.sampled_from(WRITTEN[int(c)])) for c in columns["rating"]]
    if draw(st.booleans()):
        columns["item"] = [draw(st.sampled_from(["", " "])) + cell for cell in columns["item"]]
    rows = zip(*columns.values(), strict=True)
    return "\n".join(",".join(row) for row in [tuple(columns), *rows]).encode() + b"\n"


def read(table: InputTable) -> ag.PublicData:
    return ag.read_ratings(table, scale=(1, 5, 1), like="rating" not in table.column_names)


def released_by(data: ag.PublicData, items: list[object], seed: int) -> csr_array:
    """Ratings that are kept, changed, removed and added; what happens to a user depends on that user alone."""
    X = align_items(data, items)[0].toarray()
    for u, user in enumerate(data.users.tolist()):
        rng = np.random.default_rng([seed, *str(user).encode()])
        if rng.random() < 0.2:
            continue  # a user without changes
        levels = rng.integers(0, data.scale.levels + 1, X.shape[1]) / data.scale.levels
        X[u] = np.where(rng.random(X.shape[1]) < 0.6, levels, X[u])
    return csr_array(X.astype(np.float32))


def release(table: InputTable, items: list[object], seed: int, survey: Survey) -> Release:
    data = read(table)
    return make_release(data, released_by(data, items, seed), items=items, key=KEY, survey=survey)


def releases(
    table: InputTable, items: list[object], seed: int, survey: Survey, blocks: Iterable[pa.Table]
) -> Iterator[Release]:
    """Block by block; each release gives the survey for the next."""
    for block in blocks:
        part = release(replace(table, table=block), items, seed, survey)
        survey = part.survey
        yield part


def assert_blocks_are_the_whole(table: InputTable, items: list[object], seed: int, size: int) -> None:
    survey = survey_data(read(table))
    whole = release(table, items, seed, survey)
    batches = table.table.to_batches(max_chunksize=size)
    blocks = complete_users(batches, "user", trim=table.csv is not None)
    joined = join_releases(releases(table, items, seed, survey, blocks))
    assert joined.table.schema.equals(whole.table.schema)
    assert joined.table.to_pylist() == whole.table.to_pylist()
    assert joined.summary == whole.summary
    assert joined.csv == whole.csv
    assert joined.types == whole.types


CATALOGUES = st.sampled_from([[*NUMBERS, 12, 2_000], [*reversed(WORDS), "2", "c"]])


@given(grouped_tables(), st.integers(0, 99), st.integers(1, 5), st.sampled_from(["pyarrow", "pandas", "polars"]))
def test_blocks_of_frames(table: pa.Table, seed: int, size: int, kind: str) -> None:
    items = [*NUMBERS, 12] if pa.types.is_integer(table.schema.field("item").type) else [*reversed(WORDS), "2", "c"]
    frame = {"pyarrow": table, "pandas": table.to_pandas(), "polars": pl.from_arrow(table)}[kind]
    assert_blocks_are_the_whole(read_table(frame), items, seed, size)


@given(csv_tables(), st.integers(0, 99), st.integers(1, 5), CATALOGUES)
def test_blocks_of_csv_files(tmp_path_factory, content: bytes, seed: int, size: int, items: list[object]) -> None:
    path: Path = tmp_path_factory.mktemp("csv") / "ratings.csv"
    path.write_bytes(content)
    assert_blocks_are_the_whole(read_table(path), items, seed, size)


def test_means_of_duplicates_are_written_as_the_user_writes() -> None:
    text = ["1.0", "3.0", "4.0", "2", "4", "1"]
    table = pa.table({"user": [1, 1, 1, 2, 2, 2], "item": [1, 1, 2, 1, 1, 2], "rating": text})
    parts = [table, table.slice(0, 3), table.slice(3)]
    sources = [ag.read_ratings(part, scale=(1, 5, 1), duplicates="mean").source.table for part in parts]
    assert [source.column("rating").to_pylist() for source in sources] == [
        ["1.0", "2.0", "4.0", "2", "3", "1"],
        ["1.0", "2.0", "4.0"],
        ["2", "3", "1"],
    ]


def test_half_stars_are_written_with_the_decimals_they_need_if_the_user_does_so() -> None:
    text = ["4.5", "5", "3.5", "2.5", "5.0", "1.0"]
    table = pa.table({"user": [1, 1, 2, 2, 3, 3], "item": [1, 2, 1, 2, 1, 2], "rating": text})
    data = ag.read_ratings(table, scale=(0.5, 5, 0.5))
    new = np.float32([[0.4, 0.7], [0.4, 0.5], [0.4, 0.7]])
    out = make_release(data, csr_array(new)).table
    assert out.column("rating").to_pylist() == ["2", "3.5", "2.0", "2.5", "2.0", "3.5"]


def test_a_key_decides_every_time_and_another_key_another() -> None:
    n = 60
    times = 1_600_000_000 + np.random.default_rng(0).integers(0, 10**7, 3 * n)
    table = pa.table({"user": np.repeat(np.arange(n), 3), "item": np.tile([5, 1, 3], n), "when": times})
    released = csr_array(np.ones((n, 5), dtype=np.float32))

    def rows(key: bytes | str, table: pa.Table = table, n: int = n) -> list[tuple[int, ...]]:
        data = ag.read_ratings(table)
        out = make_release(data, released[:n], items=[1, 2, 3, 4, 5], key=key).table
        return [tuple(row.values()) for row in out.to_pylist()]

    assert rows(KEY) == rows(KEY) == rows(KEY.decode())
    assert rows(KEY) != rows(b"another secret of mine")
    # A user who leaves changes nothing for the others.
    assert rows(KEY, table.slice(0, 3 * n - 3), n - 1) == [row for row in rows(KEY) if row[0] < n - 1]


def test_the_order_of_the_catalogue_makes_no_difference_under_a_key() -> None:
    table = pa.table({"user": ["a", "a", "b", "b", "b"], "item": ["5", "1", "3", "5", "1"]})
    data = ag.read_ratings(table)
    tables = [
        make_release(data, csr_array(np.ones((2, 6), dtype=np.float32)), items=items, key=KEY).table
        for items in (["1", "3", "5", "10", "20", "9"], ["9", "20", "10", "5", "3", "1"])
    ]
    assert tables[0].equals(tables[1])


def test_a_key_and_a_seed_at_once_are_refused() -> None:
    data = ag.read_ratings(pd.DataFrame({"user": [1, 2], "item": [1, 1]}))
    with pytest.raises(ParameterError, match="either a key or a random_state"):
        make_release(data, data.X, key=KEY, random_state=0)
    with pytest.raises(ParameterError, match="key must be bytes or text, got int"):
        make_release(data, data.X, key=7)


def test_joined_releases_are_written_as_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("user;item;rating\r\n1;x;4\r\n1;y;2\r\nb;x;5.0\r\n")
    table = read_table(path)
    blocks = [replace(table, table=block) for block in complete_users(table.table.to_batches(max_chunksize=2), 0)]
    parts = [make_release(data, data.X) for data in map(read, blocks)]
    assert [0 in part.types for part in parts] == [True, False]  # "1" alone may be a number
    joined = join_releases(parts)
    assert joined.summary == ReleaseSummary(kept=3, changed=0, removed=0, added=0)
    joined.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == path.read_bytes()
    joined.write(tmp_path / "out.parquet")
    back = ag.read_ratings(tmp_path / "out.parquet")
    assert back.source.table.to_pydict() == {"user": ["1", "1", "b"], "item": ["x", "y", "x"], "rating": [4, 2, 5]}
    with pytest.raises(DataError, match="at least one release"):
        join_releases([])
