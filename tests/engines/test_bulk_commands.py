"""Large tables at the terminal."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest_engines import KEY, by_user_and_item, whole_of

from attriguard.cli import app
from attriguard.cli._shell import run
from attriguard.engines import choice


@pytest.fixture
def place(plain, data, guard, tmp_path, monkeypatch):
    """A folder of ratings, a table of users, a guard and a key."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ratings").mkdir()
    pq.write_table(plain.slice(0, 700), tmp_path / "ratings" / "1.parquet")
    pq.write_table(plain.slice(700), tmp_path / "ratings" / "2.parquet")
    cities = [data.values[code] for code in data.y]
    pq.write_table(pa.table({"user": data.users, "city": cities}), tmp_path / "users.parquet")
    (tmp_path / "city.guard").write_bytes(guard.read_bytes())
    (tmp_path / "secret.key").write_text(KEY)
    (tmp_path / "secret.key").chmod(0o600)
    return tmp_path


@pytest.mark.posix
def test_a_folder_is_released_as_a_folder(place, plain, guard, capsys):
    command = ["protect", "ratings/", "--guard", "city.guard", "--key", "@secret.key", "--output", "released/",
               "--memory", "1GB", "--parts", "2"]  # fmt: skip
    assert run(app, command) == 0
    out = capsys.readouterr()
    assert f"released {len(plain['user'].unique())} users in 2 parts" in out.out
    assert "wrote released" in out.out
    parts = pa.concat_tables([pq.read_table(path) for path in sorted(place.glob("released/part-*"))])
    assert by_user_and_item(parts) == by_user_and_item(whole_of(plain, guard))
    assert run(app, [*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parts"] == 2
    assert run(app, [*command, "--budget", "1"]) == 2
    assert "another budget (None, now 1.0)" in capsys.readouterr().err


@pytest.mark.posix
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--guard", "city.guard"], "attriguard key new secret.key"),
        (["--key", "@secret.key"], "needs a guard"),
        (["--guard", "city.guard", "--seed", "1"], "--seed: of no use for a release in parts"),
        (
            ["--guard", "city.guard", "--key", "@secret.key", "--engine", "memory"],
            "is a folder, but a file was expected",
        ),
        (["--guard", "city.guard", "--key", "@secret.key", "--engine", "spar"], "engine"),
    ],
)
def test_mistakes_are_one_line(place, options, said, capsys):
    assert run(app, ["protect", "ratings", "--output", "released", *options]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not (place / "released").exists()


@pytest.mark.posix
def test_a_large_file_goes_to_the_engine_and_a_small_one_does_not(place, plain, monkeypatch, capsys):
    pq.write_table(plain, place / "ratings.parquet")
    command = ["protect", "ratings.parquet", "--guard", "city.guard", "--key", "@secret.key", "--output"]
    assert run(app, [*command, "small.parquet"]) == 0
    monkeypatch.setattr(choice, "LARGE_BYTES", 1000)
    assert run(app, [*command, "large.parquet"]) == 2
    assert "name a folder, such as released, or keep it in memory with --engine memory" in capsys.readouterr().err
    assert run(app, [*command, "large.parquet", "--engine", "memory"]) == 0
    assert run(app, [*command, "released"]) == 0
    assert pq.read_table("small.parquet").equals(pq.read_table("large.parquet"))
    assert (place / "released" / "_SUCCESS").exists()


@pytest.mark.posix
def test_fit_takes_some_of_a_folder_and_says_what(place, capsys):
    command = ["fit", "ratings", "--attributes", "users.parquet", "--attribute", "city", "--output", "some.guard"]
    assert run(app, [*command, "--users", "100", "--items", "20", "--seed", "0", "--json"]) == 0
    out = capsys.readouterr()
    assert "takes 100 of 240 users who disclose the attribute, and the 20 most rated of 40 items" in out.err
    assert json.loads(out.out)["items"] == 20
    assert json.loads(out.out)["users"] == 100
