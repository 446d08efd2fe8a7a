"""The readers and the matching of the page against those of the package: the same rows, the same matches."""

from __future__ import annotations

import base64
import gzip
import io
import json
import random
import zipfile
from dataclasses import asdict
from pathlib import Path

import pytest
from chromium import BrowserError, Chromium, find_chromium

import attriguard as ag
from attriguard.exports.base import Row
from attriguard.exports.matching import Item, make_index, match_rows, plain
from attriguard.exports.reader import parse_export
from attriguard.exports.scales import Scale, entry_of, scale_note

ROOT = Path(__file__).parents[2]
MODULES = ROOT / "src" / "attriguard" / "page" / "js"
FIXTURES = ROOT / "tests" / "exports" / "fixtures"
NAMES = sorted(path.name for path in FIXTURES.iterdir() if path.name != "none.csv")
SCALES = [
    None,
    Scale(0.5, 5, 0.5),
    Scale(1, 10, 1),
    Scale(1, 5, 1),
    Scale(0.25, 5, 0.25),
    Scale(1, 100, 1),
    Scale(0, 1, 1),
]

SETUP = """
Promise.all(["exports", "matching", "scales", "zip"].map((name) => import(`FOLDER/${name}.js`))).then((all) => {
  Object.assign(globalThis, ...all);
  globalThis.bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  globalThis.textOf = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  globalThis.read = (name, text) => readExport(name, bytesOf(text)).then(
    ({format, rows, scale, notes}) => ({format, rows, scale, notes}), (error) => ({error: error.message}));
  globalThis.rewrite = async (name, text, edits) => {
    const {original} = await readExport(name, bytesOf(text));
    const written = await writeExport(original, edits);
    return [written.name, textOf(written.bytes)];
  };
})
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if find_chromium() is None:
        pytest.skip("there is no Chromium here to run the page's modules in")
    page = tmp_path_factory.mktemp("page") / "blank.html"
    page.write_text("<!doctype html><title>blank</title>")
    with Chromium("--allow-file-access-from-files") as browser:
        browser.open(page)
        browser.evaluate(SETUP.replace("FOLDER", MODULES.as_uri()))
        yield browser


def coded(content):
    return base64.b64encode(content).decode()


def in_python(name, content):
    """What the package reads, as JSON has it."""
    try:
        export = parse_export(name, content)
    except ag.errors.DataError as error:
        return {"error": str(error)}
    scale = None if export.scale is None else export.scale._asdict()
    return json.loads(json.dumps({**asdict(export), "rows": [row._asdict() for row in export.rows], "scale": scale}))


@pytest.mark.parametrize("name", NAMES)
def test_a_file_has_the_same_rows(browser, name):
    content = (FIXTURES / name).read_bytes()
    expected = in_python(name, content)
    assert expected["rows"]
    assert browser.call("read", name, coded(content)) == expected


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("none.csv", b"temperature,pressure\n21.5,1013\n"),
        ("empty.csv", b"\xef\xbb\xbf \n"),
        ("photo.csv", b"\x89PNG\r\n\0\0\0"),
        ("cut.json", b'[{"movie": {"title": "He'),
        ("deep.json", b"[" * 100_000),
        ("page.xml", b"<html><br></html>"),
        ("other.xml", b"<feed><entry/></feed>"),
        ("two.xml", b"<myanimelist></myanimelist><more/>"),
        ("entity.xml", b"<myanimelist><anime><series_title>&nbsp;</series_title></anime></myanimelist>"),
        ("type.xml", b'<!DOCTYPE a [<!ENTITY t SYSTEM "file:///etc/hostname">]><myanimelist><anime/></myanimelist>'),
        ("empty.json", b"{}"),
        ("cut.zip", b"PK\x03\x04 and no more"),
        ("quote.csv", b'Title,Date\n"' + b"a" * 200_000),
        ("table.csv", b"user,title,rating\n1,Heat,4\n"),
    ],
)
def test_what_is_no_export_gives_the_same_line(browser, name, content):
    expected = in_python(name, content)
    assert "error" in expected
    assert browser.call("read", name, coded(content)) == expected


AWKWARD = {
    "quotes": b'title,rating\n"a ""b"" c",5\nd "e" f,4\n"g"h,3\n"i\r\nj",2\n\n"",1\n k ,\n',
    "old line ends": b"title,rating\ra,5\rb,4\r",
    "no last line end": b"title;rating\na;5\nb;4,5",
    "short rows": b"year,title,rating\n1999\n2000,b\n2001.0,c,3,more\n",
    "bars": "title|year\n„Größe“|1999\nΟΔΟΣ|x\n".encode(),
    "an unclosed quote": b'title,rating\na,5\n"b,4\nc,3\n',
    "utf-16": "title,rating\na,5\n".encode("utf-16"),
    "many": ("title,rating\n" + "".join(f"Film {k},{k % 5 + 1}\n" for k in range(1200)) * 2).encode(),
    "an empty score": b"<myanimelist><anime><series_title>A</series_title><my_score/></anime></myanimelist>",
    "strange JSON": b'[1, null, "x", {"movie": 3}, {"movie": {"title": 7, "year": "99"}, "rating": "8"}, {"show": {}}]',
    "library": b'[{"libraryDoc": {"doc": {"title": " Maps "}}}, {"install": []}]',
    "points": b"name,score\na,85\nb,0\nc,101\n",
}


@pytest.mark.parametrize("case", AWKWARD)
def test_awkward_files_have_the_same_rows(browser, case):
    expected = in_python(case, AWKWARD[case])
    assert expected["rows"]
    assert browser.call("read", case, coded(AWKWARD[case])) == expected


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_packed_files_are_opened(browser, method):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.comment = b"made by hand"
        for name in NAMES:
            if name.startswith("letterboxd"):
                archive.write(FIXTURES / name, f"export/{name}")
        archive.writestr("deleted/ratings.csv", (FIXTURES / "letterboxd_ratings.csv").read_bytes() * 2)
        archive.writestr("profile.csv", "Date Joined,Username\n2020-01-01,ada\n")
    expected = in_python("letterboxd.zip", out.getvalue())
    assert expected["notes"][0] == "read export/letterboxd_ratings.csv of letterboxd.zip"
    assert browser.call("read", "letterboxd.zip", coded(out.getvalue())) == expected
    with pytest.raises(BrowserError, match="more than may be"):
        browser.call("(zip) => openZip(bytesOf(zip))[0].bytes(100)", coded(out.getvalue()))
    size = (FIXTURES / "letterboxd_diary.csv").stat().st_size
    lying = out.getvalue().replace(size.to_bytes(4, "little"), (size - 9).to_bytes(4, "little"))
    for broken in (out.getvalue()[:-40], *([lying] if method == zipfile.ZIP_DEFLATED else [])):
        assert "is not a whole zip file" in in_python("cut.zip", broken)["error"]
        assert browser.call("read", "cut.zip", coded(broken)) == in_python("cut.zip", broken)


def test_a_gzip_is_opened(browser):
    content = (FIXTURES / "myanimelist.xml").read_bytes()
    found = browser.call("read", "list.xml.gz", coded(gzip.compress(content)))
    assert found == in_python("list.xml.gz", content)
    cut = browser.call("read", "list.xml.gz", coded(gzip.compress(content)[:50]))
    assert cut == {"error": "list.xml.gz is not a whole gzip file; download it again"}


LETTERS = "abcdefg ABC éÖñçşİıßæøłðþ ΩΣσς ДЖж 映画 ½²… –-:'’\"&()[]#.,!/0123456789"


def titles(n, seed=0):
    """Titles made of everything that a title may have, and of what matching looks for."""
    chance = random.Random(seed)
    parts = [
        "The ",
        "A ",
        ", The",
        ", La",
        " (1993)",
        " [2001]",
        ": Part 2",
        " - Live",
        " (a.k.a. Bb)",
        " (Saga, #3)",
        "",
    ]
    for _ in range(n):
        word = "".join(chance.choice(LETTERS) for _ in range(chance.randint(1, 9)))
        yield chance.choice(parts) + word + chance.choice(parts) + chance.choice(parts)


def test_plain_titles_are_the_same(browser):
    texts = list(titles(3_000))
    assert browser.call("(texts) => texts.map(plainTitle)", texts) == [plain(text) for text in texts]


def test_matches_are_the_same(browser):
    chance = random.Random(1)
    known = [*titles(800, seed=2), "Piano, The (1993)", "Heat", "Roma (2018)", "Uber", "Sapiens", "Cowboy Bebop"]
    years = [chance.choice([None, None, 1993, 2001]) for _ in known]
    items = [Item(str(k), title, year) for k, (title, year) in enumerate(zip(known, years, strict=True))]
    rows = [row for name in NAMES for row in parse_export(name, (FIXTURES / name).read_bytes()).rows]
    for _ in range(1_500):
        k = chance.randrange(len(known))
        title = chance.choice([str.upper, str.lower, str.title, lambda text: text[1:]])(known[k])
        row = Row(chance.choice([None, str(k), "7"]), title, chance.choice([None, 1993, 1994, 2001]), None, ())
        rows.append(chance.choice([row, row._replace(also=(str(k + 1),))]))
    matched, missed = match_rows(make_index(items), rows)
    assert min(len(matched), len(missed)) > 300
    assert {match.how for match in matched} == {"id", "title and year", "title"}
    found = browser.call(
        "(items, rows) => matchRows(makeIndex(items), rows)",
        [item._asdict() for item in items], [row._asdict() for row in rows],
    )  # fmt: skip
    assert found["matched"] == [match._asdict() for match in matched]
    assert found["unmatched"] == [{"row": row, "near": list(near)} for row, near in missed]


def test_scales_are_mapped_the_same(browser):
    as_json = [None if scale is None else scale._asdict() for scale in SCALES]
    for given, plain_given in zip(SCALES, as_json, strict=True):
        ratings = [None] if given is None else [None, *(given.low + k * given.step for k in range(given.levels))]
        for guard, plain_guard in zip(SCALES, as_json, strict=True):
            asked = "(ratings, given, guard) => ratings.map((rating) => entryFrom(rating, given, guard))"
            expected = [entry_of(rating, given, guard) for rating in ratings]
            assert browser.call(asked, ratings, plain_given, plain_guard) == pytest.approx(expected)
            assert browser.call("scaleLine", plain_given, plain_guard) == scale_note(given, guard)


@pytest.mark.parametrize("name", NAMES)
def test_an_export_without_changes_is_written_as_it_came(browser, name):
    content = (FIXTURES / name).read_bytes()
    written, text = browser.call("rewrite", name, coded(content), [])
    stem, suffix = name.split(".")
    assert written == f"{stem}-protected.{suffix}"
    found = base64.b64decode(text)
    if suffix == "json":
        assert json.loads(found) == json.loads(content)
    else:
        assert found == (content.decode("cp1252").encode() if name == "imdb_old.csv" else content)


@pytest.mark.parametrize("name", NAMES)
def test_a_protected_export_is_read_by_the_package(browser, name):
    """One title removed, one changed, one added, and the rest as it was."""
    content = (FIXTURES / name).read_bytes()
    before = parse_export(name, content)
    new = {"id": "77", "title": 'A "new" one, <by> & hand', "year": 2001}
    edits = [
        {"rows": [0], "item": new, "to": 0},
        {"rows": [1], "item": new, "to": 0.2},
        {"rows": [], "item": new, "to": 1},
    ]
    written, text = browser.call("rewrite", name, coded(content), edits)
    after = parse_export(written, base64.b64decode(text))
    assert (after.format, after.scale) == (before.format, before.scale)
    fifth = None if before.scale is None else before.scale.high / 5
    assert after.rows[0] == before.rows[1]._replace(rating=fifth)
    assert after.rows[1:-1] == before.rows[2:]
    added = after.rows[-1]
    assert (added.title, added.rating) == (new["title"], None if before.scale is None else before.scale.high)
    assert added.year in (2001, None)


def test_titles_are_found_while_typing(browser):
    films = ["Piano, The (1993)", "Piano Teacher, The (2001)", "Pianist, The (2002)", "Heat (1995)", "Pan's Labyrinth"]
    browser.call("(items) => { globalThis.index = makeIndex(items); }",
                 [{"id": str(k), "title": title, "year": None} for k, title in enumerate(films)])  # fmt: skip
    search = {text: browser.call("(text) => searchTitles(index, text, 3)", text)
              for text in ("pia", "the piano", "teach pian", "piano 1993", "PANS", "haet", "", "zzz")}  # fmt: skip
    assert search == {
        "pia": [0, 2, 1], "the piano": [0, 1], "teach pian": [1], "piano 1993": [0], "PANS": [4], "haet": [], "": [],
        "zzz": [],
    }  # fmt: skip
    assert browser.call("(text) => searchTitles(index, text, 1)", "Pianno techer") == [1]


def test_a_persons_export_is_matched_at_once(browser):
    """300 ratings and 10,000 items: a small part of the 300 ms from drop to answer; and 10,000 rows are no trouble."""
    ask = """async (n) => {
      const film = (k) => ({id: `${k}`, title: `Film number ${k}, The`, year: 1990 + k % 30});
      const items = Array.from({length: 10_000}, (_, k) => film(k));
      const lines = Array.from({length: n}, (_, k) => `2020-01-01,The Film Number ${3 * k},${1990 + 3 * k % 30},u,4`);
      const bytes = new TextEncoder().encode(["Date,Name,Year,Letterboxd URI,Rating", ...lines].join("\\n"));
      const start = performance.now();
      const index = makeIndex(items), made = performance.now();
      const {matched, unmatched} = matchRows(index, (await readExport("ratings.csv", bytes)).rows);
      return {made: made - start, matched: performance.now() - made, counts: [matched.length, unmatched.length]};
    }"""
    found = browser.call(ask, 300)
    assert found["counts"] == [300, 0]
    assert found["matched"] < 150, found
    assert found["made"] < 1_000, found
    many = browser.call(ask, 10_000)
    assert many["counts"] == [3_334, 6_666]
    assert many["matched"] < 5_000, many
