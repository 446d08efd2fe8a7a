"""Fixtures of the command-line tests: a folder with the files a person would have."""

from __future__ import annotations

import subprocess
import sys

import pytest

import attriguard as ag
from attriguard.cli import app
from attriguard.cli._shell import run


@pytest.fixture
def cli(capsys):
    """Run a command in this process, as the console script would: exit code, output, error output."""

    def call(*arguments):
        code = run(app, [str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture(scope="session")
def shell():
    """Run the console script in a process of its own."""

    def call(*arguments, **options):
        command = [sys.executable, "-c", "from attriguard.cli import main; main()", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, **options)

    return call


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """ratings.csv, users.csv and a guard made of them."""
    folder = tmp_path_factory.mktemp("files")
    twin = ag.load_dataset("twin", n_users=300, n_items=120, n_values=3, seed=2)
    X = twin.X.tocoo()
    rows = ["user,app,stars,when"]
    rows += [
        f"u{u:03d},{twin.item_names[i]},{int(r)},2024-01-{u % 28 + 1:02d}"
        for u, i, r in zip(*X.coords, twin.scale.from_unit(X.data), strict=True)
    ]
    (folder / "ratings.csv").write_text("\n".join(rows) + "\n")
    users = ["user,city,age"] + [f"u{u:03d},{twin.values[y]},{20 + u % 3}" for u, y in enumerate(twin.y)]
    (folder / "users.csv").write_text("\n".join(users) + "\n")
    return folder


@pytest.fixture(scope="session")
def guard_file(files, shell):
    path = files / "city.guard"
    done = shell(
        "fit", files / "ratings.csv", "--attributes", files / "users.csv", "--attribute", "city", "--output", path
    )
    assert done.returncode == 0, done.stderr
    return path
