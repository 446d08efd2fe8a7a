"""Whatever the console is and the data holds: one line and an exit code, no traceback, nothing that steers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from attriguard._text import escape_controls, printable

NASTY = "\x1b]0;owned\x07 \x1b[31m\u202eRéd\x9b2J\x7f"
PROGRAM = [sys.executable, "-c", "from attriguard.cli import main; main()"]
NO_SPACE = "attriguard: error: standard output cannot be used: No space left on device\n"


def steers(text):
    return any(mark in text for mark in ("\x1b", "\x07", "\u202e", "\x9b", "\x7f"))


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    """Tables whose items and values steer a terminal."""
    folder = tmp_path_factory.mktemp("nasty")
    rows = [f"u{u},{NASTY}{(u + k) % 7},{1 + (u * k) % 5}" for u in range(40) for k in range(4)]
    (folder / "ratings.csv").write_text("\n".join(["user,item,rating", *rows]))
    (folder / "users.csv").write_text("\n".join(["user,city", *(f"u{u},{NASTY}{u % 2}" for u in range(40))]))
    return folder


def test_nothing_from_data_steers_the_terminal(cli, nasty, tmp_path):
    tables = [nasty / "ratings.csv", "--attributes", nasty / "users.csv", "--attribute", "city"]
    audit = ["audit", *tables, "--attacks", "LR-A", "--retrained", "", "--budgets", "1", "--seed", 0]
    code, out, err = cli(*audit, "--output", tmp_path / "a.html")
    assert code == 0, err
    assert "Réd" in out  # the names are shown, and what steers is not
    assert not steers(out + err + (tmp_path / "a.html").read_text())
    code, out, err = cli(*audit, "--output", tmp_path / "a.json", "--json")
    assert not steers(out + err)
    assert r"\u001b" in out
    assert json.loads(out) == json.loads((tmp_path / "a.json").read_text()) | {"output": str(tmp_path / "a.json")}
    (tmp_path / "few.csv").write_text(f"user,item,rating\nu0,{NASTY},9\n")
    code, _, err = cli("fit", tmp_path / "few.csv", *tables[1:], "--output", tmp_path / "g", "--scale", "1:5")
    assert (code, steers(err)) == (2, False)
    code, _, err = cli("fit", *tables[:4], NASTY, "--output", tmp_path / "g")
    assert (code, steers(err)) == (2, False)


def test_a_record_stays_what_it_was():
    text = json.dumps({"item": NASTY}, ensure_ascii=False)
    assert steers(text)
    assert not steers(escape_controls(text))
    assert json.loads(escape_controls(text)) == {"item": NASTY}
    assert printable("a\tb\nc é ± 日本 🙂") == "a\tb\nc é ± 日本 🙂"
    assert printable("a\x00\r\u2028\ud800b") == "a\ufffd\ufffd\ufffd\ufffdb"


def test_a_console_without_our_letters_is_no_traceback(shell, files, guard_file, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = shell("key", "new", tmp_path / "schlüssel.key")
    assert (done.returncode, done.stderr) == (0, "")
    assert "wrote" in done.stdout
    assert done.stdout.isascii()
    done = shell("fit", tmp_path / "größe.csv", "--attributes", files / "users.csv", "--output", tmp_path / "g")
    assert done.returncode == 2
    assert done.stderr.startswith("attriguard: error: there is no file ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_a_record_loses_no_letter_on_any_console(shell, tmp_path, monkeypatch, encoding):
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    path = tmp_path / "ключ-größe.key"
    done = shell("key", "new", path, "--json", encoding=encoding)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"key": str(path)}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_one_line(files, guard_file):
    table = ["protect", files / "ratings.csv", "--guard", guard_file, "--output", "-", "--seed", "1"]
    for arguments in (["datasets"], ["--version"], ["--help"], [*map(str, table)]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([*PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 1
        assert done.stderr.splitlines(keepends=True)[-1] == NO_SPACE
        assert "Traceback" not in done.stderr


@pytest.mark.posix
@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_a_closed_output_is_one_line():
    for closed, told in ((">&-", "attriguard: error: standard output is closed; send it to a file, or to /dev/null\n"),
                         (">&- 2>&-", "")):  # fmt: skip
        done = subprocess.run(
            ["sh", "-c", f'"$@" {closed}', "sh", *PROGRAM, "datasets"], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (1, "", told)


def test_a_number_of_five_thousand_digits_is_no_traceback(cli, files, tmp_path):
    long = "7" * 5000
    people = (files / "users.csv").read_text().splitlines()
    for k, name in ((1, "city"), (2, "age")):
        changed = [line.split(",") for line in people]
        for row, value in ((1, long), (2, long)):
            changed[row][k] = value
        if name == "age":
            for row in range(3, 60):
                changed[row][k] = str(row)
        (tmp_path / "users.csv").write_text("\n".join(map(",".join, changed)))
        common = ["--attributes", tmp_path / "users.csv", "--attribute", name, "--output", tmp_path / "g"]
        code, _, err = cli("fit", files / "ratings.csv", *common, "-q")
        assert code in (0, 2)
        assert code == 0 or len(err.splitlines()) == 1
        assert long not in err


def test_an_interrupt_says_what_was_written(cli, files, guard_file, tmp_path, monkeypatch):
    def interrupted(*_args, **_options):
        raise KeyboardInterrupt

    plan, out = tmp_path / "plan.parquet", tmp_path / "out.csv"
    command = [
        "protect",
        files / "ratings.csv",
        "--guard",
        guard_file,
        "--output",
        out,
        "--plan",
        plan,
        "--seed",
        1,
        "-q",
    ]
    monkeypatch.setattr("attriguard.operations.released.Released.save", interrupted)
    code, _, err = cli(*command)
    assert (code, plan.exists(), out.exists()) == (130, True, False)
    assert err.splitlines()[-1] == f"attriguard: interrupted; written before that: {plan}"
    plan.unlink()
    monkeypatch.setattr("attriguard.operations.released.Released.save_plan", interrupted)
    code, _, err = cli(*command)
    assert (code, plan.exists(), out.exists()) == (130, False, False)
    assert err.splitlines()[-1] == "attriguard: interrupted; no output file was changed"
