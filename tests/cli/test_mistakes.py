"""What people get wrong first: told in one line, before the work, with nothing lost."""

from __future__ import annotations

import json
import shutil

import pytest


@pytest.fixture
def mine(files, tmp_path):
    for name in ("ratings.csv", "users.csv"):
        shutil.copy(files / name, tmp_path / name)
    return tmp_path


@pytest.mark.posix
def test_no_command_overwrites_what_it_reads(mine, cli):
    ratings, users, guard = mine / "ratings.csv", mine / "users.csv", mine / "city.guard"
    common = ["--attributes", users, "--attribute", "city"]
    assert cli("fit", ratings, *common, "--output", guard)[0] == 0
    (mine / "link.csv").symlink_to(ratings)
    before = {path.name: path.read_bytes() for path in mine.iterdir()}
    for command in (
        ("fit", ratings, *common, "--output", ratings),
        ("fit", ratings, *common, "--output", mine / "link.csv"),
        ("protect", ratings, "--guard", guard, "--output", ratings),
        ("protect", ratings, "--guard", guard, "--output", mine / "r.parquet", "--plan", mine / "r.parquet"),
        ("audit", ratings, *common, "--output", users),
        ("evaluate", ratings, *common, "--output", ratings),
    ):
        code, _, err = cli(*command)
        assert code == 2, command
        assert "would be overwritten" in err
    assert {path.name: path.read_bytes() for path in mine.iterdir()} == before


@pytest.mark.parametrize(
    "command",
    [
        ["demo"],
        ["audit", "--dataset", "twin"],
        ["fit", "--dataset", "twin"],
        ["bench"],
        ["evaluate", "--dataset", "twin"],
    ],
)
def test_where_nothing_can_be_written_nothing_is_computed(command, cli, tmp_path, monkeypatch):
    def must_not(*_, **__):
        raise AssertionError("work was done")

    monkeypatch.setattr("attriguard.data.named.datasets.load_dataset", must_not)
    (tmp_path / "file").touch()
    for output in (tmp_path, tmp_path / "file" / "x.html"):
        code, _, err = cli(*command, "--output", output)
        assert code == 2
        assert "folder" in err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["fit", "--dataset", "twin", "--like", "--scale", "1:10:1", "--output", "OUT"], "--scale, --like"),
        (["fit", "--dataset", "twin", "--attributes", __file__, "--output", "OUT"], "--attributes"),
        (
            ["fit", "--dataset", "twin", "--goal", "conceal", "--confidence", "3", "--output", "OUT"],
            "--confidence: of no use with --goal conceal",
        ),
        (
            ["fit", "--dataset", "twin", "--goal", "conceal", "--classifier", "nn", "--output", "OUT"],
            "--classifier: of no use with --goal conceal",
        ),
        (["audit", "--dataset", "twin", "--goal", "conceal", "--budgets", "nan", "--output", "OUT"], "finite"),
        (["audit", "--dataset", "twin", "--all-goals", "--budgets", "0", "--output", "OUT"], "above 0"),
        (["evaluate", "--dataset", "twin", "--attacks", ""], "--attacks"),
        (["reproduce", "figure-1", "--dataset", "twin", "--seed", "-1"], "--seed"),
        (["fit", "--dataset", "twin", "--seed", "-1", "--output", "OUT"], "--seed"),
    ],
)
def test_options_that_would_be_ignored_or_fail_later(command, message, cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = cli(*(tmp_path / "out.html" if part == "OUT" else part for part in command))
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert not list(tmp_path.iterdir())


def test_locked_pairs_that_are_not_there_are_counted(mine, cli):
    common = ["--attributes", mine / "users.csv", "--attribute", "city"]
    assert cli("fit", mine / "ratings.csv", *common, "--output", mine / "g.guard")[0] == 0
    app = (mine / "ratings.csv").read_text().splitlines()[1].split(",")[1]
    (mine / "locked.csv").write_text(f"user,app\nu000,{app}\nu999,{app}\nu000,No such app\n")
    code, _, err = cli(
        "protect", mine / "ratings.csv", "--guard", mine / "g.guard", "--output", mine / "r.csv", "--locked",
        mine / "locked.csv", "--seed", "1",
    )  # fmt: skip
    assert code == 0
    assert "2 of 3 locked pairs" in err


def test_a_table_without_ratings_is_no_table_of_likes_for_a_guard_of_ratings(mine, cli):
    common = ["--attributes", mine / "users.csv", "--attribute", "city"]
    assert cli("fit", mine / "ratings.csv", *common, "--output", mine / "g.guard")[0] == 0
    (mine / "bare.csv").write_text("user,app\nu000,Maps\n")
    code, out, err = cli("protect", mine / "bare.csv", "--guard", mine / "g.guard", "--output", mine / "r.csv")
    assert (code, out) == (2, "")
    assert "has no column of ratings" in err
    assert len(err.splitlines()) == 1
    assert not (mine / "r.csv").exists()


def test_no_audit_says_that_there_is_nothing_to_protect(mine, cli):
    code, out, err = cli(
        "audit", mine / "ratings.csv", "--attributes", mine / "users.csv", "--attribute", "age", "--output",
        mine / "a.html", "--budgets", "1,2", "--retrained", "", "--seed", "0",
    )  # fmt: skip
    assert code == 0, err
    assert out.startswith("Too few users to tell: 300 disclose “age”.")
    assert "Too few users to tell" in (mine / "a.html").read_text()
    code, out, err = cli(
        "audit", mine / "ratings.csv", "--attributes", mine / "users.csv", "--attribute", "city", "--output",
        mine / "a.html", "--budgets", "1,2", "--retrained", "LR-A", "--seed", "0", "--json",
    )  # fmt: skip
    assert code == 0, err
    record = json.loads(out)
    assert record["verdict"]["finding"] == "gives it away"
    strongest = record["guarded"]["strongest"][-1]["accuracy"]["value"]
    assert f"to {100 * strongest:.0f}, against the strongest attacker" in (mine / "a.html").read_text()
