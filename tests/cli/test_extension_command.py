"""``attriguard extension``: what it writes and says, and what it refuses."""

from __future__ import annotations

import json

import pytest

import attriguard as ag


@pytest.fixture(scope="module")
def city(tmp_path_factory):
    path = tmp_path_factory.mktemp("guards") / "city.guard"
    ag.learn(ag.load_dataset("twin", n_users=300, n_items=40, n_values=3), goal="mislead", random_state=0).save(path)
    return path


def test_it_writes_a_folder_and_says_how_to_use_it(cli, city, tmp_path):
    titles = tmp_path / "titles.csv"
    titles.write_text("id,title\n" + "".join(f"{k},Film {k} ({1960 + k})\n" for k in range(40)))
    code, out, err = cli("extension", city, "--titles", titles, "--output", tmp_path / "out")
    assert code == 0, err
    assert str(tmp_path / "out") in out
    assert "chrome://extensions" in out
    assert err == ""
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert card["items"]["titles"][7] == "Film 7"
    assert card["items"]["years"][7] == 1967


def test_without_titles_it_warns_and_with_json_it_says_everything(cli, city, tmp_path):
    _, out, err = cli("extension", city, "--output", tmp_path / "out", "--json")
    told = json.loads(out)
    assert told["attribute"] == "city"
    assert told["goals"] == ["mislead"]
    assert told["size"] == sum(path.stat().st_size for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert "by their ids alone" in err


def test_a_folder_with_other_files_is_refused_in_one_line(cli, city, tmp_path):
    (tmp_path / "thesis.doc").write_text("years of work")
    code, _, err = cli("extension", city, "--output", tmp_path)
    assert code == 2
    assert err.count("\n") == 1
    assert "name a new folder" in err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.doc"]
