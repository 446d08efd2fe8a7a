from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attriguard.data.tables.attributes import AttributeColumns, read_attributes
from attriguard.data.tables.coded import code_column, join
from attriguard.data.tables.table import InputTable, read_table
from attriguard.errors import DataError


def attributes(frame: object, attribute=None, *, user=None, ratings_user="user", duplicates="error"):
    table = read_table(frame, "users.csv")
    return read_attributes(table, AttributeColumns(attribute, user, ratings_user), duplicates)


def join_attributes(columns, orders=None):
    joint = join([code_column(name, column, (orders or {}).get(name)) for name, column in columns.items()])
    return joint.name, joint.codes, joint.values


def test_one_attribute_keeps_its_name_and_its_values() -> None:
    name, codes, values = join_attributes({"gender": ["M", "F", None, "M", " ", ""]})
    assert (name, values) == ("gender", ("F", "M"))
    assert codes.tolist() == [1, 0, -1, 1, -1, -1]
    assert codes.dtype == np.int64


def test_a_joint_attribute_has_the_combinations_that_occur() -> None:
    name, codes, values = join_attributes(
        {"gender": ["F", "M", "F", "M", None], "age": ["25-34", "18-24", "18-24", None, "18-24"]}
    )
    assert name == "gender × age"
    assert values == ("F × 18-24", "F × 25-34", "M × 18-24")
    assert codes.tolist() == [1, 2, 0, -1, -1]


def test_numbers_in_names_may_have_thousands_of_digits() -> None:
    small, large = "no " + "8" * 5_000, "no 1" + "0" * 5_000
    assert code_column("x", [large, "no 9", small, "no 010"]).values == ("no 9", "no 010", small, large)


def test_values_come_in_natural_order() -> None:
    assert join_attributes({"a": ["10", "9", "1"]})[2] == ("1", "9", "10")
    assert join_attributes({"a": ["25-34", "5-9", "18-24"]})[2] == ("5-9", "18-24", "25-34")
    assert join_attributes({"a": ["1.5", "-1", "1.25", "-2"]})[2] == ("-2", "-1", "1.25", "1.5")
    assert join_attributes({"a": ["b", "x", "a"]}, orders={"a": ["x", "b"]})[2] == ("x", "b", "a")


def test_nothing_disclosed_is_no_value_at_all() -> None:
    name, codes, values = join_attributes({"a": [None, ""], "b": ["x", "y"]})
    assert (name, codes.tolist(), values) == ("a × b", [-1, -1], ())
    with pytest.raises(DataError, match="at least one attribute"):
        join_attributes({})


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.tuples(*[st.sampled_from([None, "", "a", "b", "10", "9", "é"])] * width), min_size=1, max_size=30
        )
    )
)
def test_joining_loses_nothing(rows: list[tuple[str | None, ...]]) -> None:
    columns = {f"c{k}": list(column) for k, column in enumerate(zip(*rows, strict=True))}
    _, codes, values = join_attributes(columns)
    for row, code in zip(rows, codes.tolist(), strict=True):
        assert (values[code] if code >= 0 else None) == (" × ".join(map(str, row)) if all(row) else None)
    assert sorted(set(codes.tolist()) - {-1}) == list(range(len(values)))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_types_become_plain_names(frame) -> None:
    table = frame({"user": [3, 1, 2], "age": [30.0, None, 25.0], "vip": [True, False, True]})
    found = attributes(table, ["age", "vip"])
    assert found.users.tolist() == [1, 2, 3]
    assert [None if pd.isna(text) else text for text in found.columns["age"]] == [None, "25", "30"]
    assert found.columns["vip"].tolist() == ["false", "true", "true"]


def test_an_ordered_categorical_brings_its_order() -> None:
    levels = ["low", "middle", "high"]
    for frame in (
        pd.DataFrame({"user": [1, 2, 3], "income": pd.Categorical(["high", "low", "middle"], levels, ordered=True)}),
        pl.DataFrame({"user": [1, 2, 3], "income": pl.Series(["high", "low", "middle"], dtype=pl.Enum(levels))}),
    ):
        found = attributes(frame)
        assert join_attributes(found.columns, orders=found.orders)[2] == tuple(levels)


@pytest.mark.parametrize(
    ("names", "attribute", "user", "attribute_found"),
    [
        (["user", "city"], None, "user", "city"),
        (["city", "who"], None, "who", "city"),
        (["id", "name", "city"], "city", "id", "city"),
        (["nick", "city"], None, "nick", "city"),
        (["city", "nick"], "city", "nick", "city"),
        (["customer", "uid", "city"], "city", "uid", "city"),
    ],
)
def test_the_user_column_is_found(names: list[str], attribute: str | None, user: str, attribute_found: str) -> None:
    frame = pa.table({name: [f"{name} 1", f"{name} 2"] for name in names})
    found = attributes(frame, attribute, ratings_user="who")
    assert found.users.tolist() == [f"{user} 1", f"{user} 2"]
    assert list(found.columns) == [attribute_found]


@pytest.mark.parametrize(
    ("frame", "options", "words"),
    [
        ({"user": [1], "age": [3], "city": ["x"]}, {}, "which column is the private attribute.*'age', 'city'"),
        ({"user": [1], "city": ["x"]}, {"attribute": "town"}, r"no column named 'town' \(the option attribute\)"),
        ({"a": [1], "b": [3], "c": ["x"]}, {"attribute": "c"}, "option attributes_user"),
        ({"user": [1], "city": ["x"]}, {"attribute": "user"}, "which column is the user|other than the user"),
        ({"user": [1], "city": ["x"]}, {"attribute": ["city", "city"]}, "each once"),
        ({"user": [1], "city": ["x"]}, {"attribute": []}, "one or more columns"),
        ({"user": [1], "city": [["x"]]}, {}, "an attribute is text or a number"),
        (
            {"user": [7, 8, 7, 8, 9], "city": list("abcde")},
            {},
            r"2 users come more than once \(first: row 1 and row 3\)",
        ),
        ({"user": [7, 7], "city": ["a", "a"]}, {"duplicates": "mean"}, "duplicates to 'last'"),
    ],
)
def test_bad_tables_are_refused(frame: dict[str, list[object]], options: dict[str, object], words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        attributes(pa.table(frame), **options)
    assert str(caught.value).startswith("users.csv")


def test_the_last_row_of_a_user_counts_if_asked() -> None:
    found = attributes(pa.table({"user": [7, 8, 7], "city": ["a", "b", "c"]}), duplicates="last")
    assert found.users.tolist() == [7, 8]
    assert found.columns["city"].tolist() == ["c", "b"]


def test_an_index_column_is_no_attribute() -> None:
    frame = pd.DataFrame({"user": [1, 2], "city": ["x", "y"]}, index=[5, 9])
    assert list(attributes(frame).columns) == ["city"]
    assert isinstance(read_table(frame, "x"), InputTable)
