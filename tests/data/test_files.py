"""Files are written whole or not at all, to be read by those who may, and never through somebody else's link."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys

import pytest

from attriguard.data import files
from attriguard.data.files import LEFTOVER, check_target, sweep, written_beside
from attriguard.errors import DataError

OLD, NEW = b"old" * 50_000, b"new!" * 60_000

KILLED = """
import os, signal, sys
from pathlib import Path
from attriguard.data import files

path, stage = Path(sys.argv[1]), sys.argv[2]

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

if stage == "created":
    files.open = die
if stage == "synced":
    files.before_rename = die
if stage == "renamed":
    files.sync_folder = die
with files.written_beside(path) as file:
    file.write(b"new!" * 30_000)
    if stage == "half":
        file.flush()
        die()
    file.write(b"new!" * 30_000)
    if stage == "unflushed":
        die()
"""


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def write(path, content=NEW, **options):
    with written_beside(path, **options) as file:
        file.write(content)


@pytest.mark.posix
@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("stage", ["created", "half", "unflushed", "synced", "renamed"])
def test_a_kill_at_any_stage_leaves_the_old_file_or_the_new_one(tmp_path, stage, there):
    path = tmp_path / "released.csv"
    if there:
        path.write_bytes(OLD)
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), stage], check=False)
    assert done.returncode == -signal.SIGKILL
    if stage == "renamed":
        assert path.read_bytes() == NEW
    else:
        assert path.exists() == there
        assert not there or path.read_bytes() == OLD
    left = [each for each in tmp_path.iterdir() if each != path]
    assert len(left) == (stage != "renamed")
    assert all(LEFTOVER.fullmatch(each.name) for each in left)
    assert all(mode(each) == 0o600 for each in left if stage != "synced")
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == ([path] if path.exists() else [])


def test_an_error_while_writing_leaves_nothing_behind(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(OLD)
    with pytest.raises(ZeroDivisionError), written_beside(path) as file:
        file.write(bytes([1 // 0]))
    with pytest.raises(DataError, match="No space left"), written_beside(path):
        raise OSError(28, "No space left on device")
    assert path.read_bytes() == OLD
    assert list(tmp_path.iterdir()) == [path]


def test_file_and_folder_are_on_the_disk_before_and_after_the_rename(tmp_path, monkeypatch):
    path, done = tmp_path / "a.csv", []

    def synced(number, real=os.fsync):
        done.append("folder" if stat.S_ISDIR(os.fstat(number).st_mode) else (os.fstat(number).st_size, path.exists()))
        real(number)

    def hook(beside, target):
        done.append("hook")
        assert target == path
        assert beside.read_bytes() == NEW

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(files, "before_rename", hook)
    write(path)
    assert done == [(len(NEW), False), "hook", "folder"]


def test_two_writers_of_one_file_do_not_mix(tmp_path):
    path = tmp_path / "released.csv"
    with written_beside(path) as one:
        one.write(b"1" * 100_000)
        one.flush()
        with written_beside(path) as two:
            two.write(b"2" * 50_000)
            two.flush()
            one.write(b"1" * 100_000)
        assert path.read_bytes() == b"2" * 50_000
    assert path.read_bytes() == b"1" * 200_000


@pytest.mark.posix
def test_names_while_writing_cannot_be_guessed_and_no_planted_link_is_followed(tmp_path, monkeypatch):
    victim, names = tmp_path / "victim", []
    victim.write_bytes(OLD)
    monkeypatch.setattr(files, "before_rename", lambda beside, path: names.append(beside.name))
    for k in range(20):
        (tmp_path / f".a.csv.{os.getpid()}.part").unlink(missing_ok=True)
        (tmp_path / f".a.csv.{os.getpid()}.part").symlink_to(victim)
        write(tmp_path / "a.csv", NEW + bytes([k]))
    assert len(set(names)) == 20
    assert all(LEFTOVER.fullmatch(name) for name in names)
    assert victim.read_bytes() == OLD
    # Even where the name is known, nothing that is there is opened.
    monkeypatch.setattr(files.secrets, "token_hex", lambda n: "0" * 32)
    (tmp_path / f".attriguard-{'0' * 32}.part").symlink_to(victim)
    with pytest.raises(DataError, match="File exists"):
        write(tmp_path / "a.csv")
    assert victim.read_bytes() == OLD


@pytest.mark.posix
@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077])
def test_modes(tmp_path, umask):
    before = os.umask(umask)
    try:
        write(tmp_path / "new.csv")
        assert mode(tmp_path / "new.csv") == 0o666 & ~umask
        for given in (0o600, 0o640, 0o664, 0o444):
            (tmp_path / "new.csv").chmod(given)
            write(tmp_path / "new.csv")
            assert mode(tmp_path / "new.csv") == given
        write(tmp_path / "plan.parquet", private=True)
        assert mode(tmp_path / "plan.parquet") == 0o600
        (tmp_path / "plan.parquet").chmod(0o644)
        write(tmp_path / "plan.parquet", private=True)
        assert mode(tmp_path / "plan.parquet") == 0o600
        with written_beside(tmp_path / "new.csv"):
            (beside,) = tmp_path.glob(".attriguard-*")
            assert mode(beside) == 0o600
    finally:
        os.umask(before)


@pytest.mark.posix
def test_a_link_of_ones_own_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "data").mkdir()
    real, link, second = tmp_path / "data" / "real.csv", tmp_path / "link.csv", tmp_path / "second.csv"
    real.write_bytes(OLD)
    real.chmod(0o640)
    link.symlink_to("data/real.csv")
    second.symlink_to(link)
    write(second)
    assert link.is_symlink()
    assert second.is_symlink()
    assert real.read_bytes() == NEW
    assert mode(real) == 0o640
    assert [each.name for each in (tmp_path / "data").iterdir()] == ["real.csv"]
    real.unlink()
    write(link)
    assert real.read_bytes() == NEW


@pytest.mark.posix
def test_somebody_elses_folder_is_not_made_private(tmp_path, monkeypatch):
    folder = files.make_private_folder(tmp_path / "work")
    assert mode(folder) == 0o700
    if os.geteuid() == 0:  # what root has made is the system's own
        os.chown(folder, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(DataError, match="somebody else"):
        files.make_private_folder(folder)


@pytest.mark.posix
def test_somebody_elses_link_and_a_ring_of_links_are_refused(tmp_path, monkeypatch):
    victim, link = tmp_path / "victim", tmp_path / "out.csv"
    victim.write_bytes(OLD)
    link.symlink_to(victim)
    monkeypatch.setattr(os, "geteuid", lambda: link.lstat().st_uid + 1)
    if link.lstat().st_uid != 0:  # root's links are the system's own
        with pytest.raises(DataError, match="somebody else has made"):
            write(link)
    monkeypatch.undo()
    if os.geteuid() == 0:
        os.mkfifo(tmp_path / "pipe")
        for trap in (link, tmp_path / "pipe"):
            os.lchown(trap, 12345, -1)
            with pytest.raises(DataError, match="somebody else has made"):
                write(trap)
    assert victim.read_bytes() == OLD
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(DataError, match="link"):
        write(tmp_path / "a")


@pytest.mark.posix
def test_a_device_or_a_pipe_is_written_and_stays(tmp_path):
    write(files.Path("/dev/null"))
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write(tmp_path / "pipe", b"1,2,3")
    assert os.read(reader, 100) == b"1,2,3"
    os.close(reader)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("name", ["x" * 251 + ".csv", "ü" * 125 + ".csv"])
def test_names_may_be_as_long_as_the_file_system_allows(tmp_path, name):
    write(tmp_path / name)
    write(tmp_path / name, OLD)
    assert (tmp_path / name).read_bytes() == OLD
    for call in (write, check_target):
        with pytest.raises(DataError, match="too long; name another file"):
            call(tmp_path / ("x" + name + "xxxx"))
    with pytest.raises(DataError, match="no file"):
        files.check_file(tmp_path / ("x" + name + "xxxx"))


@pytest.mark.posix
def test_only_what_nobody_writes_any_more_is_swept(tmp_path):
    (tmp_path / "inner").mkdir()
    gone = tmp_path / "inner" / f".attriguard-{'0f' * 16}.part"
    theirs = [tmp_path / name for name in (".attriguard-notes.part", f".attriguard-{'0F' * 16}.part", "a.part")]
    link = tmp_path / f".attriguard-{'1f' * 16}.part"
    link.symlink_to(theirs[0])
    for file in (gone, *theirs):
        file.write_bytes(OLD)
    with written_beside(tmp_path / "a.csv") as file:
        file.write(NEW)
        sweep(tmp_path)
    assert (tmp_path / "a.csv").read_bytes() == NEW
    assert not gone.exists()
    assert all(file.exists() for file in theirs)
    assert link.is_symlink()
