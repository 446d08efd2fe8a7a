"""Rare values: merged, dropped, told; and attributes with too many of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attriguard.data.tables.coded import Coded, code_column, join
from attriguard.data.tables.rare import FEW_VALUES, LEARNABLE, Rare, check_size
from attriguard.errors import DataError, ParameterError


def column(counts: dict[str, int], name: str = "city") -> Coded:
    return code_column(name, [value for value, n in counts.items() for _ in range(n)])


def shares(found: Coded) -> dict[str, int]:
    return dict(zip(found.values, found.counts.tolist(), strict=True))


CITIES = {"Rome": 30, "Oslo": 25, "Bern": 12, "Riga": 9, "Faro": 1}


def test_rare_values_are_merged_into_other() -> None:
    found = Rare(20).settle(column(CITIES))
    assert shares(found) == {"Oslo": 25, "Rome": 30, "other": 22}
    assert found.notes == ("3 of 5 values of 'city' have fewer than 20 users: merged into 'other' (22 users)",)


def test_or_dropped() -> None:
    found = Rare(20, "drop").settle(column(CITIES))
    assert shares(found) == {"Oslo": 25, "Rome": 30}
    assert found.undisclosed == 22
    assert found.notes == (
        "3 of 5 values of 'city' have fewer than 20 users (22 users in all): taken as undisclosed",
    )  # fmt: skip


def test_where_all_rare_values_together_are_rare_they_are_undisclosed() -> None:
    found = Rare(24).settle(column(CITIES))
    assert shares(found) == {"Oslo": 25, "Rome": 30}
    assert found.undisclosed == 22
    assert "too few for a value 'other'): taken as undisclosed" in found.notes[0]
    assert "1 of 2 values of 'city' has fewer" in Rare(20).settle(column({"Rome": 20, "Oslo": 1})).notes[0]


@pytest.mark.parametrize("name", ["other", "Other", "OTHER"])
def test_a_value_that_is_called_other_takes_them_in(name) -> None:
    large = Rare(20).settle(column(CITIES | {name: 40}))
    assert shares(large) == {"Oslo": 25, "Rome": 30, name: 62}
    small = Rare(20).settle(column(CITIES | {name: 2}))
    assert shares(small) == {"Oslo": 25, "Rome": 30, name: 24}
    both = Rare(20).settle(column({"Rome": 30, "Bern": 1, "other": 21, "OTHER": 25}))
    assert shares(both) == {"Rome": 30, "OTHER": 47}


def test_nothing_rare_nothing_told() -> None:
    same = column(CITIES)
    assert Rare(1).settle(same) is same
    assert Rare().settle(same) is same


@given(st.lists(st.sampled_from(["a", "b", "c", "d", "other", "Other", None]), min_size=1, max_size=120),
       st.integers(1, 40), st.sampled_from(["merge", "drop"]))  # fmt: skip
def test_merging_keeps_everyone_and_leaves_nothing_rare(texts, least, how) -> None:
    before = code_column("a", texts)
    after = Rare(least, how).settle(before)
    assert (after.counts >= least).all()
    disclosed, still = before.codes.size - before.undisclosed, after.codes.size - after.undisclosed
    rare = before.counts[before.counts < least].sum()
    assert still in (disclosed, disclosed - rare)
    assert still == disclosed or how == "drop" or rare < least
    # Who had a frequent value of another name than "other" has it still.
    for value, count in shares(before).items():
        if count >= least and value.casefold() != "other":
            mine = before.codes == before.values.index(value)
            assert {after.values[code] for code in after.codes[mine].tolist()} == {value}


@pytest.mark.parametrize("min_users", [0, -1, 2.5, "many"])
def test_bad_numbers_are_refused(min_users) -> None:
    with pytest.raises(ParameterError, match="min_users"):
        Rare.checked(min_users, "merge")


def test_bad_choices_are_refused() -> None:
    with pytest.raises(ParameterError, match="unknown rare 'keep'; known: merge, drop"):
        Rare.checked(20, "keep")
    with pytest.raises(ParameterError, match="the option min_users"):
        Rare.checked(None, "drop")


def grid(rows: int, columns: int, users: int) -> list[Coded]:
    """Two attributes with so many values, and so many users of every combination."""
    k = np.arange(rows * columns * users)
    left = code_column("city", [f"c{i}" for i in k % rows])
    right = code_column("age", [f"a{i}" for i in k // rows % columns])
    return [left, right]


def test_too_many_combinations_are_refused_with_the_numbers() -> None:
    columns = grid(13, 4, LEARNABLE - 1)
    with pytest.raises(
        DataError,
        match=r"^city × age: 13 × 4 values give 52 combinations, 52 of them with fewer than 20 users.*the option "
        r"min_users.*the option bins.*one attribute after the other: release for the first",
    ):
        check_size(join(columns), columns)


def test_what_can_be_learnt_from_is_not_refused() -> None:
    for columns in (grid(13, 4, LEARNABLE), grid(10, FEW_VALUES // 10, 1), grid(2, 2, 1)):
        joint = join(columns)
        assert check_size(joint, columns) is joint


def test_one_attribute_with_many_rare_values_is_told_and_not_refused() -> None:
    single = column({f"c{k}": 2 for k in range(60)})
    assert check_size(single, [single]).notes == (
        "60 of 60 values of 'city' have fewer than 20 users, of which little can be learnt; the option min_users "
        "merges them",
    )
