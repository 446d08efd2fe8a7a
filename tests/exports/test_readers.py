"""Every format that people download, read from a file made by hand: the rows, the scale, and what is told."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import attriguard as ag
from attriguard.exports import archive
from attriguard.exports.base import Row, number
from attriguard.exports.reader import SITES, parse_export
from attriguard.exports.scales import Scale, entry_of, scale_note

FIXTURES = Path(__file__).parent / "fixtures"
HALVES, POINTS, STARS = Scale(0.5, 5, 0.5), Scale(1, 10, 1), Scale(1, 5, 1)
LIKES = Scale(0, 1, 1)
TWICE = "the last rating of a title counts"

# The format, the scale, the rows and the notes of each file.
KNOWN = {
    "letterboxd_ratings.csv": (
        "Letterboxd", HALVES,
        [
            ("https://boxd.it/1zQA", "The Piano", 1993, 4.5),
            ("https://boxd.it/29Ki", "Crouching Tiger, Hidden Dragon", 2000, 5.0),
            ("https://boxd.it/2aBs", "Amélie", 2001, 0.5),
            ("https://boxd.it/1Qw2", 'The "Burbs', 1989, None),
            ("https://boxd.it/2bg6", "Heat", 1995, 4.0),
            ("https://boxd.it/2b0k", "Alien³", 1992, 2.5),
            ("https://boxd.it/9ZZ1", "<b>Bold</b>", 2015, 3.5),
        ],
        (f"8 rows name 7 titles; {TWICE}",),
    ),
    "letterboxd_watched.csv": (
        "Letterboxd", None,
        [("https://boxd.it/1zQA", "The Piano", 1993, None), ("https://boxd.it/28Ue", "Stalker", 1979, None)],
        ("1 row without a title left out",),
    ),
    "letterboxd_diary.csv": (
        "Letterboxd", HALVES,
        [(None, "Stalker", 1979, 4.5), (None, "Paris Is Burning", 1990, None)],
        (f"3 rows name 2 titles; {TWICE}",),
    ),
    "letterboxd_reviews.csv": (
        "Letterboxd", HALVES, [(None, "Stalker", 1979, 4.0), (None, "Wings of Desire", 1987, 5.0)], (),
    ),
    "imdb.csv": (
        "IMDb", POINTS,
        [
            ("tt0107822", "The Piano", 1993, 9.0),
            ("tt0903747", "Breaking Bad", 2008, 10.0),
            ("tt0169547", 'American, "Beauty"', 1999, 1.0),
            ("tt0113277", "Heat", 1995, 7.0),
        ],
        (f"5 rows name 4 titles; {TWICE}",),
    ),
    "imdb_old.csv": (
        "IMDb", POINTS,
        [
            ("tt0107822", "The Piano", 1993, 8.0),
            ("tt0083658", "Blade Runner", 1982, None),
            ("tt0211915", "Le fabuleux destin d'Amélie Poulain", 2001, 6.0),
        ],
        ("1 rating that the site's scale does not have left out",),
    ),
    "goodreads.csv": (
        "Goodreads", STARS,
        [
            ("34", "The Fellowship of the Ring (The Lord of the Rings, #1)", 1954, 4.0,
             ("0618346252", "9780618346257")),
            ("7234", "Sapiens: A Brief History of Humankind", 2011, 3.0, ("9780062316097",)),
            ("5107", "The Catcher in the Rye", 1951, None, ("0316769177", "9780316769174")),
        ],
        ("1 title that you have yet to begin left out", f"4 rows name 3 titles; {TWICE}"),
    ),
    "storygraph.csv": (
        "StoryGraph", Scale(0.25, 5, 0.25),
        [
            ("9781526622426", "Piranesi", None, 4.75),
            ("9780062316097", "Sapiens", None, None),
            ("a1b2c3d4-0000", "Solaris", None, 2.0),
        ],
        ("1 title that you have yet to begin left out",),
    ),
    "netflix_history.csv": (
        "Netflix", None,
        [
            (None, "Dark"), (None, "The Queen's Gambit"), (None, "The Hunger Games: Mockingjay: Part 1"),
            (None, "Roma"), (None, "Money Heist"),
        ],
        ("episodes count as their series", "6 rows name 5 titles; each counts once"),
    ),
    "netflix_activity.csv": (
        "Netflix", None, [(None, "Dark"), (None, "Roma")],
        ("2 profiles are in this file, and all of them count", "episodes count as their series"),
    ),
    "netflix_ratings.csv": (
        "Netflix", STARS,
        [
            (None, "Heat", None, 4.0), (None, "Roma", None, 4.0), (None, "Crouching Tiger, Hidden Dragon", None, 1.0),
            (None, "Dark", None, 5.0), (None, "Amélie", None, None),
        ],
        ("thumbs count as stars: down is 1, up is 4, two thumbs up are 5",),
    ),
    "myanimelist.xml": (
        "MyAnimeList", POINTS,
        [
            ("1", "Cowboy Bebop", None, 9.0),
            ("5114", "Fullmetal Alchemist: Brotherhood & friends — été", None, None),
            ("199", "Sen to Chihiro no Kamikakushi", None, 10.0),
        ],
        ("1 title that you have yet to begin left out",),
    ),
    "trakt_ratings.json": (
        "Trakt", POINTS,
        [
            ("tt0107822", "The Piano", 1993, 7.0, ("713",)),
            (None, "<img src=x onerror=alert(1)>", None, 3.0),
            ("tt5753856", "Dark", 2017, 8.0, ("70523",)),
        ],
        ("1 rating of seasons and episodes left out", f"4 rows name 3 titles; {TWICE}"),
    ),
    "lastfm.csv": (
        "Last.fm", None,
        [
            (None, "Björk", None, None, ("87c5dedd-371d-4a53-9f7f-80522fb7f3cb",)), (None, "Simon & Garfunkel"),
            (None, "!!!"),
        ],
        ("artists count, however often you heard them", "4 rows name 3 titles; each counts once"),
    ),
    "steam.json": ("Steam", None, [("620", "Portal 2"), ("400", "Portal")], ("1 row without a title left out",)),
    "takeout_installs.json": (
        "Google Play", None, [(None, "Uber - Request a ride"), (None, "Öffi – Journey Planner")],
        ("1 row without a title left out", "3 rows name 2 titles; each counts once"),
    ),
    "any.csv": (
        "CSV with titles", HALVES,
        [(None, "Piano, The (1993)", None, 4.5), (None, "Heat", 1995, 3.0), (None, "Am;élie", 2001, None),
         (None, "Alien", 1979, 0.5)],
        ("ratings taken to be 0.5 to 5 in steps of 0.5",),
    ),
}  # fmt: skip


def test_every_fixture_is_known():
    assert {path.name for path in FIXTURES.iterdir()} == {*KNOWN, "none.csv"}
    assert {name for name, *_ in KNOWN.values()} == {*SITES, "CSV with titles"}


@pytest.mark.parametrize("name", KNOWN)
def test_a_file_is_read_as_it_stands(name):
    export = ag.read_export(FIXTURES / name)
    form, scale, rows, notes = KNOWN[name]
    assert (export.format, export.scale) == (form, scale)
    assert export.rows == tuple(Row(*row) for row in rows)
    assert export.notes == notes


@pytest.mark.parametrize("name", [name for name in KNOWN if name.endswith(".csv")])
def test_the_order_of_columns_bom_and_line_ends_do_not_matter(name):
    """The same rows, whatever program has saved the file again."""
    from attriguard.exports.sheet import parse_sheet

    content = (FIXTURES / name).read_bytes()
    text = content.decode("cp1252" if name == "imdb_old.csv" else "utf-8-sig")
    delimiter = ";" if name == "any.csv" else ","
    import csv

    records = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    out = io.StringIO(newline="")
    csv.writer(out, delimiter="\t", quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerows(
        record[::-1] for record in records
    )
    again = parse_export(name, b"\xef\xbb\xbf" + out.getvalue().encode())
    assert again == parse_export(name, content)
    assert parse_export(name, text.encode("utf-16")) == again
    assert parse_sheet("", name).records == []


def test_ten_thousand_rows(tmp_path):
    lines = [f"2020-01-01,Film {k},{1900 + k % 120},https://boxd.it/{k},{k % 10 / 2 + 0.5:g}" for k in range(10_000)]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(["Date,Name,Year,Letterboxd URI,Rating", *lines]))
    export = ag.read_export(path)
    assert len(export.rows) == 10_000
    assert export.rows[9_999] == Row("https://boxd.it/9999", "Film 9999", 1900 + 9999 % 120, 5.0)
    assert export.notes == ()


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("none.csv", (FIXTURES / "none.csv").read_bytes(), "none.csv is no export that is known: Letterboxd, IMDb"),
        ("empty.csv", b"\xef\xbb\xbf \n", "empty.csv is empty"),
        ("photo.csv", b"\x89PNG\r\n\0\0\0", "photo.csv is no text"),
        ("cut.json", b'[{"movie": {"title": "He', "cut.json is no whole JSON file"),
        ("deep.json", b"[" * 100_000, "deep.json is no whole JSON file"),
        ("page.xml", b"<html><br></html>", "page.xml is no whole XML file"),
        ("other.xml", b"<feed><entry/></feed>", "other.xml is no export that is known"),
        ("empty.json", b"{}", "empty.json is no export that is known"),
        ("cut.zip", b"PK\x03\x04 and no more", "cut.zip is not a whole zip file"),
        ("quote.csv", b'Title,Date\n"' + b"a" * 200_000, "quote.csv cannot be read as CSV; look for a double quote"),
        ("table.csv", b"user,title,rating\n1,Heat,4\n", "this is a table of many people: it has a column 'user'"),
    ],
)  # fmt: skip
def test_what_is_no_export_gives_one_clear_line(name, content, line):
    with pytest.raises(ag.errors.DataError) as caught:
        parse_export(name, content)
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "doctype",
    [
        b'<!DOCTYPE myanimelist [<!ENTITY t SYSTEM "file:///etc/hostname">]>',
        b'<!DOCTYPE myanimelist [<!ENTITY a "ha"><!ENTITY t "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
        b'<!DOCTYPE myanimelist SYSTEM "http://localhost/list.dtd">',
    ],
)
def test_xml_with_a_document_type_is_refused(doctype):
    body = b"<myanimelist><anime><series_title>&t;</series_title></anime></myanimelist>"
    with pytest.raises(ag.errors.DataError, match="has a document type"):
        parse_export("list.xml", b"<?xml version='1.0'?>" + doctype + body)


@given(st.sampled_from(sorted(KNOWN)), st.data())
def test_a_damaged_file_is_read_or_refused(name, data):
    """Cut, with bytes of its own in other places, or with bytes that no file has: never another error."""
    content = (FIXTURES / name).read_bytes()
    at, end = sorted(data.draw(st.tuples(st.integers(0, len(content)), st.integers(0, len(content)))))
    damaged = content[:at] + data.draw(st.binary(max_size=8)) + content[end:]
    try:
        export = parse_export(name, damaged)
    except ag.errors.DataError:
        return
    assert all(row.title and (row.rating is None or export.scale.holds(row.rating)) for row in export.rows)


def packed(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def test_of_a_zip_file_the_file_with_most_ratings_is_read(tmp_path):
    ratings, watched = (FIXTURES / f"letterboxd_{kind}.csv" for kind in ("ratings", "watched"))
    files = {
        "profile.csv": b"Date Joined,Username\n2020-01-01,ada\n",
        "deleted/ratings.csv": ratings.read_bytes() * 2,
        "watched.csv": watched.read_bytes(),
        "letterboxd/ratings.csv": ratings.read_bytes(),
        "photo.jpg": b"\0" * 1000,
    }
    path = tmp_path / "letterboxd.zip"
    path.write_bytes(packed(files))
    export, alone = ag.read_export(path), ag.read_export(ratings)
    assert export.rows == alone.rows
    assert export.notes == ("read letterboxd/ratings.csv of letterboxd.zip", *alone.notes)
    with pytest.raises(ag.errors.DataError, match="holds no export that is known"):
        parse_export("a.zip", packed({"none.csv": (FIXTURES / "none.csv").read_bytes()}))


def test_a_zip_file_is_bounded(monkeypatch):
    bomb = packed({"ratings.csv": b"Title,Date\n" + b"a,b\n" * 100_000})
    monkeypatch.setattr(archive, "MOST_BYTES", 200_000)
    assert len(bomb) < 5_000
    with pytest.raises(ag.errors.DataError, match="too large for one person's export"):
        parse_export("bomb.zip", bomb)


def test_a_packed_list_is_unpacked(tmp_path):
    path = tmp_path / "animelist.xml.gz"
    path.write_bytes(gzip.compress((FIXTURES / "myanimelist.xml").read_bytes()))
    assert ag.read_export(path) == ag.read_export(FIXTURES / "myanimelist.xml")


@pytest.mark.parametrize(
    ("ratings", "scale"),
    [([1, 3, 5], STARS), ([0.5, 4], HALVES), ([4.25], Scale(0.25, 5, 0.25)), ([7, 2], POINTS), ([85], Scale(1, 100, 1)),
     ([1, 1], LIKES), ([], None)],
)  # fmt: skip
def test_the_scale_of_any_csv_is_the_usual_one_that_holds_its_ratings(ratings, scale):
    content = "title,rating\n" + "".join(f"Film {k},{rating}\n" for k, rating in enumerate(ratings or [""]))
    assert parse_export("any.csv", content.encode()).scale == scale


def test_ratings_become_the_nearest_of_the_guards_scale():
    half = [entry_of(stars, HALVES, STARS) for stars in (0.5, 1, 1.5, 2.5, 4, 4.5, 5)]
    assert half == [0.2, 0.2, 0.4, 0.6, 0.8, 1.0, 1.0]  # a half is rounded up, and the lowest rating is one
    assert [entry_of(points, POINTS, STARS) for points in (1, 2, 7, 8, 10)] == [0.2, 0.2, 0.8, 0.8, 1.0]
    assert entry_of(3, STARS, HALVES) == 0.6  # three stars are three stars
    assert entry_of(None, STARS, STARS) is None
    assert entry_of(None, None, STARS) == entry_of(1, STARS, LIKES) == entry_of(None, STARS, LIKES) == 1.0
    assert entry_of(2, STARS, None) == 0.4
    assert scale_note(STARS, STARS) == scale_note(None, LIKES) == ""
    assert scale_note(HALVES, STARS).startswith("your ratings, 0.5 to 5 in steps of 0.5, become the nearest of 1 to 5")


@given(st.sampled_from([HALVES, POINTS, STARS, Scale(1, 100, 1), Scale(0.25, 5, 0.25)]), st.data())
def test_a_scale_maps_in_order_and_onto_itself(scale, data):
    rating = st.integers(0, scale.levels - 1).map(lambda level: scale.low + level * scale.step)
    one, two = sorted([data.draw(rating), data.draw(rating)])
    assert scale.holds(one)
    assert not scale.holds(one + scale.step / 3)
    assert scale.nearest(scale.unit(one)) == pytest.approx(scale.unit(one))
    for other in (STARS, HALVES, POINTS):
        assert entry_of(one, scale, other) <= entry_of(two, scale, other)
    assert 0 < scale.unit(one) <= 1


@given(st.text(max_size=12))
def test_a_rating_is_a_plain_positive_number_or_none(text):
    found = number(text)
    assert found is None or (found > 0 and float(text.strip().replace(",", ".")) == found)


def test_an_export_is_a_table_of_one_user(tmp_path):
    data = ag.read_ratings(FIXTURES / "letterboxd_ratings.csv")
    assert (data.users.tolist(), str(data.scale)) == (["me"], "0.5 to 5 in steps of 0.5")
    rated = dict(zip(data.items.tolist(), data.scale.from_unit(data.X.toarray()[0]).tolist(), strict=True))
    assert rated["The Piano (1993)"] == 4.5
    assert rated["Heat (1995)"] == 4.0
    assert 'The "Burbs (1989)' not in rated
    likes = ag.read_ratings(FIXTURES / "takeout_installs.json")
    assert likes.scale.is_likes
    assert likes.items.tolist() == ["Uber - Request a ride", "Öffi – Journey Planner"]
    family = tmp_path / "family.csv"  # whoever adds a column of users has a table of many people
    family.write_text("user,Date,Name,Year,Letterboxd URI,Rating\n" + "".join(
        f"{user},2020-01-01,Heat,1995,https://boxd.it/2bg6,4\n" for user in ("ada", "bo")
    ))  # fmt: skip
    assert ag.read_ratings(family, item="Name").n_users == 2
    with pytest.raises(ag.errors.DataError, match="a list of your own is read by: attriguard me"):
        ag.read_ratings(FIXTURES / "any.csv")
    with pytest.raises(ag.errors.DataError, match="there is no file"):
        ag.read_ratings(tmp_path / "nothing.zip")
    json.dumps(ag.read_export(FIXTURES / "imdb.csv").rows)  # plain data
