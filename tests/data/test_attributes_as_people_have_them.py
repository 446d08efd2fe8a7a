"""Attribute tables as people have them: exports of spreadsheets, frames and forms, read end to end."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import attriguard as ag
from attriguard.errors import DataError, ParameterError

N = 60
IDS = [f"u{k:02d}" for k in range(N)]


@pytest.fixture
def ratings(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("user,item,rating\n" + "".join(f"{user},{k % 7},{k % 5 + 1}\n" for k, user in enumerate(IDS)))
    return path


@pytest.fixture
def read(ratings, tmp_path):
    def call(text, attribute, **options):
        path = tmp_path / "users.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return ag.read_ratings(ratings, attributes=path, attribute=attribute, **options)

    return call


def lines(header, cells):
    return header + "\n" + "".join(f"{user},{cell}\n" for user, cell in zip(IDS, cells, strict=True))


AGES = [18 + k % 30 for k in range(N)]  # every age from 18 to 47 twice


@pytest.mark.parametrize(
    "cells",
    [
        AGES,
        [f"{age}.0" for age in AGES],
        [f"{age}.0" if k % 2 else age for k, age in enumerate(AGES)],
        [f" {age} " for age in AGES],
        [f'"{age}"' for age in AGES],
    ],
    ids=["34", "34.0", "both", "blanks", "quotes"],
)
def test_ages_however_they_are_written(read, cells) -> None:
    data = read(lines("user,age", cells), "age")
    assert data.values == ("under 24", "24 to 29", "30 to 35", "36 to 41", "42 or more")
    assert np.bincount(data.y).tolist() == [12] * 5
    assert data.y.tolist() == [(age - 18) // 6 for age in AGES]
    assert data.notes == (
        "'age' has 30 different numbers and is cut into 5 bins: under 24, 24 to 29, 30 to 35, 36 to 41, 42 or more; "
        "the option bins names others, or 'none'",
    )


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("kind", [int, float])
def test_frames_of_numbers_give_the_same_bins_as_files(ratings, frame, kind) -> None:
    users = frame({"user": IDS, "age": [kind(age) for age in AGES]})
    data = ag.read_ratings(ratings, attributes=users, attribute="age", bins=[25, 35])
    assert data.values == ("under 25", "25 to 34", "35 or more")
    assert np.bincount(data.y).tolist() == [14, 20, 26]


def test_a_spreadsheet_with_a_byte_order_mark_semicolons_and_quotes(read) -> None:
    cells = ["Köln; Süd" if k % 3 else "NA" for k in range(N - 1)] + ["Ulm"]
    rows = "".join(f'"{user}";"{cell}"\r\n' for user, cell in zip(IDS, cells, strict=True))
    data = read(b"\xef\xbb\xbf" + f'"user";"Wohnort"\r\n{rows}'.encode(), "Wohnort")
    assert data.values == ("Köln; Süd", "Ulm")
    assert data.notes == (
        "20 of 60 users do not disclose 'Wohnort' ('NA'); if such a mark is a value here, see the option missing",
    )


def test_ranges_are_text_and_stay_as_they_are(read) -> None:
    bands = [
        "under 18",
        "18-24",
        "25-34",
        "35-44",
        "45-54",
        "55-64",
        "65-74",
        "75-84",
        "85-94",
        "95-99",
        "100-104",
        "105+",
    ]
    data = read(lines("user,age", [bands[k % 12] for k in range(N)]), "age")
    assert set(data.values) == set(bands)
    assert data.notes == ()


def test_years_of_birth(read) -> None:
    data = read(lines("user,born", [1950 + k % 50 for k in range(N)]), "born", bins=[1965, 1980])
    assert data.values == ("under 1965", "1965 to 1979", "1980 or more")


def test_mixed_case_marks_are_missing_and_mixed_case_values_are_told(read) -> None:
    cells = [["Rome", "rome", "Oslo", "n/A", "UNKNOWN", "Prefer not to say"][k % 6] for k in range(N)]
    data = read(lines("user,city", cells), "city")
    assert data.values == ("Oslo", "Rome", "rome")
    assert (data.y == -1).sum() == N // 2
    assert "upper and lower case only (1), and these stay apart" in data.notes[1]


def test_bins_and_rare_values_of_several_attributes(read) -> None:
    cells = [f"{age},{'M' if k % 2 else 'F'}" for k, age in enumerate(AGES)]
    data = read(lines("user,age,gender", cells), ["age", "gender"], bins=[30])
    assert data.attribute == "age × gender"
    assert data.values == ("under 30 × F", "under 30 × M", "30 or more × F", "30 or more × M")
    data = read(lines("user,age,gender", cells), ["age", "gender"], bins=[30], min_users=15)
    assert data.values == ("30 or more × F", "30 or more × M", "other")
    assert data.notes[-1] == (
        "2 of 4 values of 'age × gender' have fewer than 15 users: merged into 'other' (24 users)"
    )  # fmt: skip


def test_the_joint_attribute_is_refused_where_it_is_too_large_unless_rare_values_are_settled(read) -> None:
    text = lines("user,city,born", [f"c{k % 11},{1950 + k}" for k in range(N)])
    with pytest.raises(DataError, match=r"city × born: 11 × 5 values give \d+ combinations") as caught:
        read(text, ["city", "born"], bins=5)
    assert "\n" not in str(caught.value)
    assert len(read(text, ["city", "born"], bins=5, min_users=1).values) > 50
    assert len(read(text, ["city", "born"], bins=2).values) == 22


def test_rare_values_of_a_column_are_merged_before_combinations_are_made(read) -> None:
    cities = ["Rome"] * 20 + ["Oslo"] * 20 + [f"village {k}" for k in range(20)]
    cells = [f"{city},{'M' if k % 2 else 'F'}" for k, city in enumerate(cities)]
    data = read(lines("user,city,gender", cells), ["city", "gender"], min_users=10)
    assert data.values[-2:] == ("other × F", "other × M")
    assert np.bincount(data.y).tolist() == [10] * 6


@pytest.mark.parametrize(
    ("cells", "options", "words"),
    [
        (["Secretville", "none"] * 30, {}, r"same value \(30 of 60 users do not disclose.*'none'.*the option missing"),
        (
            ["Secretville", "Rome"] * 30,
            {"min_users": 40},
            "same value; name another .* change the option min_users",
        ),
        (["Secretville", "Rome"] * 30, {"min_users": 70}, "nobody discloses it; .*change the option min_users"),
        (["17", "19"] * 30, {"bins": [50]}, "same value; name another attribute, or change the option bins"),
        (["Secretville", "Rome"] * 30, {"bins": 5}, "bins are for numbers, but 60 of 60 users"),
    ],
)
def test_what_leaves_no_two_values_is_refused_without_a_word_of_the_value(read, cells, options, words) -> None:
    with pytest.raises(DataError, match=words) as caught:
        read(lines("user,city", cells), "city", **options)
    assert not any(value in str(caught.value) for value in ("Secretville", "17", "under 50"))


@pytest.mark.parametrize("option", [{"bins": 5}, {"min_users": 3}, {"missing": ["?"]}, {"attributes_user": "user"}])
def test_options_of_an_attribute_need_its_table(ratings, option) -> None:
    with pytest.raises(ParameterError, match=f"{next(iter(option))} is about the attributes table"):
        ag.read_ratings(ratings, **option)


def test_notes_stay_with_the_users_and_name_none_of_them(read) -> None:
    data = read(lines("user,age", [*AGES[:-1], "?"]), "age", item_names={0: "Zero", 6: "Six"}, min_users=5)
    assert len(data.notes) == 3
    assert data.notes[2] == "5 of 7 items have no name and keep their id"
    assert data.item_names.tolist() == ["Zero", "1", "2", "3", "4", "5", "Six"]
    train, test = data.split(0.2, random_state=0)
    assert data.take([0, 1]).notes == train.notes == test.notes == data.notes
    assert not any(user in note for user in IDS for note in data.notes)


def test_operations_take_the_same_options(read, ratings, tmp_path) -> None:
    path = tmp_path / "users.csv"
    path.write_text(lines("user,age", AGES))
    guard = ag.learn(ratings, attributes=path, attribute="age", bins=[30], goal="conceal")
    assert guard.values_ == ("under 30", "30 or more")
