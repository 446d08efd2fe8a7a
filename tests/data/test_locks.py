"""Of two runs that want the same folder or file, the second is told so; a kill leaves no lock behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from attriguard.data import locks
from attriguard.data.locks import used_alone
from attriguard.errors import BusyError

HOLDER = """
import sys
from pathlib import Path
from attriguard.data.locks import used_alone
with used_alone(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.posix
@pytest.mark.parametrize("name", ["work", "city.guard.training", "x" * 255])
def test_the_second_run_is_told_and_a_kill_frees_the_lock(tmp_path, name):
    path = tmp_path / name
    if name == "work":
        path.mkdir()
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(BusyError, match=f"another run is using .*{name}; wait"), used_alone(path):
        pass
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    with used_alone(path):
        with pytest.raises(BusyError), used_alone(path):  # in the same process, too
            pass
        with used_alone(tmp_path / "other"):
            pass
    assert not list(tmp_path.rglob(".attriguard*"))


def test_a_lock_that_was_removed_in_between_is_no_lock(tmp_path, monkeypatch):
    path, real, opened = tmp_path / "training", locks._opened, []

    def slow(lock):
        opened.append(real(lock))
        if len(opened) == 1:
            lock.unlink()  # its last holder is done
            lock.touch()  # and a third one comes
        return opened[-1]

    monkeypatch.setattr(locks, "_opened", slow)
    with used_alone(path), pytest.raises(BusyError), used_alone(path):
        pass
    assert len(opened) == 3


def test_without_locks_work_goes_on(tmp_path, monkeypatch):
    with used_alone(tmp_path / "none" / "training"):  # nothing can be made there
        pass
    monkeypatch.setattr(locks, "try_lock", lambda number: None)
    with used_alone(tmp_path), used_alone(tmp_path):
        pass
    monkeypatch.setattr(os, "open", lambda *_: (_ for _ in ()).throw(OSError(30, "Read-only file system")))
    with used_alone(tmp_path):
        pass
