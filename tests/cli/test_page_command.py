"""``attriguard page``: a guard, or a named data set, becomes one HTML file for people."""

from __future__ import annotations

import json
import re

import pytest

import attriguard as ag


def card_of(path):
    return json.loads(re.search(r'id="card">(.*?)</script>', path.read_text("utf-8"), flags=re.S).group(1))


def test_a_guard_becomes_a_page(cli, guard_file, tmp_path):
    code, out, err = cli("page", guard_file, "--output", tmp_path / "city.html")
    assert code == 0, err
    assert re.search(r"a page for people: 120 items and 3 values of 'city', 0\.\d MB", out)
    assert out.endswith(f"wrote {(tmp_path / 'city.html').resolve()}\n")
    assert "warning: the page knows items by their ids alone, and people do not: name a table of titles" in err
    assert card_of(tmp_path / "city.html")["goals"] == ["mislead"]


def test_titles_come_from_a_table(cli, guard_file, tmp_path):
    items = ag.load_guard(guard_file).items_.tolist()
    rows = [f'{item},"{item.upper()}, The (19{k % 90 + 10})"' for k, item in enumerate(items[:100])]
    (tmp_path / "titles.csv").write_text("\n".join(["item,title", *rows]) + "\n")
    code, out, err = cli(
        "page", guard_file, "--titles", tmp_path / "titles.csv", "--output", tmp_path / "p.html", "--json"
    )
    assert (code, err) == (0, "")
    made = json.loads(out)
    assert (made["items"], made["titled"], made["size"]) == (120, 100, (tmp_path / "p.html").stat().st_size)
    found = card_of(tmp_path / "p.html")["items"]
    assert found["titles"][1] == f"{items[1].upper()}, The"
    assert found["years"][:2] == [1910, 1911]
    assert found["titles"][110] == items[110]
    assert found["years"][110] is None


def test_years_may_have_a_column_of_their_own(cli, guard_file, tmp_path):
    items = ag.load_guard(guard_file).items_.tolist()
    rows = [
        f"{item},Title {k},drama,{years}"
        for k, (item, years) in enumerate(zip(items, ("1993", "", "1999"), strict=False))
    ]
    (tmp_path / "titles.csv").write_text("\n".join(["item_id,title,genre,Year", *rows]) + "\n")
    assert cli("page", guard_file, "--titles", tmp_path / "titles.csv", "--output", tmp_path / "p.html")[0] == 0
    found = card_of(tmp_path / "p.html")["items"]
    assert found["titles"][:3] == ["Title 0", "Title 1", "Title 2"]
    assert found["years"][:4] == [1993, None, 1999, None]


def test_a_named_data_set_becomes_a_page(cli, tmp_path, monkeypatch, small_twin):
    monkeypatch.setattr(ag, "load_dataset", lambda name, attribute: small_twin)
    code, _, err = cli(
        "page", "--dataset", "twin", "--attribute", "city", "--seed", "1", "--output", tmp_path / "p.html"
    )
    assert code == 0, err
    card = card_of(tmp_path / "p.html")
    assert card["goals"] == ["mislead", "conceal", "both"]
    assert card["items"]["titles"][0] == small_twin.item_names[0]
    assert card["about"]["licence"].startswith("MIT")


def test_films_have_their_titles_and_years(cli, tmp_path):
    """A tiny MovieLens 1M, as it is unpacked: one command from there to the page."""
    folder = tmp_path / "movielens-1m"
    folder.mkdir()
    (folder / "movies.dat").write_bytes(
        "".join(f"{j}::Film {j}, The (19{60 + j})::Drama\n" for j in range(20)).encode()
    )
    (folder / "users.dat").write_text("".join(f"{u}::{'FM'[u % 2]}::25::4::1000\n" for u in range(1, 81)))
    (folder / "ratings.dat").write_text(
        "".join(f"{u}::{j}::{(u + j) % 5 + 1}::978300760\n" for u in range(1, 81) for j in range(20) if (u * j) % 3 < 2)
    )
    data = ag.load_dataset("movielens-1m", folder, attribute="gender", verify=False)
    ag.write_page(data, tmp_path / "films.html", members=1, split=0.5, random_state=0)
    card = card_of(tmp_path / "films.html")
    assert card["items"]["titles"][3] == "Film 3, The"
    assert card["items"]["years"][3] == 1963
    assert card["values"] == ["F", "M"]
    assert card["about"]["data"] == "MovieLens 1M"
    assert "GroupLens" in card["about"]["licence"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "name either a GUARD, or a data set with --dataset"),
        (("g", "--dataset", "twin"), "name either a GUARD, or a data set with --dataset"),
        (("g", "--attribute", "city"), "--attribute and --seed are for --dataset; a guard is learnt already"),
        (("g",), "there is no file g"),
        (("--dataset", "movielens"), "unknown data set 'movielens'"),
    ],
)
def test_mistakes_are_told_in_a_line(cli, tmp_path, monkeypatch, options, told):
    monkeypatch.chdir(tmp_path)
    code, out, err = cli("page", *options, "--output", "p.html")
    assert (code, out) == (2, "")
    assert told in err
    assert len(err.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_guard_that_a_page_cannot_hold_is_refused(cli, tmp_path, small_twin):
    ag.learn(small_twin.train, search="panda").save(tmp_path / "panda.guard")
    code, _, err = cli("page", tmp_path / "panda.guard", "--output", tmp_path / "p.html")
    assert code == 2
    assert err == "attriguard: error: a page searches with 'probability' or 'margin', not 'panda'; learn it so\n"
