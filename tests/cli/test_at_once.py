"""Cheap mistakes are told before anything heavy is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numpy", "scipy", "sklearn", "pyarrow", "numba", "pandas", "matplotlib", "torch")
PROGRAM = f"""
import sys
from attriguard.cli import main
try: main(sys.argv[1:])
except SystemExit as stop: print(stop.code, [name for name in {HEAVY!r} if name in sys.modules])
"""
PROTECT = ["protect", "ratings.csv", "--guard", "city.guard", "--output", "out.csv"]
FIT = ["fit", "ratings.csv", "--attributes", "users.csv", "--attribute", "city", "--output", "out.guard"]
MISTAKES = [
    (["protect", "no.csv", *PROTECT[2:]], "there is no file no.csv"),
    ([*PROTECT, "--guard", "no.guard"], "there is no file no.guard"),
    ([*PROTECT, "--output", "users.csv/out.csv"], "cannot be used as a folder"),
    ([*PROTECT, "--output", "out.xlsx"], "out.xlsx"),
    ([*PROTECT, "--plan", "plan.csv"], "ends in .parquet"),
    ([*PROTECT, "--locked", "no.csv"], "there is no file no.csv"),
    ([*PROTECT, "--key", "@no.key"], "there is no file no.key"),
    ([*PROTECT, "--key", "users.csv"], "write --key @users.csv"),
    ([*PROTECT, "--key", " " * 20], "this key can be guessed"),
    ([*PROTECT, "--key", "@users.csv", "--output", "users.csv"], "users.csv would be overwritten"),
    (["key", "new", "users.csv"], "users.csv is there already"),
    ([*PROTECT, "--goal", "conceel"], "unknown goal 'conceel'; known: mislead, conceal, both; did you mean conceal?"),
    ([*PROTECT, "--policy", "all"], "unknown policy 'all'"),
    ([*PROTECT, "--json", "--output", "-"], "both write to standard output"),
    (["fit", "no.csv", *FIT[2:]], "there is no file no.csv"),
    ([*FIT, "--attributes", "no.csv"], "there is no file no.csv"),
    (["fit", "-", *FIT[2:], "--attributes", "-"], "standard input holds one table"),
    (["fit", "ratings.csv", "--output", "g"], "name a table with a row a user with --attributes"),
    (["fit", "--output", "g"], "name a table of RATINGS"),
    (["fit", "--dataset", "twn", "--output", "g"], "did you mean twin?"),
    (["audit", *FIT[1:-2], "--attacks", "LR-A,LS-A"], "unknown attack 'LS-A'"),
    (["evaluate", *FIT[1:-2], "--attacks", "self-trained(LS-A)"], "unknown attack 'LS-A'"),
    (["evaluate", *FIT[1:-2], "--attacks", "selftrained(LR-A)"], "unknown attack 'selftrained(LR-A)'"),
    (["evaluate", *FIT[1:-2], "--defenses", "Blurme"], "did you mean BlurMe?"),
    (["reproduce", "figure-99"], "unknown experiment 'figure-99'"),
    (["bench", "--only", "phase3"], "unknown part 'phase3'"),
    (["datasets", "info", "movielens"], "unknown data set 'movielens'"),
    (["page", "no.guard", "--output", "p.html"], "there is no file no.guard"),
    (["page", "--dataset", "twn", "--output", "p.html"], "did you mean twin?"),
    (["page", "city.guard", "--titles", "no.csv", "--output", "p.html"], "there is no file no.csv"),
    (["guard", "show", "no.guard"], "there is no file no.guard"),
    (["guard", "share", "city.guard", "--output", "city.guard"], "city.guard would be overwritten"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("ratings.csv", "users.csv", "city.guard"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("command", "told"), MISTAKES, ids=lambda given: given if isinstance(given, str) else None)
def test_nothing_heavy_is_loaded_to_tell_a_mistake(folder, command, told):
    done = subprocess.run([sys.executable, "-c", PROGRAM, *command], capture_output=True, text=True, check=True)
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == "2 []\n"
    assert len(list(folder.iterdir())) == 3


def test_a_missing_file_costs_little_time(folder):
    """Seconds of the processor, so that a busy machine does not count; about 0.3."""
    resource = pytest.importorskip("resource")

    def seconds():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = seconds()
    subprocess.run([sys.executable, "-c", PROGRAM, *PROTECT, "--guard", "no"], capture_output=True, check=True)
    assert seconds() - before < 1.0
