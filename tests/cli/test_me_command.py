"""``attriguard me``: a person's export on the terminal, as JSON, and with the mistakes that people make first."""

from __future__ import annotations

import json

import pytest


@pytest.fixture(scope="module")
def mine(files):
    """The ratings of one user of the table, as an export with a title that steers a terminal."""
    lines = (files / "ratings.csv").read_text().splitlines()
    own = [line.split(",")[1:3] for line in lines if line.startswith("u007,")]
    path = files / "mine.csv"
    path.write_text(
        "\n".join(["Title,Rating", *(",".join(row) for row in own), '"\x1b[31mRed\x1b[0m\u202eherring",4', ""])
    )
    return path


@pytest.mark.posix
def test_it_says_what_is_inferred_and_what_to_change(mine, guard_file, cli):
    # A draw may change nothing, so it is a keyed one that does.
    key = mine.parent / "a.key"
    key.write_text("a secret of more than sixteen bytes")
    key.chmod(0o600)
    code, out, err = cli("me", mine, "--guard", guard_file, "--budget", 3, "--key", f"@{key}")
    assert (code, err) == (0, "")
    assert "a classifier infers: city = " in out
    for heading in ("How sure a classifier is", "What tells most", "What to change", "What this does not protect"):
        assert heading in out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "\ufffd[31mRed\ufffd[0m\ufffdherring" in out


@pytest.mark.posix
def test_json_holds_everything_and_quiet_says_nothing(mine, guard_file, cli, tmp_path):
    key = tmp_path / "secret.key"
    key.write_text("a secret of more than sixteen bytes")
    key.chmod(0o600)
    common = ["me", mine, "--guard", guard_file, "--budget", 3, "--key", f"@{key}"]
    code, out, err = cli(*common, "--json", "--output", tmp_path / "me.csv")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["goal"] == "mislead"
    assert found["unknown"][0]["title"] == "\x1b[31mRed\x1b[0m\u202eherring"
    assert "secret" not in found["command"].replace("secret.key", "")
    assert (tmp_path / "me.csv").read_text().startswith("figure,of,value\n")
    assert json.loads(cli(*common, "--json")[1])["changes"] == found["changes"]  # the key keeps the draw
    assert cli(*common, "--quiet") == (0, "", "")


def test_protect_sends_a_person_here(guard_file, cli, tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("Date,Name,Year,Letterboxd URI,Rating\n2021-03-01,Heat,1995,https://boxd.it/2bg6,4\n")
    code, _, err = cli("protect", path, "--guard", guard_file, "--output", tmp_path / "out.csv")
    assert code == 2
    assert (
        err
        == f"attriguard: error: {path} is one person's export; see what to change in it with: attriguard me {path}\n"
    )


@pytest.mark.parametrize(
    ("content", "options", "told"),
    [
        ("temperature,pressure\n21,1013\n", [], "is no export that is known: Letterboxd"),
        ("Title,Rating\nMiddlemarch,4\n", [], "none of the 1 title is known to the guard"),
        ("user,app,stars\n1,Maps,4\n", [], "this is a table of many people"),
        ("", [], "is empty"),
        (None, ["--goal", "conceal"], "this guard was learnt with goal='mislead'"),
        (None, ["--goal", "hide"], "unknown goal 'hide'"),
        (None, ["--locked", "Middlemarch"], "locked: the guard knows no title 'Middlemarch'"),
        (None, ["--budget", "-1"], "budget must"),
        (None, ["--key", "short"], "this key can be guessed"),
        (None, ["--output", "me.doc"], "a result is written as"),
    ],
)
def test_a_mistake_is_one_line(mine, guard_file, cli, tmp_path, monkeypatch, content, options, told):
    monkeypatch.chdir(tmp_path)
    path = mine
    if content is not None:
        path = tmp_path / "ratings.csv"
        path.write_text(content)
    code, out, err = cli("me", path, "--guard", guard_file, *options)
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1
