"""What pages and records say of the command that made them: no secret, no folder, the right hashes."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import attriguard as ag
from attriguard.cli._options import Shown
from attriguard.cli._origin import command_line, typed
from attriguard.cli._shell import show

SECRET = "s3cret-of-sixteen-bytes"


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["--key", SECRET], "--key HIDDEN"),
        ([f"--key={SECRET}"], "--key=HIDDEN"),
        (["--key", f"--{SECRET}"], "--key HIDDEN"),
        (["--key", f"--{SECRET}=x"], "--key HIDDEN"),
        (["--key=", "--key", SECRET], "--key=HIDDEN --key HIDDEN"),
        (["--key", "@/home/me/secret.key", "--seed", "3"], "--key @secret.key --seed 3"),
        (["--key=@keys/secret.key"], "--key=@secret.key"),
        (["/home/me/ratings.csv", "--output=/tmp/a b.csv"], "ratings.csv '--output=a b.csv'"),
        (["~/ratings.csv", "--attribute", "city/town"], "ratings.csv --attribute city/town"),
    ],
)  # fmt: skip
def test_the_command_line_holds_no_secret_and_no_folder(arguments, shown):
    assert command_line(["protect", *arguments]) == f"attriguard protect {shown}"


@given(st.text("aZ0-=@/~.' $", min_size=1).filter(lambda text: not text.startswith("@")))
def test_whatever_the_secret_is_it_is_not_shown(secret):
    blank = command_line(["protect", "ratings.csv", "--key", "a", "--output", "o.csv"])
    assert command_line(["protect", "ratings.csv", "--key", secret, "--output", "o.csv"]) == blank
    assert command_line(["protect", f"--key={secret}"]) == "attriguard protect --key=HIDDEN"


def test_a_folder_that_is_there_is_left_out(tmp_path, monkeypatch):
    (tmp_path / "private").mkdir()
    monkeypatch.chdir(tmp_path)
    assert command_line(["audit", "private/ratings.csv"]) == "attriguard audit ratings.csv"


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_keyed_release_names_its_files_but_neither_key_nor_folder(files, guard_file, cli, tmp_path, outline):
    released, ratings = tmp_path / "released.csv", files / "ratings.csv"
    (tmp_path / "secret.key").write_text(SECRET)
    for key in (SECRET, f"@{tmp_path / 'secret.key'}"):
        code, out, err = cli("protect", ratings, "--guard", guard_file, "--output", released, "--key", key, "--json")
        assert code == 0, err
        record = json.loads(out)
        assert SECRET not in out
        assert record["inputs"] == {path.name: sha256(path) for path in (ratings, guard_file)}
        shown = "HIDDEN" if key == SECRET else "@secret.key"
        assert record["command"] == (
            f"attriguard protect ratings.csv --guard city.guard --output released.csv --key {shown} --json"
        )
    typed.set(("protect", str(ratings), "--key", SECRET))
    result = ag.protect(ratings, guard_file, key=SECRET)
    show(result, Shown(), saved=released, drawn=tmp_path / "release.html", read=[ratings, guard_file])
    page = (tmp_path / "release.html").read_text()
    footer = outline(page).footer
    assert footer["command"] == ["attriguard protect ratings.csv --key HIDDEN"]
    assert footer["seed"] == ["none"]
    assert footer["read"] == [f"{path.name}, SHA-256 {sha256(path)}" for path in (ratings, guard_file)]
    assert footer["written"] == [f"released.csv, SHA-256 {sha256(released)}"]
    assert not any(text in page for text in (SECRET, str(tmp_path), str(files), tmp_path.name, files.name))


def test_an_evaluation_names_seed_files_and_what_was_written(files, cli, tmp_path, outline):
    figures, page = tmp_path / "figures.json", tmp_path / "page.html"
    code, _, err = cli(
        "evaluate", files / "ratings.csv", "--attributes", files / "users.csv", "--attribute", "city", "--attacks",
        "LR-A", "--budgets", "1", "--work", tmp_path / "work", "--output", figures, "--plot", page, "--seed", 5,
    )  # fmt: skip
    assert code == 0, err
    found = outline(page.read_text())
    assert found.footer["seed"] == ["5"]
    assert found.footer["command"][0].startswith("attriguard evaluate ratings.csv --attributes users.csv ")
    # A hash of the attributes would let anybody who knows all others try out a user's value.
    assert found.footer["read"] == [f"ratings.csv, SHA-256 {sha256(files / 'ratings.csv')}"]
    assert found.footer["written"] == [f"figures.json, SHA-256 {sha256(figures)}"]
    assert "seed" in found.entries
    assert not any(text in page.read_text() for text in (str(tmp_path), str(files), tmp_path.name, files.name))


def test_several_seeds_are_named(files, cli, tmp_path, outline):
    page = tmp_path / "goals.html"
    code, _, err = cli(
        "evaluate", files / "ratings.csv", "--attributes", files / "users.csv", "--attribute", "city", "--attacks",
        "LR-A", "--budgets", "1", "--work", tmp_path, "--goals", "mislead", "--seeds", "3,4", "--plot", page,
    )  # fmt: skip
    assert code == 0, err
    assert outline(page.read_text()).footer["seed"] == ["3,4"]


def test_a_wrong_epoch_is_told_before_the_work(files, cli, monkeypatch, tmp_path):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "today")
    given = (files / "ratings.csv", "--attributes", files / "users.csv", "--output", tmp_path / "a.html")
    code, out, err = cli("audit", *given)
    assert (code, out) == (2, "")
    assert "SOURCE_DATE_EPOCH must be a whole number of seconds since 1970, got 'today'" in err
