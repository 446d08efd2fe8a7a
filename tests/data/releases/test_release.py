from __future__ import annotations

import os
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array

import attriguard as ag
from attriguard.data.releases.changes import ReleaseSummary
from attriguard.data.releases.release import align_items, make_release, release_table
from attriguard.errors import DataError, ParameterError

CSV = """when,user,item,rating,note
3,bob,x,5,"hi, there"
1,alice,y,1,
2,alice,x,4,ok
4,bob,z,2,
"""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ag.PublicData:
    monkeypatch.chdir(tmp_path)
    Path("r.csv").write_text(CSV)
    return ag.read_ratings("r.csv", scale=(1, 5, 1))


def changed(data: ag.PublicData, **entries: float) -> csr_array:
    """The data's X with entries like alice_x=0.2."""
    dense = data.X.toarray()
    for name, value in entries.items():
        user, item = name.split("_")
        dense[data.users.tolist().index(user), data.items.tolist().index(item)] = value
    return csr_array(dense)


def test_nothing_changed_gives_the_same_bytes(data: ag.PublicData) -> None:
    summary = ag.write_release(data, data.X, "out.csv")
    assert Path("out.csv").read_text() == CSV
    assert summary == ReleaseSummary(kept=4, changed=0, removed=0, added=0)
    assert sorted(os.listdir()) == ["out.csv", "r.csv"]


def test_changed_removed_and_added_rows(data: ag.PublicData) -> None:
    released = changed(data, bob_x=0.2, alice_y=0.0, alice_z=0.6, bob_y=1.0)
    summary = ag.write_release(data, released, "out.csv")
    assert summary == ReleaseSummary(kept=2, changed=1, removed=1, added=2)
    head, *rows = Path("out.csv").read_text().splitlines()
    assert head == "when,user,item,rating,note"
    # The row ids, which followed no order, are consecutive again; comments stay empty in new rows.
    assert sorted(row.split(",", 1)[0] for row in rows) == ["1", "2", "3", "4", "5"]
    cut = [row.split(",", 1)[1] for row in rows]
    assert cut == ["alice,x,4,ok", "alice,z,3,", 'bob,x,1,"hi, there"', "bob,y,5,", "bob,z,2,"]
    assert make_release(data, released).telltale == ("note",)


@pytest.mark.parametrize(
    ("users", "items", "note"),
    [
        (["b", "a", "a", "b"], ["y", "x", "z", "x"], "no column tells why the table's rows stand as they do"),
        (["b", "b", "a", "a"], ["y", "x", "z", "x"], "the order of rows with the same user; they are sorted by item"),
        (["b", "b", "a", "a"], ["x", "y", "x", "z"], ""),
    ],
)
def test_rows_without_an_order_are_sorted_where_rows_come(users: list[str], items: list[str], note: str) -> None:
    table = pa.table({"user": users, "item": items})
    data = ag.read_ratings(table)
    release = make_release(data, changed(data, b_z=1.0))
    names = ["".join(row.values()) for row in release.table.to_pylist()]
    by_user = {"a": ["ax", "az"], "b": ["bx", "by", "bz"]}
    first, second = ("b", "a") if users[1] == "b" else ("a", "b")
    assert names == by_user[first] + by_user[second]
    assert note in release.order_note
    assert bool(note) == bool(release.order_note)
    # Without a new row there is nothing to hide, and every row stands where it stood.
    gone = make_release(data, changed(data, b_x=0.0))
    assert gone.table.equals(table.filter([pair != ("b", "x") for pair in zip(users, items, strict=True)]))
    assert gone.order_note == ""


def test_the_order_can_be_chosen() -> None:
    table = pa.table({"user": np.repeat(np.arange(50), 8), "item": np.tile(np.arange(8)[::-1], 50)})
    data = ag.read_ratings(table)
    released = csr_array(np.ones((50, 9), dtype=np.float32))

    def pairs(**options: object) -> list[int]:
        out = make_release(data, released, items=np.arange(9), **options).table
        return (out["user"].to_numpy() * 9 + out["item"].to_numpy()).tolist()

    assert pairs(order="sorted") == list(range(450))
    assert pairs() == [u * 9 + i for u in range(50) for i in range(8, -1, -1)]
    one, same, other = (
        pairs(order="shuffled", key=key) for key in (b"a secret of 16 b", b"a secret of 16 b", b"another of 16 bytes")
    )
    assert one == same != other
    assert sorted(one) == sorted(other) == list(range(450))
    # No row is more likely to stand in the first half than another: neither new ones nor those of the first users.
    places = np.array([np.argsort(pairs(order="shuffled", random_state=k)) for k in range(60)]) < 225
    assert places[:, np.arange(450) % 9 == 8].mean() == pytest.approx(0.5, abs=0.03)
    assert places[:, :225].mean() == pytest.approx(0.5, abs=0.03)
    with pytest.raises(ParameterError, match="order must be one of keep, sorted, shuffled, got 'any'"):
        pairs(order="any")


def test_a_changed_rating_moves_in_a_table_sorted_by_rating() -> None:
    rng = np.random.default_rng(0)
    pairs, ratings = rng.permutation(300), np.sort(rng.integers(1, 6, 300))
    data = ag.read_ratings(pa.table({"user": pairs % 20, "item": pairs // 20, "rating": ratings}))
    X = data.X.toarray()
    X[::3, ::4] = 1.0
    release = make_release(data, csr_array(X))
    assert release.summary.changed > 10 > release.summary.added == 0
    assert (np.diff(release.table["rating"].to_numpy()) >= 0).all()


@pytest.mark.parametrize(
    ("by", "downwards"),
    [("item user", ""), ("user when", "when"), ("when", ""), ("when", "when"), ("user item", "item"),
     ("rating user", "rating"), ("day item", ""), ("country when", "")],
)  # fmt: skip
@pytest.mark.parametrize("text", [False, True])
def test_an_order_is_kept(by: str, downwards: str, text: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    pairs = rng.permutation(40 * 30)[:400]
    frame = pd.DataFrame({"user": pairs // 30 + 1, "item": pairs % 30 + 1, "rating": rng.integers(1, 6, 400)})
    frame["when"] = rng.integers(1_000_000_000, 1_100_000_000, 400)
    frame["day"] = pd.to_datetime(rng.integers(10_000, 10_020, 400), unit="D").strftime("%Y-%m-%d")
    frame["country"] = np.array(["FR", "DE", "IT"])[frame["user"] % 3]
    columns = by.split()
    if text:
        frame = frame.astype({"user": str, "item": str})
    upwards = [name not in downwards.split() for name in columns]
    frame = frame.sort_values(columns, ascending=upwards, ignore_index=True)
    frame.to_csv(tmp_path / "r.csv", index=False)
    for given in (frame, tmp_path / "r.csv"):
        data = ag.read_ratings(given, scale=(1, 5, 1))
        X = data.X.toarray()
        X[(X == 0) & (rng.random(X.shape) < 0.1)] = 0.6
        out = release_table(data, csr_array(X)).to_pandas()
        if given is not frame:  # a CSV file is all text
            kinds = {"user": str, "item": str} if text else {"user": int, "item": int}
            out = out.astype({**kinds, "when": int, "rating": int})
        assert len(out) > 440
        assert (out.sort_values(columns, ascending=upwards, kind="stable").index == np.arange(len(out))).all()


def test_numbers_without_a_sign_can_fall() -> None:
    rng = np.random.default_rng(0)
    pairs, kind = rng.permutation(1200)[:400], rng.permutation(30).astype(np.uint8) // 10
    frame = pd.DataFrame({"user": pairs // 30, "item": pairs % 30, "rating": pairs % 5 + 1, "kind": kind[pairs % 30]})
    frame = frame.sort_values(["kind", "user", "item"], ascending=[False, True, True], ignore_index=True)
    data = ag.read_ratings(frame, scale=(1, 5, 1))
    X = data.X.toarray()
    X[(X == 0) & (rng.random(X.shape) < 0.1)] = 0.6
    out = release_table(data, csr_array(X))
    assert out.num_rows > 440
    assert (np.diff(out["kind"].to_numpy().astype(int)) <= 0).all()


def test_new_rows_keep_the_order_of_a_sorted_table() -> None:
    table = pa.table({"user": [1, 1, 2, 2], "item": [10, 40, 20, 30], "rating": [1, 2, 3, 4]})
    data = ag.read_ratings(table, scale=(1, 5))
    released = csr_array(np.full((2, 6), 0.2, dtype=np.float32))
    out = release_table(data, released, items=[50, 40, 30, 20, 10, 25])
    assert out.column("item").to_pylist() == [10, 20, 25, 30, 40, 50] * 2
    assert out.column("user").to_pylist() == [1] * 6 + [2] * 6


@pytest.mark.parametrize(
    ("own", "new", "expected"),
    [
        (["9", "10"], "11", ["9", "10", "11"]),
        (["10", "9"], "11", ["10", "11", "9"]),  # in the order of text
        (["007", "12", "b"], "3", ["007", "12", "3", "b"]),
        (["9", "10"], "b", ["9", "10", "b"]),
        ([" 9", " 10"], "11", [" 9", " 10", " 11"]),  # with the blanks of the user's own rows
    ],
)
def test_csv_ids_are_in_order_by_number_or_by_text(
    tmp_path: Path, own: list[str], new: str, expected: list[str]
) -> None:
    for others in ("", "z,other\nz,text\n"):
        path = tmp_path / "r.csv"
        path.write_text("user,item\n" + "".join(f"a,{item}\n" for item in own) + others)
        data = ag.read_ratings(path)
        X, _ = align_items(data, items := [*(str(item) for item in data.items.tolist()), new])
        dense = X.toarray()
        dense[0, -1] = 1.0
        out = release_table(data, csr_array(dense), items=items)
        assert out.column("item").to_pylist()[: len(expected)] == expected


def test_only_the_users_taken_are_released(data: ag.PublicData) -> None:
    for rows in ([1], [-1], np.array([False, True])):
        bob = data.take(rows)
        assert release_table(bob, bob.X).column("item").to_pylist() == ["x", "z"]
    swapped = data.take([1, 0])
    assert release_table(swapped, swapped.X).equals(data.source.table)
    nobody = data.take([])
    assert release_table(nobody, nobody.X).num_rows == 0


def test_a_user_taken_twice_has_no_table_of_the_source(data: ag.PublicData) -> None:
    twice = data.take([0, 0, 1])
    assert twice.source is None
    assert release_table(twice, twice.X).to_pydict()["user"] == ["alice"] * 4 + ["bob"] * 2


def test_other_items_stay_and_new_items_come(data: ag.PublicData) -> None:
    items = np.array(["new", "z", "x"], dtype=object)
    X, unknown = align_items(data, items)
    assert unknown.tolist() == ["y"]
    assert np.round(X.toarray(), 6).tolist() == np.float32([[0, 0, 0.8], [0, 0.4, 1.0]]).round(6).tolist()
    assert release_table(data, X, items=items).equals(data.source.table)
    released = X.toarray()
    released[0] = [0.4, 0.0, 0.0]
    table = release_table(data, csr_array(released), items=items)
    rows = table.select(["user", "item", "rating"]).to_pylist()
    assert {"user": "alice", "item": "y", "rating": "1"} in rows
    assert {"user": "alice", "item": "new", "rating": "2"} in rows
    assert {"user": "alice", "item": "x", "rating": "4"} not in rows


def test_ids_of_the_catalogue_may_be_of_another_type() -> None:
    data = ag.read_ratings(pa.table({"user": [1, 1], "item": [7, 8], "rating": [1, 5]}), scale=(1, 5))
    items = np.array(["8", "7", "9"])
    X, unknown = align_items(data, items)
    assert unknown.size == 0
    assert X.toarray().tolist() == [[1.0, np.float32(0.2), 0.0]]
    table = release_table(data, csr_array([[1.0, 0.0, 0.2]]), items=items)
    assert table.to_pydict() == {"user": [1, 1], "item": [8, 9], "rating": [5, 1]}
    assert table.schema == data.source.table.schema
    with pytest.raises(DataError, match="new to the table do not fit its column of int64"):
        release_table(data, csr_array([[1.0, 0.2, 0.2]]), items=np.array(["8", "7", "app"]))


@pytest.mark.parametrize(
    ("ratings", "changed_to"),
    [
        (["5", "4", "1"], ["5", "2", "1", "3"]),
        (["5.0", "4.0", "1.0"], ["5.0", "2.0", "1.0", "3.0"]),
        (["5", "2.00", "3"], ["5", "2.00", "1.00", "3"]),
    ],
)
def test_text_ratings_are_written_as_the_column_writes_them(ratings: list[str], changed_to: list[str]) -> None:
    table = pa.table({"user": [1, 1, 1], "item": [1, 2, 3], "rating": ratings})
    data = ag.read_ratings(table, scale=(1, 5, 1))
    # The third user is nobody: item 4 is new.
    released = csr_array([[1.0, 0.4, 0.2, 0.6]])
    assert release_table(data, released, items=[1, 2, 3, 4]).column("rating").to_pylist() == changed_to


@pytest.mark.parametrize(
    "kind",
    [pa.int8(), pa.uint16(), pa.int64(), pa.float32(), pa.float64(), pa.decimal128(5, 1), pa.string(), pa.string_view(),
     pa.dictionary(pa.int8(), pa.string())],
)  # fmt: skip
@pytest.mark.parametrize(
    "id_kind",
    [pa.int32(), pa.uint64(), pa.float64(), pa.decimal128(6, 0), pa.string(), pa.large_string(), pa.string_view(),
     pa.dictionary(pa.int16(), pa.string()), pa.dictionary(pa.int8(), pa.int64())],
)  # fmt: skip
def test_every_type_stays(kind: pa.DataType, id_kind: pa.DataType) -> None:
    def array(values: list[int], kind: pa.DataType) -> pa.Array:
        if pa.types.is_dictionary(kind):
            encoded = array(values, kind.value_type).dictionary_encode()
            return pa.DictionaryArray.from_arrays(encoded.indices.cast(kind.index_type), encoded.dictionary)
        is_text = kind in (pa.string(), pa.large_string(), pa.string_view())
        convert = str if is_text else Decimal if pa.types.is_decimal(kind) else int
        return pa.array([convert(value) for value in values], kind)

    table = pa.table(
        {"item": array([10, 20, 10], id_kind), "rating": array([1, 5, 3], kind), "user": array([2, 1, 1], id_kind)}
    )
    data = ag.read_ratings(table, scale=(1, 5))
    assert release_table(data, data.X).equals(table)
    one = data.take([1])
    of_one = release_table(one, one.X)
    assert of_one.schema.equals(table.schema)
    assert of_one.to_pydict() == table.slice(0, 1).to_pydict()
    released = csr_array(([1.0, 0.2, 0.4, 0.6], ([0, 0, 1, 1], [0, 2, 0, 1])), shape=(2, 3))
    text = data.items.dtype.kind == "O"
    out = release_table(data, released, items=[*data.items.tolist(), "30" if text else 30])
    assert out.schema.types == table.schema.types
    rows = [tuple(float(row[name]) for name in ("user", "item", "rating")) for row in out.to_pylist()]
    assert sorted(rows) == [(1, 10, 5), (1, 30, 1), (2, 10, 2), (2, 20, 3)]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_come_back_as_they_were(frame) -> None:
    original = frame(
        {
            "user": ["b", "a", "b"],
            "app": [3, 1, 1],
            "stars": [5.0, 2.0, 1.0],
            "when": [datetime(2020, 1, day) for day in (1, 2, 3)],
            "tags": [["x"], [], ["y", "z"]],
        }
    )
    if frame is pl.DataFrame:
        original = original.with_columns(pl.col("user").cast(pl.Categorical))
    data = ag.read_ratings(original)
    same = release_table(data, data.X)
    assert same.schema.equals(data.source.table.schema)
    assert same.to_pydict() == data.source.table.to_pydict()
    released = csr_array([[0.4, 0.2], [0.2, 0.0]], dtype=np.float32)
    out = release_table(data, released)
    back = out.to_pandas() if frame is pd.DataFrame else pl.from_arrow(out)
    assert list(back.columns) == list(original.columns)
    assert out.schema.types == data.source.table.schema.types
    rows = [(row["user"], row["app"], row["stars"], row["tags"]) for row in out.to_pylist()]
    assert sorted(rows, key=lambda row: row[:2]) == [("a", 1, 2.0, []), ("a", 3, 1.0, []), ("b", 1, 1.0, ["y", "z"])]
    assert all(datetime(2020, 1, 1) <= when <= datetime(2020, 1, 3) for when in out["when"].to_pylist())


def test_a_rating_that_the_column_cannot_hold() -> None:
    data = ag.read_ratings(pa.table({"user": [1, 1], "item": [1, 2], "rating": [1, 5]}), scale=(0.5, 5, 0.5))
    assert release_table(data, data.X).equals(data.source.table)
    with pytest.raises(DataError, match="column 'rating' holds int64, which cannot hold every rating"):
        release_table(data, csr_array([[0.1, 1.0]]))


def test_likes_come_and_go_as_rows(tmp_path: Path) -> None:
    path = tmp_path / "likes.csv"
    path.write_text("user,item,when\n1,x,5\n1,y,6\n2,x,7\n")
    data = ag.read_ratings(path)
    summary = ag.write_release(data, csr_array([[1.0, 0.0], [1.0, 1.0]]), path)
    assert summary == ReleaseSummary(kept=2, changed=0, removed=1, added=1)
    assert path.read_text() == "user,item,when\n1,x,5\n2,x,6\n2,y,7\n"


def test_a_row_of_zero_stays_unless_it_becomes_a_like() -> None:
    table = pa.table({"user": [1, 1, 1, 2], "item": [1, 2, 3, 1], "rating": [0, 1, 0, 1]})
    data = ag.read_ratings(table)
    assert release_table(data, data.X).equals(table)
    out = release_table(data, csr_array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
    assert out.to_pydict() == {"user": [1, 1, 2], "item": [1, 3, 1], "rating": [1, 0, 1]}


@pytest.mark.parametrize(("how", "rating"), [("last", "2"), ("mean", "3")])
def test_duplicates_are_released_as_one_row(tmp_path: Path, how: str, rating: str) -> None:
    path = tmp_path / "r.csv"
    path.write_text("user,item,rating,when\n1,x,4,a\n2,x,5,b\n1,x,2,c\n1,y,1,d\n")
    data = ag.read_ratings(path, duplicates=how)
    ag.write_release(data, data.X, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == f"user,item,rating,when\n2,x,5,b\n1,x,{rating},c\n1,y,1,d\n"


def test_dropped_users_are_not_released_and_kept_ones_can_be_given_ratings() -> None:
    ratings = pa.table({"user": [3, 1], "item": ["x", "y"]})
    users = pa.table({"user": [1, 2, 4], "city": ["A", "B", "A"]})
    kept = ag.read_ratings(ratings, attributes=users, unmatched="keep")
    assert release_table(kept, kept.X).equals(ratings)
    last = kept.take([-1])
    assert last.users.tolist() == [4]
    assert release_table(last, last.X).num_rows == 0
    out = release_table(kept, csr_array([[0, 1.0], [0, 1.0], [1.0, 0], [0, 0]]))
    assert out.to_pydict() == {"user": [3, 2, 1], "item": ["x", "y", "y"]}
    dropped = ag.read_ratings(
        pa.table({"user": [3, 1, 2], "item": ["x", "y", "z"]}), attributes=users, unmatched="drop"
    )
    assert release_table(dropped, dropped.X).to_pydict() == {"user": [1, 2], "item": ["y", "z"]}


def test_data_without_a_table_gets_a_plain_one() -> None:
    stars = ag.PublicData(
        X=csr_array([[0.2, 0.0], [1.0, 0.6]]),
        users=np.array([10, 11]),
        items=np.array(["x", "y"], dtype=object),
        scale=ag.RatingScale(1, 5, 1),
        attribute="city",
        y=[0, 1],
        values=("A", "B"),
    )
    out = release_table(stars, csr_array([[0.0, 0.8], [1.0, 0.6]]))
    assert out.to_pydict() == {"user": [10, 11, 11], "item": ["y", "x", "y"], "rating": [4, 5, 3]}
    from dataclasses import replace

    likes = replace(stars, X=csr_array([[1.0, 0.0], [0.0, 1.0]]), scale=ag.RatingScale.likes())
    assert release_table(likes, likes.X).to_pydict() == {"user": [10, 11], "item": ["x", "y"]}
    halves = replace(stars, X=csr_array([[0.1, 0.0], [0.0, 1.0]]), scale=ag.RatingScale(0.5, 5, 0.5))
    assert release_table(halves, halves.X).column("rating").to_pylist() == [0.5, 5.0]


def test_csv_to_parquet_and_back(data: ag.PublicData) -> None:
    ag.write_release(data, data.X, "out.parquet")
    table = pq.read_table("out.parquet")
    assert table.column("rating").to_pylist() == [5, 1, 4, 2]
    assert table.column("user").to_pylist() == ["bob", "alice", "alice", "bob"]
    back = ag.read_ratings("out.parquet", scale=(1, 5, 1))
    assert (back.X != data.X).nnz == 0
    ag.write_release(back, back.X, "out.csv")
    assert Path("out.csv").read_text() == CSV


@pytest.mark.parametrize("name", ["out.csv.gz", "out.tsv", "out.parquet"])
def test_what_was_written_can_be_read_again(data: ag.PublicData, name: str) -> None:
    released = changed(data, bob_x=0.2, alice_z=1.0)
    ag.write_release(data, released, name)
    back = ag.read_ratings(name, scale=(1, 5, 1))
    assert np.allclose(back.X.toarray(), released.toarray())
    assert back.users.tolist() == data.users.tolist()


def test_a_column_may_be_null_only_if_it_cannot_be_filled() -> None:
    names = ("user", "item", "when", "note")
    schema = pa.schema(
        [pa.field(name, pa.string() if name == "note" else pa.int64(), nullable=False) for name in names]
    )
    data = ag.read_ratings(pa.table([[1, 1], [1, 2], [5, 6], ["so so", "good"]], schema=schema))
    assert release_table(data, data.X).schema == schema
    out = release_table(data, csr_array([[1.0, 1.0, 1.0]]), items=[1, 2, 3])
    assert [out.schema.field(name).nullable for name in names] == [False, False, False, True]


def test_the_attribute_itself_is_never_released(tmp_path: Path) -> None:
    ratings = pa.table({"user": [1, 2], "item": ["x", "y"], "age": [3, 4]})
    users = pa.table({"user": [1, 2], "gender": ["F", "M"], "age": ["3", "4"]})
    data = ag.read_ratings(ratings, attributes=users, attribute=["gender", "age"])
    with pytest.raises(DataError, match="private attribute itself, in column 'age'"):
        ag.write_release(data, data.X, tmp_path / "out.csv")
    assert not os.listdir(tmp_path)


def test_bad_releases(data: ag.PublicData, tmp_path: Path) -> None:
    for released, options, words in [
        (csr_array((3, 3)), {}, "2 rows, one a user, but has 3"),
        (csr_array((2, 4)), {}, "3 columns"),
        (csr_array([[2.0, 0, 0], [0, 0, 0]]), {}, r"entries in \[0, 1\]"),
    ]:
        with pytest.raises(DataError, match=words):
            release_table(data, released, **options)
    for path, words in [("out.xlsx", r"ends in \.csv"), ("nowhere/out.csv", "cannot be written"), (".", "ends in")]:
        with pytest.raises(DataError, match=words):
            ag.write_release(data, data.X, path)


@pytest.mark.parametrize("hidden", [False, True])
def test_a_column_of_categories_holds_none_that_no_released_row_has(hidden, tmp_path: Path) -> None:
    """Parquet holds all categories, so that one of a hidden row, or of a row left out before, would be told."""
    notes = pa.array(["of 1", "of 2", "of 3", "of 4", "of nobody"]).dictionary_encode().slice(0, 4)
    table = pa.table({"user": ["a", "a", "b", "b"], "item": [1, 2, 1, 2], "rating": [1, 2, 3, 5], "note": notes})
    data = ag.read_ratings(table)
    rows = csr_array([[0.2, 0.0], [0.0, 1.0]], dtype=np.float32) if hidden else data.X
    ag.write_release(data, rows, tmp_path / "out.parquet")
    made = pq.read_table(tmp_path / "out.parquet", read_dictionary=["note"])["note"].combine_chunks()
    assert made.dictionary.to_pylist() == (["of 1", "of 4"] if hidden else ["of 1", "of 2", "of 3", "of 4"])
    assert made.to_pylist() == made.dictionary.to_pylist()
