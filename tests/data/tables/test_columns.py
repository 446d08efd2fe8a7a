from __future__ import annotations

import pyarrow as pa
import pytest

from attriguard.data.ratings import read_ratings
from attriguard.data.tables.columns import Roles, find_column, find_roles
from attriguard.data.tables.csv_text import CsvStyle
from attriguard.data.tables.table import InputTable
from attriguard.errors import DataError


def table(*names: str, csv: bool = False, cells: object = 1) -> InputTable:
    columns = [pa.array([str(cells) if csv else cells]) for _ in names]
    return InputTable(pa.Table.from_arrays(columns, names=list(names)), "t", CsvStyle() if csv else None)


def roles(*names: str, user=None, item=None, rating=None, like=False, csv=False) -> Roles:
    return find_roles(table(*names, csv=csv), user=user, item=item, rating=rating, like=like)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("user", "item", "rating"), (0, 1, 2)),
        (("userId", "movieId", "rating", "timestamp"), (0, 1, 2)),
        (("timestamp", "Rating", "App ID", "User ID"), (3, 2, 1)),
        (("reviewerID", "asin", "overall", "reviewText"), (0, 1, 2)),
        (("User-ID", "ISBN", "Book-Rating"), (0, 1, 2)),
        (("user_id", "business_id", "stars", "useful"), (0, 1, 2)),
        (("user_id", "username", "movie_id", "movie", "score"), (0, 2, 4)),
        (("user", "item"), (0, 1, None)),
        (("user", "item", "when"), (0, 1, None)),
        (("who", "what"), (0, 1, None)),
        (("who", "what", "how much"), (0, 1, 2)),
        (("", "who", "what"), (1, 2, None)),
        (("__index_level_0__", "who", "what", "how much"), (1, 2, 3)),
        (("rating", "user", "gadget"), (1, 2, 0)),
        (("gadget", "customer"), (1, 0, None)),
        (("who", "app", "stars"), (0, 1, 2)),
    ],
)
def test_good_guesses(names: tuple[str, ...], expected: tuple[int, int, int | None]) -> None:
    assert roles(*names) == expected


def test_options_win_over_guesses() -> None:
    assert roles("user", "item", "rating", "score", rating="score") == (0, 1, 3)
    assert roles("a", "b", "c", "d", user="d", item="b") == (3, 1, None)
    assert roles("user", "item", "rating", like=True) == (0, 1, None)
    assert roles("who", "what", "how much", like=True) == (0, 1, None)
    assert roles("user", "item", "value", user="item", item="user") == (1, 0, 2)


@pytest.mark.parametrize(
    ("names", "options", "words"),
    [
        (
            ("user", "item"),
            {"user": "usr"},
            r"no column named 'usr' \(the option user\); its columns are 'user', 'item'",
        ),
        (
            ("a", "b", "c", "d"),
            {},
            "which column is the user and which the item.*option user and the option item",
        ),
        (("user", "a", "b", "c"), {}, "which column is the item"),
        (
            ("movie_id", "app_id", "user"),
            {},
            "more than one column that may be the item: 'movie_id' and 'app_id'",
        ),
        (("user", "item", "score", "stars"), {}, "say which with the option rating"),
        (("user", "item", "item"), {"item": "item"}, "2 columns named 'item'"),
        (("user",), {}, "which column is the item"),
        (("user", "item", "rating"), {"rating": "user", "user": "user"}, "one of them twice"),
    ],
)
def test_ambiguous_tables_are_refused(names: tuple[str, ...], options: dict[str, str], words: str) -> None:
    with pytest.raises(DataError, match=words):
        roles(*names, **options)


def test_a_file_without_a_header_is_noticed() -> None:
    for names in [("196", "242", "3"), ("196", "242", "3", "881250949"), ("alice", "app1", "5.0")]:
        with pytest.raises(DataError, match="looks like data: put a header line"):
            roles(*names, csv=True)
    headless = table("alice", "app1", csv=True, cells="alice")
    with pytest.raises(DataError, match="header line"):
        find_roles(headless, user=None, item=None, rating=None, like=False)


def test_a_file_that_is_not_split_says_how_columns_are() -> None:
    with pytest.raises(DataError, match=r"which the item.* split by a comma, a semicolon, a tab or a bar"):
        roles("user item rating", csv=True)


def test_a_column_by_its_role() -> None:
    names = ["note", "Movie_ID", "item", "Stars"]
    assert find_column(names, "item") == "item"
    assert find_column(names[:2], "item") == "Movie_ID"
    assert find_column(names, "rating") == "Stars"
    assert find_column(names, "user") is None


HEADERLESS = {
    "a value that comes again": "ann,Bonn\nbob,Bonn\ncyd,Celle\n",
    "an id like the others": "u1,Bonn\nu2,Celle\nu17,Essen\n",
    "an id of numbers": "17,Bonn\n18,Celle\n",
    "a date like the others": "ann,1990-01-02\nbob,1991-11-12\n",
    "an address like the others": "ann@x.de,Bonn\nu2@y.de,Celle\nbob@z.de,Bonn\n",
}


@pytest.mark.parametrize("text", HEADERLESS.values(), ids=HEADERLESS)
@pytest.mark.parametrize("options", [{}, {"attribute": "city"}, {"attributes_user": "user"}], ids=str)
def test_a_table_without_a_header_line_is_not_quoted(tmp_path, text, options):
    """Its first line is a user and a private value."""
    (tmp_path / "users.csv").write_text(text)
    (tmp_path / "ratings.csv").write_text("user,item,rating\nann,a,1\nbob,a,2\n")
    with pytest.raises(DataError, match="the first line looks like data: put a header line above it") as told:
        read_ratings(tmp_path / "ratings.csv", attributes=tmp_path / "users.csv", **options)
    assert not any(cell in str(told.value) for cell in text.splitlines()[0].split(","))


@pytest.mark.parametrize("text", ["who,home\nann,Bonn\nbob,Bonn\n", "id,zip5\nu1,53111\nu2,53113\n", "a,b\n1,x\n2,y\n"])
def test_a_header_line_is_quoted(tmp_path, text):
    (tmp_path / "users.csv").write_text(text)
    (tmp_path / "ratings.csv").write_text("user,item,rating\nann,a,1\nbob,a,2\n")
    with pytest.raises(DataError, match=text.split(",")[0]):
        read_ratings(tmp_path / "ratings.csv", attributes=tmp_path / "users.csv", attribute="city")
