from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import attriguard as ag
from attriguard.errors import DataError, ParameterError

RATINGS = "user,item,rating\nbob,x,5\nalice,y,1\nalice,x,4\n"
USERS = "user,city,age\nalice,Rome,30\nbob,Oslo,\n"


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    def write(name: str, text: str) -> str:
        (tmp_path / name).write_text(text, newline="")
        return name

    return write


def likes(data: ag.PublicData) -> list[list[float]]:
    return np.round(data.X.toarray().astype(float), 6).tolist()


def test_two_csv_files(put) -> None:
    data = ag.read_ratings(put("r.csv", RATINGS), attributes=put("u.csv", USERS), attribute="city", scale=(1, 5))
    assert data.users.tolist() == ["alice", "bob"]
    assert data.items.tolist() == ["x", "y"]
    assert likes(data) == [[0.8, 0.2], [1.0, 0.0]]
    assert data.X.dtype == np.float32
    assert (data.attribute, data.values, data.y.tolist()) == ("city", ("Oslo", "Rome"), [1, 0])
    assert data.scale == ag.RatingScale(1, 5, 1)


def test_without_attributes_nobody_discloses(put) -> None:
    data = ag.read_ratings(put("r.csv", RATINGS))
    assert (data.attribute, data.values, data.y.tolist()) == ("", (), [-1, -1])
    assert not data.disclosed.any()


def test_a_joint_attribute_and_undisclosed_users(put) -> None:
    ratings = put("r.csv", "user,item\n1,x\n2,x\n3,x\n")
    users = put("u.csv", "user,gender,age\n1,F,18-24\n2,M,25-34\n3,F,\n")
    data = ag.read_ratings(ratings, attributes=users, attribute=["gender", "age"])
    assert (data.attribute, data.values) == ("gender × age", ("F × 18-24", "M × 25-34"))
    assert data.y.tolist() == [0, 1, -1]


def reader(columns: dict[str, list[object]]) -> pa.RecordBatchReader:
    return pa.table(columns).to_reader(max_chunksize=2)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table, pa.record_batch, reader])
@pytest.mark.parametrize("ids", [[30, 4, 4], ["30", "4", "4"]])
def test_frames_and_files_give_the_same_data(put, frame, ids) -> None:
    data = ag.read_ratings(frame({"user": ids, "item": [1, 1, 2], "stars": [1, 5, 3]}), scale=(1, 5))
    order = [4, 30] if ids[0] == 30 else ["30", "4"]
    assert data.users.tolist() == order
    assert data.items.tolist() == [1, 2]
    expected = {4: [1.0, 0.6], "4": [1.0, 0.6], 30: [0.2, 0.0], "30": [0.2, 0.0]}
    assert likes(data) == [expected[user] for user in order]


def test_parquet_and_csv_ids_meet_whatever_their_types(put) -> None:
    pq.write_table(pa.table({"user": ["7", "12"], "item": ["a", "b"]}), "r.parquet") if put("x.csv", "") else None
    users = put("u.csv", "user,city\n7,Rome\n12,Oslo\n")
    data = ag.read_ratings("r.parquet", attributes=users)
    assert data.users.tolist() == ["12", "7"]
    assert data.y.tolist() == [0, 1]
    back = ag.read_ratings(
        put("r.csv", "user,item\n7,a\n12,b\n"), attributes=pa.table({"id": ["7", "12"], "c": ["R", "O"]})
    )
    assert back.users.tolist() == [7, 12]
    assert back.y.tolist() == [1, 0]


def test_leading_zeros_make_another_id(put) -> None:
    data = ag.read_ratings(put("r.csv", "user,item\n007,a\n7,a\n"))
    assert data.users.tolist() == ["007", "7"]


def test_likes(put) -> None:
    plain = ag.read_ratings(put("a.csv", "user,item\n1,x\n2,y\n"))
    ignored = ag.read_ratings(put("b.csv", "user,item,rating\n1,x,3\n2,y,nonsense\n"), like=True)
    zeros = ag.read_ratings(put("c.csv", "user,item,rating\n1,x,1\n2,y,1\n2,x,0\n"))
    for data in (plain, ignored, zeros):
        assert data.scale.is_likes
        assert likes(data) == [[1.0, 0.0], [0.0, 1.0]]
        assert data.X.nnz == 2
    yes = ag.read_ratings(pa.table({"user": [1, 1], "item": [1, 2], "rating": [True, False]}))
    assert yes.scale.is_likes
    assert likes(yes) == [[1.0, 0.0]]


def test_half_stars_and_text_numbers(put) -> None:
    data = ag.read_ratings(put("r.csv", "user,item,rating\n1,x,0.5\n1,y, 5.0 \n2,x,+1e0\n"))
    assert data.scale == ag.RatingScale(0.5, 5.0, 0.5)
    assert likes(data) == [[0.1, 1.0], [0.2, 0.0]]


@pytest.mark.parametrize(
    ("how", "expected"),
    [("last", [[0.2, 0.6], [0.4, 0.0]]), ("mean", [[0.6, 0.6], [0.4, 0.0]])],
)
def test_duplicates(put, how: str, expected: list[list[float]]) -> None:
    text = "user,item,rating\n1,x,5\n1,y,3\n2,x,2\n1,x,2\n1,x,1\n"
    with pytest.raises(
        DataError, match=r"1 \(user, item\) pairs .* first row 1 \(line 2\) and row 4 \(line 5\).*'mean'"
    ):
        ag.read_ratings(put("r.csv", text))
    data = ag.read_ratings("r.csv", duplicates=how)
    assert likes(data) == expected


def test_duplicate_likes_are_one_like(put) -> None:
    for how in ("last", "mean"):
        assert likes(ag.read_ratings(put("r.csv", "user,item\n1,x\n1,x\n"), duplicates=how)) == [[1.0]]


def test_users_in_one_table_only(put) -> None:
    ratings = put("r.csv", "user,item\n5,x\n7,y\n9,z\n8,y\n")
    users = put("u.csv", "user,city\n5,Rome\n8,Oslo\n6,Oslo\n")
    with pytest.raises(
        DataError, match=r"2 of 4 users of r\.csv have no row in u\.csv, and 1 of 3 users of u\.csv have no"
    ):
        ag.read_ratings(ratings, attributes=users)
    kept = ag.read_ratings(ratings, attributes=users, unmatched="keep")
    assert kept.users.tolist() == [5, 6, 7, 8, 9]
    assert kept.y.tolist() == [1, 0, -1, 0, -1]
    assert np.diff(kept.X.indptr).tolist() == [1, 0, 1, 1, 1]
    dropped = ag.read_ratings(ratings, attributes=users, unmatched="drop")
    assert dropped.users.tolist() == [5, 8]
    assert dropped.items.tolist() == ["x", "y"]
    assert likes(dropped) == [[1.0, 0.0], [0.0, 1.0]]
    assert dropped.y.tolist() == [1, 0]
    with pytest.raises(DataError, match="no user in common"):
        ag.read_ratings(ratings, attributes=put("v.csv", "user,city\na,1\nb,2\n"), unmatched="drop")


def test_keeping_users_of_another_type_makes_all_ids_text(put) -> None:
    data = ag.read_ratings(
        put("r.csv", "user,item\n10,x\n9,y\n"),
        attributes=put("u.csv", "user,city\n10,A\n9,B\nnew,A\n"),
        unmatched="keep",
    )
    assert data.users.tolist() == ["10", "9", "new"]
    assert data.y.tolist() == [0, 1, 0]
    assert likes(data) == [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("ratings", "options", "words"),
    [
        (
            "user,item,rating\n1,x,5\n1,y,\n",
            {},
            r"r\.csv, row 2 \(line 3\), column 'rating': a rating must be .* got nothing",
        ),
        ("user,item,rating\n1,x,nan\n1,y,3\n", {}, r"row 1 .*got nan \(1 such rows\)"),
        ("user,item,rating\n1,x,2\n1,y,-inf\n", {}, "row 2 .*got -inf"),
        ("user,item,rating\n1,x,2\n1,y,good\n", {}, r"row 2 .*a number was expected.*\(1 such rows\)"),
        ("user;item;rating\n1;x;2\n1;y;3,5\n", {}, "with a dot for decimals"),
        ("user,item,rating\n1,x,2\n1,y,7\n", {"scale": (1, 5, 1)}, "row 2 .*rating 7 is not on the scale 1 to 5"),
        ("user,item,rating\n1,x,2\n1,y,3.5\n", {"scale": (1, 5, 1)}, "3.5 is not on the scale"),
        ("user,item,rating\n1,x,1\n1,y,2\n2,x,2.7\n", {}, "column 'rating': the ratings lie on no even scale"),
        ("user,item,rating\n,x,1\n", {}, "column 'user': an id must be"),
        ("user,item,rating\n", {}, "no rows"),
        ("user,item,rating\n1,2,3\n", {"rating": "stars"}, "no column named 'stars'"),
    ],
)
def test_bad_ratings_are_refused(put, ratings: str, options: dict[str, object], words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        ag.read_ratings(put("r.csv", ratings), **options)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("r.csv")


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array([1.0, float("inf")]), "row 2, column 'rating'.*got inf"),
        (pa.array([1.0, None]), "row 2, column 'rating'.*got nothing"),
        (pa.array([1, 2], pa.timestamp("s")), "ratings must be numbers"),
        (pa.array([[1], [2]]), "ratings must be numbers"),
    ],
)
def test_bad_rating_columns_of_frames(column: pa.Array, words: str) -> None:
    with pytest.raises(DataError, match=f"the ratings table.*{words}"):
        ag.read_ratings(pa.table({"user": [1, 2], "item": [1, 2], "rating": column}))


@pytest.mark.parametrize(
    ("users", "words"),
    [
        ("user,city\nalice,Secretville\nbob,Secretville\n", "everybody who discloses it has the same value"),
        ("user,city\nalice,Secretville\nbob,\n", "same value"),
        ("user,city\nalice,\nbob,\n", "nobody discloses it"),
        ("user,city\nalice,Secretville\nalice,Rome\nbob,Oslo\n", "1 users come more than once"),
        ("user,city\nalice,Secretville\n", "1 of 2 users"),
    ],
)
def test_bad_attributes_are_refused_without_a_word_of_the_value(put, users: str, words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        ag.read_ratings(put("r.csv", RATINGS), attributes=put("u.csv", users))
    assert "Secretville" not in str(caught.value)


def test_bad_options(put) -> None:
    ratings = put("r.csv", RATINGS)
    for options, words in [
        ({"duplicates": "first"}, "unknown duplicates 'first'; known: error, last, mean"),
        ({"unmatched": "no"}, "unknown unmatched"),
        ({"scale": "stars"}, "scale must be"),
        ({"scale": (1,)}, "scale must be"),
        ({"attribute": "city"}, "give that table too"),
    ]:
        with pytest.raises(ParameterError, match=words):
            ag.read_ratings(ratings, **options)


def test_what_was_read_is_frozen_and_leaves_the_frame_alone() -> None:
    frame = pd.DataFrame({"user": [2, 1], "item": [1, 1], "rating": [1, 2]})
    before = frame.copy()
    data = ag.read_ratings(frame)
    pd.testing.assert_frame_equal(frame, before)
    with pytest.raises(ValueError, match="read-only"):
        data.X.data[0] = 0.0
