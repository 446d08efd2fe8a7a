"""What Windows and macOS do otherwise than Linux, simulated: open files, locks, modes, syncs, memory, encodings."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

import attriguard as ag
from attriguard.bench import measure
from attriguard.data import files
from attriguard.data.files import sweep, sync, written_beside
from attriguard.data.locks import try_lock, used_alone
from attriguard.errors import BusyError, DataError

PACKAGE = Path(files.__file__).parents[1]


@pytest.fixture
def windows(monkeypatch):
    """Windows in so far as files behave: no open file is renamed or removed, modes go by paths, locks are msvcrt's."""
    really_open, really_close, chmod = os.open, os.close, os.chmod
    opened, locked = {}, set()

    def open_(path, flags, mode=0o777):
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied", str(path))
        number = really_open(path, flags, mode)
        opened[number] = (os.fstat(number).st_ino, flags)
        return number

    def close(number):
        inode, _ = opened.pop(number, (None, 0))
        locked.discard(inode)
        really_close(number)

    def fsync(number):
        if not opened[number][1] & (os.O_RDWR | os.O_WRONLY):
            raise OSError(9, "Bad file descriptor")

    def chmod_by_path(path, mode, **_how):
        if isinstance(path, int):
            raise TypeError("chmod: path should be string, bytes or os.PathLike, not int")
        chmod(path, mode)

    def refuse_open(method):
        def guarded(self, *arguments, **options):
            if self.exists() and self.stat().st_ino in [inode for inode, _ in opened.values()]:
                raise PermissionError(13, "the process cannot access the file: it is being used", str(self))
            return method(self, *arguments, **options)

        return guarded

    def locking(number, _mode, _bytes):
        inode = opened[number][0]
        if inode in locked:
            raise PermissionError(13, "Permission denied")
        locked.add(inode)

    msvcrt = ModuleType("msvcrt")
    msvcrt.locking, msvcrt.LK_NBLCK = locking, 2
    monkeypatch.setitem(sys.modules, "msvcrt", msvcrt)
    monkeypatch.setitem(sys.modules, "fcntl", None)  # importing it fails
    monkeypatch.setattr(sys, "platform", "win32")
    for name, stand_in in {"open": open_, "close": close, "fsync": fsync, "chmod": chmod_by_path}.items():
        monkeypatch.setattr(os, name, stand_in)
    monkeypatch.setattr(os, "supports_fd", set())
    for name in ("replace", "unlink"):
        monkeypatch.setattr(Path, name, refuse_open(getattr(Path, name)))
    yield opened
    monkeypatch.undo()


def test_a_file_is_replaced(windows, tmp_path):
    path = tmp_path / "city.guard"
    path.write_bytes(b"old")
    with written_beside(path, private=True) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["city.guard"]
    assert not windows  # every file was closed


def test_what_fails_leaves_the_old_file_and_nothing_else(windows, tmp_path):
    path = tmp_path / "city.guard"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), written_beside(path) as file:
        file.write(bytes(1 // (file.write(b"half") - 4)))
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["city.guard"]
    assert not windows


def test_the_second_run_is_told(windows, tmp_path):
    with used_alone(tmp_path), pytest.raises(BusyError, match="another run is using"), used_alone(tmp_path):
        pass
    with used_alone(tmp_path):  # the lock file may stay there, its lock does not
        pass
    assert not windows


def test_a_file_is_synced_and_a_folder_need_not_be(windows, tmp_path):
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"rows")
    sync(path)
    files.sync_folder(tmp_path)  # Windows opens no folders
    assert not windows


def test_a_system_without_locks_goes_on_without(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with (tmp_path / "x").open("wb") as file:
        assert try_lock(file.fileno()) is None


def test_a_reserved_name_is_one_line(monkeypatch, tmp_path):
    def refuse(*_):
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "open", refuse)
    with (
        pytest.raises(DataError, match="cannot be written: Invalid argument; name another file"),
        written_beside(tmp_path / "con.csv"),
    ):
        pass


def test_memory_is_told_in_the_systems_own_unit(monkeypatch):
    here = measure.peak_gb()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert measure.peak_gb() == pytest.approx(here / 1024, rel=0.1)
    monkeypatch.setitem(sys.modules, "resource", None)
    assert measure.peak_gb() == 0.0


def text_without_encoding(tree):
    """Lines where text is read or written in whatever encoding the machine prefers."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or any(word.arg == "encoding" for word in node.keywords):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        modes = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        opens = name in ("open", "fdopen") and (modes and all(set(mode) <= set("rwax+") for mode in modes[-1:]))
        if name in ("read_text", "write_text") or opens:
            yield node.lineno


def test_text_has_an_encoding():
    found = [
        f"src/attriguard/{path.relative_to(PACKAGE).as_posix()}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line in text_without_encoding(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not found, f"text in whatever encoding the machine prefers: {', '.join(found)}"


@pytest.mark.parametrize(
    ("code", "is_found"),
    [
        ("path.read_text()", True),
        ("path.read_text(encoding='utf-8')", False),
        ("path.write_text(text)", True),
        ("open(path, 'w')", True),
        ("open(path, 'wb')", False),
        ("path.open('rb')", False),
        ("os.fdopen(number, 'w', encoding='ascii')", False),
    ],
)
def test_missing_encodings_are_found(code, is_found):
    assert bool(list(text_without_encoding(ast.parse(code)))) == is_found


def test_what_a_killed_run_left_is_swept(windows, tmp_path):
    left = tmp_path / f".attriguard-{'0' * 32}.part"
    left.write_bytes(b"half")
    sweep(tmp_path)
    assert not left.exists()
    assert not windows


def test_a_file_that_is_whole_can_be_read_before_it_has_its_name(windows, tmp_path):
    """Locks of Windows are mandatory: what is locked, nobody reads, not even by another number."""
    read = []
    with written_beside(
        tmp_path / "june.csv", whole=lambda path: read.append((path.read_bytes(), dict(windows)))
    ) as to:
        to.write(b"rows")
    assert read == [(b"rows", {})]


def test_a_ledger_is_kept(windows, tmp_path):
    """Where names in a folder cannot be put on the disk, a release counts all the same."""
    data = ag.load_dataset("twin", n_users=60, n_items=20, n_values=2)
    guard = ag.learn(data, goal="mislead", budget=1.0, random_state=0)
    for month in ("may.csv", "june.csv"):
        released = ag.protect(data.to_arrow(), guard, key=b"0123456789abcdef", ledger=tmp_path / "told", check=False)
        released.save(tmp_path / month)
    assert len(ag.describe_ledger(tmp_path / "told").releases) == 2
