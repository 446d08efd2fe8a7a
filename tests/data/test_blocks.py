from __future__ import annotations

from itertools import groupby

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attriguard.data.blocks import complete_users
from attriguard.errors import DataError

IDS = st.one_of(
    st.lists(st.integers(-5, 10**12), unique=True, max_size=8),
    st.lists(st.text("ab 7é", max_size=3), unique=True, max_size=8),
)


@st.composite
def cut_tables(draw: st.DrawFn) -> tuple[pa.Table, list[pa.RecordBatch | pa.Table]]:
    """A table whose rows are grouped by user, and a division of it into batches and tables."""
    ids = draw(IDS)
    users = [user for user in ids for _ in range(draw(st.integers(1, 6)))]
    kind = pa.string() if users and isinstance(users[0], str) else pa.int64()
    table = pa.table({"row": range(len(users)), "user": pa.array(users, kind)})
    if draw(st.booleans()):
        table = table.set_column(1, "user", table.column(1).dictionary_encode())
    cuts = sorted(draw(st.lists(st.integers(0, len(users)), max_size=8)))
    parts = [table.slice(start, end - start) for start, end in zip([0, *cuts], [*cuts, len(users)], strict=True)]
    as_batches = draw(st.booleans())
    return table, [batch for part in parts for batch in part.to_batches()] if as_batches else parts


@given(cut_tables())
def test_any_division_gives_the_same_users_and_rows(case: tuple[pa.Table, list[pa.Table]]) -> None:
    table, batches = case
    blocks = list(complete_users(iter(batches), "user"))
    rows = [row for block in blocks for row in block.to_pylist()]
    assert rows == table.to_pylist()
    assert all(block.num_rows and block.schema == table.schema for block in blocks)
    groups = [user for block in blocks for user, _ in groupby(block.column("user").to_pylist())]
    assert len(groups) == len(set(groups))
    assert len(blocks) <= len(batches)


def test_a_user_is_held_back_until_the_last_row_has_come() -> None:
    batches = [pa.record_batch({"user": users}) for users in ([1, 1, 2], [2], [2, 3, 3], [4])]
    taken: list[int] = []

    def counted():
        for k, batch in enumerate(batches):
            taken.append(k)
            yield batch

    blocks = [(block.column("user").to_pylist(), len(taken)) for block in complete_users(counted(), 0)]
    # User 1 is given out when the second batch is read: only user 2 waits.
    assert blocks == [([1, 1], 2), ([2, 2, 2, 3, 3], 4), ([4], 4)]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("users", [[1, 2, 2, 3, 1, 4], ["ann", "bob", "bob", "cho", "ann", "dan"]])
def test_a_user_who_comes_back_is_refused(users: list[object], size: int) -> None:
    batches = pa.table({"user": users, "rating": [4.25] * 6}).to_batches(max_chunksize=size)
    with pytest.raises(DataError, match=rf"user {users[0]!r} comes back in row 5 .* group the rows by user") as error:
        list(complete_users(batches, "user"))
    assert "4.25" not in str(error.value)


def test_many_users_are_told_apart_and_one_return_is_found() -> None:
    users = list(range(5_000, 0, -1))
    batches = pa.table({"user": users}).to_batches(max_chunksize=7)
    assert sum(block.num_rows for block in complete_users(batches, "user")) == 5_000
    with pytest.raises(DataError, match="user 4321 comes back in row 5,001"):
        list(complete_users([*batches, pa.table({"user": [4321]})], "user"))


def test_blanks_in_a_csv_do_not_make_another_user() -> None:
    batches = [pa.table({"user": ["7"]}), pa.table({"user": [" 7"]}), pa.table({"user": ["8"]})]
    assert [block.num_rows for block in complete_users(batches, "user", trim=True)] == [2, 1]
    assert [block.num_rows for block in complete_users(batches, "user")] == [1, 1, 1]


def test_nothing_and_missing_ids_and_no_such_column() -> None:
    assert list(complete_users([], "user")) == []
    assert list(complete_users([pa.table({"user": pa.array([], pa.int64())})], "user")) == []
    missing = pa.table({"user": pa.array([None, None, 1, None], pa.int64())})
    assert [block.num_rows for block in complete_users([missing.slice(0, 1), missing.slice(1, 2)], "user")] == [3]
    with pytest.raises(DataError, match="user None comes back in row 4"):
        list(complete_users([missing], "user"))
    for column in ("who", 3):
        with pytest.raises(DataError, match=r"one user column .* columns are 'user'"):
            list(complete_users([missing], column))
