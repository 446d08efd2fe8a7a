"""The shell of the command line: help, version, start-up cost, and errors."""

from __future__ import annotations

import subprocess
import sys

import pytest

COMMANDS = ("demo", "datasets", "fit", "protect", "audit", "evaluate", "reproduce", "bench")


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


def test_an_unknown_command_is_one_line(cli):
    code, _, err = cli("nonsense")
    assert code == 2
    assert err == "attriguard: error: No such command 'nonsense'; see: attriguard --help\n"


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
