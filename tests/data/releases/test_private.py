"""Columns that hold the private attribute: refused by their name and by what is in them, and no value is told."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import attriguard as ag
from attriguard.data.releases.release import make_release
from attriguard.errors import DataError

CITIES = ("Aachen", "Bonn", "Celle")
N = 90


def table(per_user=None, name="where", n=N, each=4, **columns):
    """Ratings of n users; ``per_user`` gives another column's cell for each user, ``columns`` cells for all rows."""
    user = np.repeat(np.arange(n), each)
    found = {"user": user, "item": np.tile(np.arange(each), n), "rating": np.tile([1, 2, 3, 5], n)[: n * each]}
    if per_user is not None:
        found[name] = np.array([per_user(u) for u in range(n)], dtype=object)[user]
    return pa.table(found | columns)


def read(ratings, value=lambda u: CITIES[u % 3], n=N, **options):
    people = pa.table({"user": np.arange(n), "city": [value(u) for u in range(n)]})
    return ag.read_ratings(ratings, attributes=people, attribute="city", **options)


@pytest.mark.parametrize("name", ["city", "City", "CITY", " city ", "c_i_t_y", "ci-ty", "City."])
def test_a_column_with_the_attributes_name_is_refused_however_it_is_written(name):
    data = read(table(lambda u: f"somewhere {u}", name))
    with pytest.raises(DataError, match="holds the private attribute itself") as told:
        make_release(data, data.X)
    assert repr(name) in str(told.value)
    assert "--drop-columns" in str(told.value)


def test_a_column_before_the_ratings_is_found_too():
    first = table(lambda u: "x", "CITY").select(["CITY", "user", "item", "rating"])
    with pytest.raises(DataError, match="'CITY'"):
        make_release(read(first), read(first).X)


TELLING = {
    "the very values": lambda u: CITIES[u % 3],
    "in capitals": lambda u: CITIES[u % 3].upper(),
    "codes": lambda u: (7, 1, 4)[u % 3],
    "a finer division": lambda u: f"{CITIES[u % 3]}, street {u % 9}",
    "for some users only": lambda u: CITIES[u % 3] if u < 45 else None,
    "for some users only, as text": lambda u: CITIES[u % 3] if u < 45 else " ",
}


@pytest.mark.parametrize("cell", TELLING.values(), ids=TELLING)
def test_a_column_that_tells_the_value_is_refused_whatever_its_name(cell):
    data = read(table(cell))
    with pytest.raises(DataError, match="column 'where' of the ratings table tells the private attribute") as told:
        make_release(data, data.X)
    assert not any(city.lower() in str(told.value).lower() for city in CITIES)


HARMLESS = {
    "another attribute": lambda u: "fm"[u // 3 % 2],
    "a name of every user": lambda u: f"name {u}",
    "the same for all": lambda u: "shop",
    "empty": lambda u: None,
    "one user differs": lambda u: CITIES[(u + (u == 50)) % 3],
    "structures": lambda u: {"code": u % 3},
}


@pytest.mark.parametrize("cell", HARMLESS.values(), ids=HARMLESS)
def test_other_columns_are_released(cell):
    data = read(table(cell))
    assert "where" in make_release(data, data.X).table.column_names


def test_a_column_that_goes_with_the_value_by_chance_is_released():
    """Of six users with two values, such a column is no evidence; of forty it is."""
    for n, refused in ((6, False), (40, True)):
        data = read(table(lambda u: "xy"[u % 2], n=n), lambda u: CITIES[u % 2], n)
        if refused:
            with pytest.raises(DataError, match="tells the private attribute"):
                make_release(data, data.X)
        else:
            make_release(data, data.X)


def test_a_rare_value_makes_no_column_look_guilty():
    """One user in a hundred has the value; a column that is pure in nearly all cells by chance alone stays."""
    rng = np.random.default_rng(0)
    shops = rng.integers(0, 60, 120)
    values = ["yes" if u in (3, 77) else "no" for u in range(120)]
    shops[[3, 77]] = (60, 61)
    data = read(table(lambda u: f"shop {shops[u]}", n=120), lambda u: values[u], 120)
    make_release(data, data.X)


def test_a_column_that_changes_within_a_user_is_released():
    """It goes with the value in every first row, and not in the others."""
    where = np.array([CITIES[u % 3] if k == 0 else CITIES[k % 3] for u in range(N) for k in range(4)])
    data = read(table(where=where))
    make_release(data, data.X)


def test_a_part_of_a_joint_attribute_is_refused():
    people = pa.table({
        "user": np.arange(N), "city": [CITIES[u % 3] for u in range(N)], "sex": ["fm"[u // 3 % 2] for u in range(N)]
    })  # fmt: skip
    for cell, name in ((lambda u: CITIES[u % 3], "town"), (lambda u: u // 3 % 2, "code"), (lambda u: 1, "Sex")):
        data = ag.read_ratings(table(cell, name), attributes=people, attribute=["city", "sex"])
        with pytest.raises(DataError, match=f"column {name!r}"):
            make_release(data, data.X)


def test_protect_refuses_it_too_and_drops_it_where_asked():
    """With a guard, for users of whom some are known; and for an own table."""
    twin = ag.load_dataset("twin", n_users=200, n_items=40, n_values=2, seed=1)
    plain = twin.to_arrow()
    user = plain["user"].to_numpy()
    home = pa.array([f"h{twin.y[u]}" for u in np.searchsorted(twin.users, user)])
    people = pa.table({"user": twin.users, "city": [f"c{y}" for y in twin.y]})
    options = {"attributes": people, "attribute": "city", "random_state": 0, "check": False}
    guard = ag.learn(plain, attributes=people, attribute="city", random_state=0)
    for own in (None, guard):
        with pytest.raises(DataError, match="column 'home' of the ratings table tells"):
            ag.protect(plain.append_column("home", home), own, **options)
        released = ag.protect(plain.append_column("home", home), own, drop_columns=["home"], **options)
        assert released.table.column_names == plain.column_names
