"""Learning from a large table: the most rated items, a sample of users, the same whatever the order of rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import attriguard as ag
from attriguard.errors import DataError


@pytest.fixture
def users(data, tmp_path):
    """A table of cities, of which every fifth is undisclosed, some with a mark."""
    cities = [data.values[code] if k % 5 else ("" if k % 10 else "unknown") for k, code in enumerate(data.y)]
    table = pa.table({"user": [str(user) for user in data.users], "city": cities})
    pq.write_table(table, tmp_path / "users.parquet")
    return tmp_path / "users.parquet"


def lay(plain, folder, seed):
    folder.mkdir()
    rows = plain.take(pa.array(np.random.default_rng(seed).permutation(plain.num_rows)))
    cut = 100 + 500 * seed
    pq.write_table(rows.slice(0, cut), folder / f"{9 - seed}.parquet")
    pq.write_table(rows.slice(cut), folder / "5.parquet")
    return folder


def test_the_most_rated_items_and_a_sample_of_disclosing_users_whatever_the_order(plain, data, users, tmp_path):
    found = [
        ag.sample_ratings(lay(plain, tmp_path / str(k), k), attributes=users, attribute="city", users=50, items=12)
        for k in (0, 1)
    ]
    one, two = found
    assert one.users.tolist() == two.users.tolist()
    assert one.items.tolist() == two.items.tolist()
    assert (one.X != two.X).nnz == 0
    assert (one.n_users, one.n_items) == (50, 12)
    assert one.disclosed.all()
    counts = Counter(plain["item"].to_pylist())
    assert min(counts[item] for item in one.items.tolist()) >= sorted(counts.values())[-12]
    truth = dict(zip(data.users.tolist(), data.y.tolist(), strict=True))
    assert [one.values[code] for code in one.y] == [data.values[truth[user]] for user in one.users.tolist()]
    assert all(np.flatnonzero(data.users == user)[0] % 5 for user in one.users)
    assert one.notes[0].startswith("takes 50 of 19")
    assert one.notes[0].endswith("the 12 most rated of 40 items")


def test_all_that_is_there_is_what_reading_the_table_whole_gives(plain, users, tmp_path):
    some = ag.sample_ratings(lay(plain, tmp_path / "r", 0), attributes=users, attribute="city")
    whole = ag.read_ratings(plain, attributes=users, attribute="city")
    told = whole.take(np.flatnonzero(whole.disclosed))
    assert some.users.tolist() == told.users.tolist()
    assert [some.values[code] for code in some.y] == [told.values[code] for code in told.y]
    assert (told.X[:, np.isin(told.items, some.items)] != some.X).nnz == 0


def test_tables_without_a_common_user_are_refused(plain, tmp_path):
    strangers = pa.table({"user": [f"x{k}" for k in range(40)], "city": ["a", "b"] * 20})
    with pytest.raises(DataError, match="no user in common"):
        ag.sample_ratings(lay(plain, tmp_path / "r", 0), attributes=strangers, attribute="city")
