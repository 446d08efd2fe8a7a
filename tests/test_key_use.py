"""What a release owes to its key: attributes apart, draws that can be repeated, and no seed that could be found out."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2_contingency

import attriguard as ag
from attriguard.errors import DataError, ReleaseRefusedError

KEY = b"0123456789abcdef"


@pytest.fixture(scope="module")
def data():
    return ag.load_dataset("twin", n_users=2000, n_items=60, n_values=2, seed=3)


@pytest.fixture(scope="module")
def guard(data):
    return ag.learn(data, goal="mislead", budget=1.0, random_state=0)


def renamed(guard, attribute):
    """The same guard, told that it hides another attribute."""
    other = copy.copy(guard)
    other.metadata_ = guard.metadata_ | {"attribute": attribute}
    return other


def test_releases_for_two_attributes_under_one_key_draw_independently(data, guard):
    """The guard is the same, so that a shared draw would give the same release."""
    plans = [renamed(guard, name).plan(data.X, users=data.users) for name in ("city", "gender", "City ")]
    city, gender, again = (plan.draw(key=KEY) for plan in plans)
    assert (city == again).all()
    # Users whose two values are drawn with about equal probability have a draw to share.
    open_users = np.abs(plans[0].probabilities[:, 0] - 0.5) < 0.25
    assert open_users.sum() > 200
    counts = np.histogram2d(city[open_users], gender[open_users], bins=2)[0]
    assert chi2_contingency(counts).pvalue > 1e-3


def test_the_table_of_a_release_is_the_draw_of_its_plan(data, guard):
    """Who keeps the key can make the release again from the plan, with the key that he knows."""
    released = ag.protect(data.to_arrow(), guard, key=KEY)
    assert released.plan.attribute == data.attribute
    expected = released.plan.release(key=KEY)
    read = ag.read_ratings(released.table, scale=data.scale)
    assert read.X.nnz == expected.nnz
    other = ag.protect(data.to_arrow(), renamed(guard, "gender"), key=KEY)
    assert not other.table.equals(released.table)


def test_an_unseeded_release_uses_no_generator_but_the_operating_systems(data, guard, monkeypatch):
    """A generator's state can be found out from what it draws; a fresh key that is thrown away cannot."""
    keys = []

    def fresh():
        keys.append(bytes([len(keys)]) * 8 + bytes(range(24)))
        return keys[-1]

    monkeypatch.setattr("attriguard.operations.wishes.fresh_key", fresh)
    monkeypatch.setattr("attriguard._checks.secrets.randbits", lambda bits: 0)
    small = data.take(np.arange(200))
    one, two = ag.protect(small, guard, check=False), ag.protect(small, guard, check=False)
    assert len(keys) == 2
    assert not one.table.equals(two.table)
    assert one.table.equals(ag.protect(small, guard, key=keys[0], check=False).table)
    for given in ({"key": KEY}, {"random_state": 0}):
        ag.protect(small, guard, check=False, **given)
    assert len(keys) == 2
    assert keys[0].hex() not in repr(vars(one))


def test_a_plan_without_key_and_seed_draws_anew(guard, data):
    plan = guard.plan(data.X)
    assert (plan.draw() != plan.draw()).any()
    assert (plan.draw(7) == plan.draw(7)).all()


def likes_of(data, zeros):
    """A table of ratings 1, and 0 for (user, item) pairs that nobody likes."""
    X = data.X.tocoo()
    users, items = (ids.astype(np.int64) for ids in X.coords)
    table = pa.table({"user": users, "item": items, "rating": np.ones(users.size, dtype=np.int64)})
    no = pa.table({"user": np.arange(zeros), "item": np.full(zeros, 999), "rating": np.zeros(zeros, dtype=np.int64)})
    return pa.concat_tables([table, no]).sort_by("user")


def test_ratings_of_0_and_1_are_read_as_fit_read_them(data):
    """A 0 is no like: the guard does not see it, and it stays; every new row has a rating."""
    table = likes_of(data, 150)
    people = pa.table({"user": np.arange(data.n_users), "city": [f"c{y}" for y in data.y]})
    guard = ag.learn(table, attributes=people, attribute="city", goal="mislead", random_state=0)
    released = ag.protect(table, guard, key=KEY)
    assert released.data.X.nnz == data.X.nnz
    assert released.summary.added > 50
    assert set(released.table["rating"].to_pylist()) <= {0, 1}
    assert released.table["rating"].null_count == 0
    stars = table.set_column(2, "rating", pa.array(np.full(table.num_rows, 4)))
    with pytest.raises(DataError, match=rf"rating 4 is not on the scale 0 to 1 .*\({table.num_rows:,} such rows"):
        ag.protect(stars, guard, key=KEY)
    bare = ag.learn(table.select(["user", "item"]), attributes=people, attribute="city", random_state=0)
    assert ag.protect(stars, bare, key=KEY).data.scale.is_likes  # fit saw likes: every row is one


def few_ratings(data, n_single):
    """The table in which some users have one rating only."""
    table = data.to_arrow()
    user = np.searchsorted(data.users, table["user"].to_numpy())
    first = np.append(True, user[1:] != user[:-1])
    return table.filter(pa.array(first | (user >= n_single)))


@pytest.fixture(scope="module")
def people(data):
    return {"attributes": pa.table({"user": data.users, "city": [f"c{y}" for y in data.y]}), "attribute": "city"}


def test_users_without_a_rating_left_are_counted(data, people):
    released = ag.protect(few_ratings(data, 300), members=2, check=False, key=KEY, budget=2.0, **people)
    left = len(released.table["user"].unique())
    assert 1700 <= left < 2000
    told = [line for line in released.warnings if "have no rating left" in line]
    assert told == [line for line in told if line.startswith(f"{2000 - left:,} of 2,000 users have no rating left")]
    assert len(told) == 1
    none = ag.protect(data.to_arrow(), members=2, check=False, key=KEY, budget=1.0, **people)
    assert len(none.table["user"].unique()) == 2000
    assert not any("no rating left" in line for line in none.warnings)


def test_an_empty_release_is_refused(data, people, tmp_path):
    released = ag.protect(
        few_ratings(data, 2000), members=2, check=False, key=KEY, budget=4.0, budget_over="user", **people
    )
    assert released.table.num_rows == 0
    for each in (released, replace(released, even_if_worse=True)):
        with pytest.raises(ReleaseRefusedError, match="this release is empty: none of the 2,000 users"):
            each.save(tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
