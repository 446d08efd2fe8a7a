"""`attriguard cache`: what is kept, where, how large; and clearing it without touching anything else."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import attriguard as ag


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache with something of everything, and things in it that are not ours."""
    root, compiled = tmp_path / "cache", tmp_path / "compiled"
    monkeypatch.setenv("ATTRIGUARD_CACHE", str(root))
    monkeypatch.setattr("attriguard.operations.cache.compiled_folder", lambda: compiled)
    for name, size in {
        "cache/movielens-100k/u.data": 100,
        "cache/movielens-100k/u.user": 20,
        "cache/movielens-100k/notes.txt": 7,
        "cache/evaluate/predictions/0a.safetensors": 30,
        "cache/evaluate/predictions/.0b.safetensors.12.part": 3,
        "cache/evaluate/networks/network-1.safetensors": 1000,
        "cache/mine.csv": 5,
        "cache/twin/own.csv": 5,
        "compiled/greedy.search-1.py311.nbi": 2,
        "compiled/greedy.search-1.py311.1.nbc": 8,
        "compiled/greedy.cpython-311.pyc": 50,
        "elsewhere/u.data": 11,
        "elsewhere/kept.safetensors": 11,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    return tmp_path


def left(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


SIZES = {"data": (2, 120), "predictions": (2, 33), "networks": (1, 1000), "compiled": (2, 10)}
FOREIGN = ["cache/mine.csv", "cache/movielens-100k/notes.txt", "cache/twin/own.csv", "compiled/greedy.cpython-311.pyc",
           "elsewhere/kept.safetensors", "elsewhere/u.data"]  # fmt: skip


def test_what_is_kept(cache, cli):
    code, out, err = cli("cache", "--json")
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert record["folder"] == str(cache / "cache")
    assert {name: (part["files"], part["bytes"]) for name, part in record["parts"].items()} == SIZES
    assert record["bytes"] == 1163
    out = cli("cache")[1]
    assert "1.2 kB in all" in out
    assert str(cache / "cache" / "evaluate" / "predictions") in out
    assert cli("cache", "-q")[1] == f"{cache / 'cache'}\n"


def test_clearing_removes_what_is_ours_and_says_how_much(cache, cli):
    code, out, err = cli("cache", "clear", "--yes")
    assert (code, out, err) == (0, "removed 7 files, 1.2 kB\n", "")
    assert left(cache) == FOREIGN
    assert not (cache / "cache" / "evaluate" / "predictions").exists()
    assert cli("cache", "clear")[:2] == (0, "removed 0 files, 0 bytes\n")  # nothing to ask about


def test_some_parts_and_json(cache, cli):
    before = left(cache)
    code, out, _ = cli("cache", "clear", "predictions", "compiled", "--yes", "--json")
    assert code == 0
    assert json.loads(out)["bytes"] == 43
    gone = set(before) - set(left(cache))
    assert {name.split("/")[-2] for name in gone} == {"predictions", "compiled"}
    assert len(gone) == 4
    code, out, err = cli("cache", "clear", "everything", "--yes")
    assert (code, out) == (2, "")
    assert "known: data, predictions, networks, compiled" in err


def test_it_asks_first(cache, cli, monkeypatch):
    before = left(cache)
    asked = []
    monkeypatch.setattr("typer.confirm", lambda text, **_: asked.append(text) or False)
    code, out, err = cli("cache", "clear")
    assert (code, out) == (1, "")
    assert asked == ["Remove data (120 bytes), predictions (33 bytes), networks (1.0 kB), compiled (10 bytes)?"]
    assert "Nothing was removed." in err
    assert left(cache) == before


@pytest.mark.posix
def test_links_are_not_followed(cache):
    root = cache / "cache"
    for path in (root / "movielens-100k").iterdir():
        path.unlink()
    (root / "movielens-100k").rmdir()
    (root / "movielens-100k").symlink_to(cache / "elsewhere")
    (root / "evaluate" / "predictions" / "0c.safetensors").symlink_to(cache / "elsewhere" / "kept.safetensors")
    (root / "evaluate").rename(cache / "elsewhere" / "evaluate")
    (root / "evaluate").symlink_to(cache / "elsewhere" / "evaluate")
    removed = ag.clear_cache()
    assert {part.name: len(part.files) for part in removed.parts} == {
        "data": 0, "predictions": 0, "networks": 0, "compiled": 2,
    }  # fmt: skip
    assert len(left(cache / "elsewhere")) == 6
    (root / "evaluate").unlink()
    (cache / "elsewhere" / "evaluate").rename(root / "evaluate")
    ag.clear_cache(["predictions"])
    assert (cache / "elsewhere" / "kept.safetensors").exists()
    assert (root / "evaluate" / "predictions" / "0c.safetensors").is_symlink()


@pytest.mark.posix
def test_a_cache_that_is_itself_a_link_is_cleared(cache, monkeypatch):
    (cache / "link").symlink_to(cache / "cache")
    monkeypatch.setenv("ATTRIGUARD_CACHE", str(cache / "link"))
    assert ag.clear_cache(["data"]).size == 120


def test_compiled_code_is_found_without_compiling(tmp_path):
    program = (
        "from attriguard.kernels import types\nimport attriguard as ag\n"
        "print(ag.cache_info(['compiled']).parts[0].size)\n"
        "import attriguard.kernels.adam\n"
        "print(len(ag.cache_info(['compiled']).parts[0].files), ag.clear_cache(['compiled']).size > 1000)\n"
        "print(ag.cache_info(['compiled']).size)"
    )
    import os

    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "numba")}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["0", "2 True", "0"]
