"""An attack of one's own, in a file beside the data: named on the command line, without a change to the source."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

ATTACK = """
import numpy as np
import attriguard as ag

class First(ag.attacks.Attack):
    name, plain_name, summary = "FIRST-A", "first", "always the first value"

    def _fit(self, X, codes):
        self._m = int(codes.max()) + 1

    def _predict_proba(self, X):
        return np.tile(np.eye(self._m)[0], (X.shape[0], 1))
"""


def test_an_attack_beside_the_data(tmp_path):
    (tmp_path / "mine.py").write_text(ATTACK)
    arguments = ["evaluate", "--twin", "200x40x2", "--attacks", "mine:First,BA-A", "--budgets", "1", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", "from attriguard.cli import main; main()", *arguments, "--work", "work"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert list(json.loads(done.stdout)["attacks"]) == ["FIRST-A", "BA-A"]


def test_a_file_beside_the_data_does_not_pass_for_a_package(tmp_path):
    """Without a plug-in that was asked for, nothing is loaded from the folder one works in."""
    for name in ("torch", "pandas", "polars", "implicit", "surprise", "mine"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('planted code was run')")
    script = (
        "import sys; sys.path = [p for p in sys.path if p]; sys.argv[1:] = ['datasets', 'list']\n"
        "from attriguard.cli import main\n"
        "try: main()\n"
        "except SystemExit as stop: assert stop.code == 0, stop.code\n"
        "import os; assert os.getcwd() not in sys.path\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("flags", [[], ["-P"]])
def test_python_runs_the_package_as_the_command(tmp_path, flags):
    """It loads nothing from the folder one works in, either."""
    for name in ("typer", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('planted code was run')")
    command = [sys.executable, *flags, "-m", "attriguard"]
    listed, mistaken = (
        subprocess.run([*command, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        for words in (["datasets", "list", "--quiet"], ["fitt"])
    )
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "twin" in listed.stdout.split()
    assert mistaken.returncode == 2
    assert mistaken.stderr.startswith("attriguard: error:")
