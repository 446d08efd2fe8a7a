"""Titles as sites write them, matched to the items of a guard; and what is never matched."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attriguard.exports.base import Row
from attriguard.exports.matching import Item, forms, make_index, match_rows, plain, split_year

FILMS = [
    "Piano, The (1993)", "City of Lost Children, The (Cité des enfants perdus, La) (1995)",
    "Seven (a.k.a. Se7en) (1995)",
    "Star Wars: Episode IV - A New Hope (1977)", "Star Wars: Episode V - The Empire Strikes Back (1980)",
    "Cinderella (1950)", "Cinderella (1997)", "Amelie (Fabuleux destin d'Amélie Poulain, Le) (2001)", "Heat (1995)",
    "Host, The (2006)", "Host (2020)", "Haine, La (1995)", "Alien (1979)", "Aliens (1986)", "!!! (2004)",
    "Spider-Man (2002)",
]  # fmt: skip
INDEX = make_index([Item(str(k + 1), title) for k, title in enumerate(FILMS)])


def matched(row, index=INDEX):
    found, missed = match_rows(index, [row])
    return (index.items[found[0].item].title, found[0].how) if found else [index.items[k].title for k in missed[0].near]


@pytest.mark.parametrize(
    ("title", "year", "expected"),
    [
        ("The Piano", 1993, "Piano, The (1993)"),
        ("the PIANO (1993)", None, "Piano, The (1993)"),
        ("Piano", 1994, "Piano, The (1993)"),  # shown a year later elsewhere
        ("La cité des enfants perdus", 1995, FILMS[1]),
        ("Se7en", 1995, FILMS[2]),
        ("Star Wars", 1977, FILMS[3]),
        ("Star Wars: Episode V – The Empire Strikes Back", 1980, FILMS[4]),
        ("Cinderella", 1997, "Cinderella (1997)"),
        ("Le Fabuleux Destin d’Amélie Poulain", 2001, FILMS[7]),
        ("AMÉLIE", 2001, FILMS[7]),
        ("La Haine", 1995, "Haine, La (1995)"),
        ("!!!", 2004, "!!! (2004)"),
        ("Spider Man", 2002, "Spider-Man (2002)"),
        ("The Host", 2006, "Host, The (2006)"),
    ],
)
def test_one_film_written_in_many_ways(title, year, expected):
    assert matched(Row(None, title, year)) == (expected, "title and year")


def test_without_a_year_the_title_must_leave_no_doubt():
    assert matched(Row(None, "Heat")) == ("Heat (1995)", "title")
    assert matched(Row(None, "Host")) == ("Host (2020)", "title")  # written just so
    assert matched(Row(None, "The Host")) == ("Host, The (2006)", "title")
    assert matched(Row(None, "Cinderella")) == ["Cinderella (1950)", "Cinderella (1997)"]
    assert matched(Row(None, "Star Wars")) == FILMS[3:5]
    assert matched(Row(None, "Heat: The Making of")) == ["Heat (1995)"]  # near, but its year is not known


def test_another_year_is_another_film():
    assert matched(Row(None, "Cinderella", 2015)) == ["Cinderella (1950)", "Cinderella (1997)"]
    assert matched(Row(None, "Aliens", 1979)) == ["Aliens (1986)", "Alien (1979)"]


def test_where_no_years_are_known_a_subtitle_may_be_missing():
    apps = make_index([Item("uber", "Uber"), Item("lyft", "Lyft: Get a ride"), Item("x", "Maps"), Item("y", "Maps")])
    assert matched(Row(None, "Uber - Request a ride"), apps) == ("Uber", "title")
    assert matched(Row(None, "Lyft"), apps) == ("Lyft: Get a ride", "title")
    assert matched(Row(None, "Lyft: Drive"), apps) == ["Lyft: Get a ride"]  # two subtitles are two apps
    found, _ = match_rows(apps, [Row(None, "maps")])
    assert found[0].item == 2  # nothing tells the two apart: the first


def test_ids_count_where_they_cannot_mean_something_else():
    index = make_index([Item("tt0113277", "Heat", 1995), Item("7", "Sabrina (1995)"), Item("9780062316097", "Sapiens")])
    assert matched(Row("tt0113277", "Hitze", 1995), index) == ("Heat", "id")
    assert matched(Row("7", "Sabrina", 1995), index) == ("Sabrina (1995)", "id")
    assert matched(Row("7", "Cowboy Bebop"), index) == []  # number 7 of another catalogue
    assert matched(Row("33", "Eine kurze Geschichte", also=("9780062316097",)), index) == ("Sapiens", "id")
    bare = make_index([Item("7", "7"), Item("8", "8")])  # a guard that knows ids alone
    assert matched(Row("8", "Sabrina", 1995), bare) == ("8", "id")


def test_near_titles_are_the_nearest_and_few_rows_are_looked_up():
    assert matched(Row(None, "Spiderman", 2002))[0] == "Spider-Man (2002)"
    rows = [Row(None, f"Pianoo {k}") for k in range(250)]
    _, missed = match_rows(INDEX, rows)
    assert [unmatched.row for unmatched in missed] == list(range(250))
    assert missed[0].near[0] == 0
    assert [bool(unmatched.near) for unmatched in missed] == [True] * 200 + [False] * 50


titles = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=25)
words = st.lists(st.text(string.ascii_lowercase, min_size=2, max_size=8), min_size=1, max_size=4).map(" ".join)


@given(titles)
def test_a_plain_title_stays_plain(title):
    assert plain(plain(title)) == plain(title)


@given(words, st.sampled_from(["", "The ", "A ", "An "]), st.integers(1900, 2030), st.booleans(), st.booleans())
def test_case_accents_articles_and_years_in_brackets_do_not_matter(name, article, year, behind, accents):
    spelt = name.replace("e", "é").replace("o", "Ö") if accents else name.upper()
    written = f"{spelt}, {article.strip()}" if behind and article else article + spelt
    assert split_year(f"{written} ({year})") == (written, year)
    index = make_index([Item("1", f"{article}{name}", year)])
    found, _ = match_rows(index, [Row(None, f"{written} ({year})")])
    assert found == [(0, 0, "title and year")]


@given(st.lists(titles, min_size=1, max_size=6), titles)
def test_every_row_is_matched_once_or_not_at_all(known, title):
    index = make_index([Item(f"item {k}", one) for k, one in enumerate(known)])
    found, missed = match_rows(index, [Row(None, one) for one in (*known, title)])
    assert sorted(each.row for each in (*found, *missed)) == [*range(len(known) + 1)]
    for match in found:
        written = (*known, title)[match.row]
        mine, theirs = forms(written), index.forms[match.item]
        assert {*mine.whole, *mine.short} & {*theirs.whole, *theirs.short}
