"""The shell of the command line: help, version, start-up cost, and errors."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import attriguard as ag
from attriguard.errors import ReleaseRefusedError

COMMANDS = (
    "demo", "datasets", "fit", "protect", "audit", "evaluate", "reproduce", "bench", "cache", "key", "page", "guard",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(cli, command):
    code, out, _ = cli(command, "--help")
    assert code == 0
    assert "Example: attriguard " + command in " ".join(out.split())


def test_help_lists_all_commands(cli):
    code, out, _ = cli("--help")
    assert code == 0
    assert all(command in out for command in COMMANDS)
    assert cli("--version")[1].startswith("attriguard ")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["nonsense"], "No such command 'nonsense'; see: attriguard --help"),
        (["protct"], "No such command 'protct'. Did you mean 'protect'? See: attriguard --help"),
        (["datasets", "inf"], "No such command 'inf'. Did you mean 'info'? See: attriguard datasets --help"),
        (["demo", "--sed", "1"], "No such option: --sed (Possible options: --seed); see: attriguard demo --help"),
        (["protect"], "Missing option '--output'; see: attriguard protect --help"),
    ],
)
def test_a_slip_of_the_keys_is_one_line_that_names_the_help(cli, given, told):
    code, out, err = cli(*given)
    assert (code, out) == (2, "")
    assert err == f"attriguard: error: {told}\n"


def test_exit_codes(cli, monkeypatch):
    assert "3 a release refused because its check failed" in " ".join(cli("--help")[1].split())

    def refused(*_args, **_options):
        raise ReleaseRefusedError("the check found more than it may")

    monkeypatch.setattr("attriguard.data.named.datasets.load_dataset", refused)
    code, out, err = cli("demo", "--output", "never.html")
    assert (code, out, err) == (3, "", "attriguard: error: the check found more than it may\n")


def test_a_paragraph_of_help_is_not_cut_into_lines(cli):
    lines = [line.strip() for line in cli("fit", "--help")[1].splitlines()]
    start = next(k for k, line in enumerate(lines) if line.startswith("The guard file holds"))
    assert min(map(len, lines[start : start + 2])) > 60


def test_quiet_says_nothing_but_writes(cli, files, tmp_path):
    common = ["--attributes", files / "users.csv", "--attribute", "city", "--seed", 0]
    guard, released = tmp_path / "g.guard", tmp_path / "r.csv"
    assert cli("fit", files / "ratings.csv", *common, "--output", guard, "-q") == (0, "", "")
    code, out, err = cli("protect", files / "ratings.csv", "--guard", guard, "--output", released, "--quiet")
    assert (code, out) == (0, "")
    assert all(line.startswith("attriguard: warning: ") for line in err.splitlines())
    assert err.count("warning") == 1  # users that the guard learnt from
    assert released.exists()
    code, out, err = cli("protect", files / "ratings.csv", "--guard", guard, "--output", released, "--json", "-q")
    assert json.loads(out)["users"] == 300
    audit = ["audit", files / "ratings.csv", *common, "--attacks", "LR-A", "--retrained", "", "--budgets", "1"]
    assert cli(*audit, "--output", tmp_path / "a.json", "-q") == (0, "", "")
    assert json.loads((tmp_path / "a.json").read_text())["now"]
    assert cli("nonsense", "-q")[2].startswith("attriguard: error: ")


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ("datasets", "key", "guard")])
def test_every_command_can_be_quiet(cli, command):
    assert "--quiet" in cli(command, "--help")[1]


def test_quiet_bars_and_lists(cli):
    from attriguard.cli._options import Shown
    from attriguard.cli._shell import bar

    with bar(Shown(quiet=True)) as progress:
        assert progress.quiet
    assert cli("datasets", "-q")[1].split() == ag.dataset_names()
    assert cli("datasets", "list", "-q")[1].split() == ag.dataset_names()


def test_a_release_without_a_key_says_so_once(cli, files, guard_file, tmp_path):
    common = ["protect", files / "ratings.csv", "--guard", guard_file, "--output", tmp_path / "r.csv"]
    assert cli(*common)[2].count("without a key every release is drawn anew") == 1
    assert "without a key" not in cli(*common, "--key", "correct horse battery")[2]
    assert "without a key" not in cli(*common, "--seed", "1")[2]
    assert "without a key" not in cli(*common, "-q")[2]


HEAVY = ("torch", "numba", "sklearn", "scipy", "pyarrow", "matplotlib", "jinja2", "pooch", "numpy")


@pytest.mark.parametrize(
    ("code", "forbidden"),
    [
        ("import attriguard", HEAVY),
        ("from attriguard.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass", HEAVY),
        ("import attriguard as ag; ag.AttriGuard", ("torch", "numba", "matplotlib", "jinja2", "pooch")),
    ],
)
def test_starting_loads_nothing_heavy(code, forbidden):
    check = f"{code}\nimport sys\nprint('loaded:', [m for m in {forbidden!r} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True).stdout
    assert out.strip().endswith("loaded: []")


def test_an_interrupt_is_no_traceback(monkeypatch, cli):
    from attriguard.data.named import datasets

    def interrupted(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(datasets, "load_dataset", interrupted)
    code, _, err = cli("demo", "--output", "never.html")
    assert code == 130
    assert err == "attriguard: interrupted; no output file was changed\n"


def test_brackets_are_printed_as_they_are(capsys):
    from attriguard.cli._shell import console, print_table
    from attriguard.report.page import Table

    console().print("pip install 'attriguard[nn]'")
    print_table(Table(["app [beta]"], [["[red]Maps[/]"]]))
    out = capsys.readouterr().out
    for text in ("attriguard[nn]", "app [beta]", "[red]Maps[/]"):
        assert text in out
