"""Names of made-up data: readable, and never twice the same."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

from attriguard.data.named.twin_names import CITIES, app_names, city_countries, city_names


@pytest.mark.parametrize("n", [2, 25, 100, 101, 350])
def test_city_names_differ(n: int) -> None:
    names = city_names(n)
    assert len(names) == len(set(names)) == n
    assert all(name.strip() == name and name for name in names)


def test_well_known_cities_come_first_and_are_numbered_after_the_list() -> None:
    assert city_names(4) == ("New York", "London", "Tokyo", "Paris")
    more = city_names(len(CITIES) + 21)
    assert more[: len(CITIES)] == tuple(city for city, _ in CITIES)
    assert more[-1] == "Rome 2"


def test_the_first_25_cities_hold_one_large_country_and_two_pairs() -> None:
    assert sorted(np.bincount(city_countries(25)).tolist())[-4:] == [1, 2, 2, 5]
    assert len(set(city_countries(4).tolist())) == 4


def test_numbered_cities_lie_in_countries_of_their_own() -> None:
    countries = city_countries(2 * len(CITIES))
    assert not set(countries[: len(CITIES)]) & set(countries[len(CITIES) :])


def test_app_names_differ_however_many() -> None:
    names = app_names(200_000)
    assert np.unique(names).size == 200_000
    assert names[-1].endswith(" 2")  # past all combinations, a number keeps them apart


def test_app_names_read_like_apps() -> None:
    names = app_names(10_000).tolist()
    assert all(re.fullmatch(r"[A-Z][a-z]+ [A-Z][a-z]+( [A-Z][A-Za-z]+)?", name) for name in names)
    assert not {name.split()[0] for name in names} & {city.split()[0] for city, _ in CITIES}
    assert all(a.split()[:2] != b.split()[:2] for a, b in pairwise(names))


def test_local_apps_are_called_after_their_place() -> None:
    places = ["Paris", "", "Paris", "Rome", ""] * 500
    names = app_names(len(places), places=places)
    assert np.unique(names).size == names.size
    for name, place in zip(names.tolist(), places, strict=True):
        assert name.startswith(f"{place} ") if place else not name.startswith(("Paris", "Rome"))


def test_the_same_names_every_time() -> None:
    assert app_names(50).tolist() == app_names(80)[:50].tolist()
