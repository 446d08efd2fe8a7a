"""A table through a pipe: "-" is standard input or standard output."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import attriguard as ag

KEY = "a key for the pipes"


@pytest.fixture
def piped(cli, monkeypatch):
    """Run a command with bytes on standard input."""

    def call(content, *arguments):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        return cli(*arguments)

    return call


@pytest.fixture
def kept(files, guard_file, cli, tmp_path):
    """The release of the file, drawn with a key."""
    code, _, err = cli(
        "protect",
        files / "ratings.csv",
        "--guard",
        guard_file,
        "--output",
        tmp_path / "kept.csv",
        "--key",
        KEY,
    )
    assert code == 0, err
    return (tmp_path / "kept.csv").read_text()


def test_protect_from_pipe_to_pipe(files, guard_file, piped, kept, tmp_path):
    content = (files / "ratings.csv").read_bytes()
    before = sorted(path.name for path in tmp_path.iterdir())
    command = ["protect", "-", "--guard", guard_file, "--output", "-", "--key", KEY]
    code, out, err = piped(content, *command)
    assert code == 0, err
    assert out == kept  # the table and nothing else, letter by letter what the file would hold
    assert "released 300 users" in err
    assert "wrote" not in err
    assert piped(gzip.compress(content), *command)[1] == kept
    code, out, err = piped(content, *command, "--quiet")
    assert (code, out) == (0, kept)
    assert "released" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_parquet_is_told_by_its_first_bytes(files, guard_file, piped, kept, tmp_path):
    pq.write_table(pyarrow.csv.read_csv(files / "ratings.csv"), tmp_path / "r.parquet")
    content = (tmp_path / "r.parquet").read_bytes()
    command = ["protect", "-", "--guard", guard_file, "--output", "-", "--key", KEY]
    code, out, err = piped(content, *command)
    assert code == 0, err
    assert out.splitlines()[0] == "user,app,stars,when"
    assert sorted(out.splitlines()) == sorted(kept.splitlines())
    code, out, err = piped(content[:2000], *command)
    assert (code, out) == (2, "")
    assert "standard input cannot be read as Parquet" in err


def test_the_style_of_the_table_is_kept(files, guard_file, piped):
    content = (files / "ratings.csv").read_bytes().replace(b",", b";").replace(b"\n", b"\r\n")
    command = ["protect", "-", "--guard", guard_file, "--output", "-", "--seed", "1"]
    code, out, err = piped(content, *command)
    assert code == 0, err
    assert out.startswith("user;app;stars;when\r\n")


@pytest.mark.parametrize("command", ["fit", "audit", "evaluate"])
@pytest.mark.parametrize("through", ["ratings", "attributes"])
def test_one_table_may_come_through_a_pipe(files, piped, tmp_path, command, through):
    tables = {"ratings": files / "ratings.csv", "attributes": files / "users.csv"}
    content, tables[through] = tables[through].read_bytes(), "-"
    more = {
        "fit": [],
        "audit": ["--attacks", "LR-A", "--retrained", "", "--budgets", "1"],
        "evaluate": ["--attacks", "BA-A", "--budgets", "1", "--work", tmp_path / "work"],
    }[command]
    code, _, err = piped(
        content, command, tables["ratings"], "--attributes", tables["attributes"], "--attribute", "city",
        "--output", tmp_path / "out.json", "--seed", "0", *more,
    )  # fmt: skip
    assert code == 0, err
    assert (tmp_path / "out.json").stat().st_size > 100


def test_mistakes(files, guard_file, piped):
    protect = ["protect", "-", "--guard", guard_file, "--output", "-"]
    both = ["fit", "-", "--attributes", "-", "--attribute", "city", "--output", "never.guard"]
    for content, command, told in (
        (b"", protect, "standard input is empty"),
        (b"user,app,stars\nu1,x\n", protect, "standard input has 2 fields in line 2"),
        (b"", [*protect, "--json"], "--json and --output - would both write to standard output"),
        (b"", both, "standard input holds one table"),
    ):
        code, out, err = piped(content, *command)
        assert (code, out) == (2, "")
        assert told in err
        assert len(err.splitlines()) == 1


def test_a_reader_that_goes_away_is_no_traceback(files, guard_file):
    command = [sys.executable, "-c", "from attriguard.cli import main; main()"]
    command += ["protect", str(files / "ratings.csv"), "--guard", str(guard_file), "--output", "-", "-q"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        err = process.stderr.read()
    assert process.returncode == 1
    assert all(line.startswith("attriguard: warning: ") for line in err.splitlines())


def test_a_library_function_never_reads_standard_input(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"user,item\n1,2\n")))
    with pytest.raises(ag.errors.DataError):
        ag.read_ratings("-")
    table = ag.parse_table(b"user,item\n1,2\n", "mine")
    assert ag.read_ratings(table).n_users == 1
