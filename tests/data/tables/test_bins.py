"""Numbers in bins: which columns are cut, where, and how the bins are called."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attriguard.data.tables.bins import MANY_VALUES, SLACK, check_bins, cut_numbers
from attriguard.data.tables.coded import Coded, code_column
from attriguard.errors import DataError, ParameterError


def cut(values, bins=None, *, name="age", least=0) -> Coded:
    (found,) = cut_numbers([code_column(name, [str(v) for v in values])], check_bins(bins), table="u.csv", least=least)
    return found


def names_by_number(values, found: Coded) -> dict[float, str]:
    return {float(value): found.values[code] for value, code in zip(values, found.codes.tolist(), strict=True)}


def test_edges_name_their_bins_in_words() -> None:
    ages = [3, 17, 18, 24, 25, 34, 35, 49, 50, 64, 65, 90]
    found = cut(ages, [18, 25, 35, 50, 65])
    assert found.values == ("under 18", "18 to 24", "25 to 34", "35 to 49", "50 to 64", "65 or more")
    assert found.codes.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]


def test_neighbouring_edges_and_decimals_have_sensible_names() -> None:
    assert cut([0, 1, 2, 3, 9], [1, 2, 3]).values == ("under 1", "1", "2", "3 or more")
    assert cut([1.2, 1.65, 1.9], [1.6, 1.75]).values == ("under 1.6", "1.6 to under 1.75", "1.75 or more")
    assert cut([10, 20, 30], [12.5]).values == ("under 12.5", "12.5 or more")
    assert cut([-20, -10, 0, 10], [-10, 0]).values == ("under -10", "-10 to -1", "0 or more")
    assert cut([1_700_000_000_000, 1_800_000_000_000], [1_750_000_000_001]).values[1] == "1750000000001 or more"


def test_a_bin_that_nobody_is_in_is_no_value() -> None:
    assert cut([20, 21, 70], [18, 30, 65]).values == ("18 to 29", "65 or more")


def test_quantiles_hold_as_many_users_each() -> None:
    found = cut(range(18, 78), 5)
    assert found.counts.tolist() == [12] * 5
    # An edge is the roundest number between two ages: here these are neighbours.
    assert found.values == ("under 30", "30 to 41", "42 to 53", "54 to 65", "66 or more")


def test_edges_are_round_where_there_is_room_and_so_are_no_users_own_number() -> None:
    incomes = [12_345.67, 18_222.2, 31_204.5, 31_317.25, 52_812.0, 90_123.4]
    found = cut(incomes, 3)
    assert found.values == ("under 30000", "30000 to under 50000", "50000 or more")
    assert found.counts.tolist() == [2, 2, 2]
    assert cut([1979] * 9 + [1980] * 9, 2).values == ("under 1980", "1980 or more")


def test_edges_of_many_numbers_are_round_and_the_bins_still_about_equal() -> None:
    incomes = np.random.default_rng(0).lognormal(10, 0.6, 5000).round(2)
    found = cut(incomes.tolist(), 5, name="income")
    assert found.values == (
        "under 13000",
        "13000 to under 18800",
        "18800 to under 26000",
        "26000 to under 37000",
        "37000 or more",
    )
    assert np.abs(found.counts - 1000).max() <= 2 * SLACK * 1000


def test_one_frequent_number_takes_the_place_of_several_bins() -> None:
    found = cut([0] * 70 + [1] * 15 + [2] * 10 + [7] * 5, 5)
    assert found.values == ("under 1", "1", "2 or more")
    assert found.counts.tolist() == [70, 15, 15]


numbers = st.one_of(
    st.integers(-1000, 3000), st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3)), st.integers(0, 5)
)


@given(st.lists(numbers, min_size=2, max_size=80), st.one_of(
    st.integers(2, 12), st.lists(st.integers(-50, 100), min_size=1, max_size=6, unique=True).map(sorted)),
    st.integers(0, 30))  # fmt: skip
def test_every_user_is_in_one_bin_and_bins_are_ordered(values, bins, least) -> None:
    found = cut(values, bins, least=least)
    assert found.undisclosed == 0
    assert found.counts.sum() == len(values)
    assert (found.counts > 0).all()
    assert len(set(found.values)) == len(found.values)
    # A number is never in two bins, and a higher number never in a lower bin.
    pairs = sorted({(float(value), code) for value, code in zip(values, found.codes.tolist(), strict=True)})
    assert len(pairs) == len({number for number, _ in pairs})
    assert [code for _, code in pairs] == sorted(code for _, code in pairs)
    if isinstance(bins, int):
        assert len(found.values) <= bins
        assert len(found.values) >= 2 or len(set(map(float, values))) == 1 or least > 0
    if least and len(found.values) > 1:
        assert found.counts.min() >= least
    assert all(_holds(name, number) for number, name in names_by_number(values, found).items())


def _holds(name: str, number: float) -> bool:
    """Whether a bin's name, read as a person would, holds a number."""
    words = name.split()
    if name == "any":
        return True
    if words[0] == "under":
        return number < float(words[1])
    if words[-1] == "more":
        return number >= float(words[0])
    if "under" in words:
        return float(words[0]) <= number < float(words[-1])
    return float(words[0]) <= number <= float(words[-1])


@given(st.lists(st.integers(0, 400), min_size=30, max_size=300), st.integers(2, 8))
def test_quantile_bins_are_off_by_no_more_than_the_users_of_one_number(values, bins) -> None:
    found = cut(values, bins)
    heaviest = max(Counter(values).values())
    if len(found.values) == bins:
        assert abs(found.counts - len(values) / bins).max() <= heaviest + 2 * SLACK * len(values) / bins


def test_small_bins_join_their_smaller_neighbour() -> None:
    ages = [16] * 3 + [20] * 30 + [30] * 50 + [40] * 8 + [70] * 60
    found = cut(ages, [18, 25, 35, 60], least=20)
    assert found.values == ("under 25", "25 to 59", "60 or more")
    assert found.counts.tolist() == [33, 58, 60]
    assert "fewer than 20 users were joined with a neighbour" in found.notes[0]


@pytest.mark.parametrize(
    ("name", "values", "is_cut"),
    [
        ("age", range(18, 18 + MANY_VALUES), False),
        ("age", range(18, 19 + MANY_VALUES), True),
        ("age", [f"{age}.0" for age in range(18, 60)], True),
        ("year_of_birth", range(1950, 2005), True),
        ("income", [1000.5 * k for k in range(1, 40)], True),
        ("occupation", range(21), False),
        ("region", range(1, 26), False),
        ("logins", range(80), True),
        ("plz", [f"{k:05d}" for k in range(900, 9000, 77)], False),
        ("zip", range(10_000, 90_000, 777), False),
        ("cityId", range(100, 900, 7), False),
        ("city_code", range(100, 900, 7), False),
        ("postcode", range(100, 900, 7), False),
        ("paid", range(100, 900, 7), True),
        ("age", [f"{k}-{k + 4}" for k in range(0, 90, 5)], False),
    ],
)
def test_only_quantities_are_cut_unasked(name, values, is_cut) -> None:
    found = cut(values, name=name)
    assert (len(found.values) == 5) == is_cut
    assert ("is cut into 5 bins" in " ".join(found.notes)) == is_cut
    if not is_cut:
        assert found.values == code_column(name, [str(value) for value in values]).values
    assert len(cut(values, "none", name=name).values) == len(set(values))


def test_codes_are_told_and_cut_if_asked() -> None:
    assert "21 numbers that look like codes" in cut(range(21), name="occupation").notes[0]
    assert len(cut(range(21), 3, name="occupation").values) == 3


def test_declared_categories_are_no_quantities() -> None:
    column = code_column("level", [str(k) for k in range(30, 60)], [])
    assert cut_numbers([column], None, table="u.csv", least=0) == [column]
    assert len(cut_numbers([column], 4, table="u.csv", least=0)[0].values) == 4


def test_of_several_attributes_only_the_quantities_are_cut() -> None:
    n = 60
    gender, age = code_column("gender", ["1", "2"] * (n // 2)), code_column("age", [str(18 + k) for k in range(n)])
    city = code_column("city", ["Rome", "Oslo"] * (n // 2))
    found = cut_numbers([gender, age, city], (18.0, 40.0), table="u.csv", least=0)
    assert [column.values for column in found] == [("1", "2"), ("18 to 39", "40 or more"), ("Oslo", "Rome")]
    with pytest.raises(DataError, match=r"u\.csv: bins are for numbers with more than 10 values, but none"):
        cut_numbers([gender, city], 5, table="u.csv", least=0)


def test_bins_of_text_are_refused_without_a_word_of_the_text() -> None:
    with pytest.raises(
        DataError, match=r"u\.csv: bins are for numbers, but 2 of 3 users have other text in 'city'"
    ) as e:
        cut(["Rome", "Oslo", "7"], 5, name="city")
    assert "Rome" not in str(e.value)
    with pytest.raises(DataError, match="2 of 2 users"):
        cut(["1,75", "1,80"], 5)
    with pytest.raises(DataError, match="1 of 2 users"):
        cut(["1e999", "80"], 5)


def test_numbers_with_some_text_among_them_stay_text_and_that_is_told() -> None:
    found = cut([*range(20, 60), "secret"])
    assert len(found.values) == 41
    assert "'age' is taken as text, since 1 user wrote no number there" in found.notes[0]
    assert "secret" not in found.notes[0]


@pytest.mark.parametrize("bins", [1, 0, -3, True, "five", "5", [], [3, 2], [1, 1], [1, np.nan], [np.inf], 2.5, ["a"]])
def test_bad_bins_are_refused(bins) -> None:
    with pytest.raises(ParameterError, match="bins"):
        check_bins(bins)


def test_bins_may_be_arrays_and_numpy_numbers() -> None:
    assert check_bins(np.array([18, 25])) == (18.0, 25.0)
    assert check_bins(np.int64(5)) == 5
    assert (check_bins(None), check_bins("none")) == (None, "none")
