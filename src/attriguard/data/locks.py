"""Locks: of two runs that want the same work folder or checkpoint, the second is told so, whatever machine it is on.

A lock ends with the process that holds it, so nothing has to be cleaned up after a kill. Where no lock can be had (a
read-only folder, a file system without locks) the work goes on without one.
"""

from __future__ import annotations

import errno
import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from attriguard.errors import BusyError

TAKEN = (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK)


def try_lock(number: int) -> bool | None:
    """Lock an open file without waiting: False where another one has locked it, None where there are no locks."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)  # its first byte, even where the file is empty
        else:
            import fcntl

            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        return None
    except OSError as error:
        return False if error.errno in TAKEN else None
    return True


@contextmanager
def used_alone(path: Path) -> Iterator[None]:
    """Nobody else uses this folder, or this file, meanwhile; `BusyError` where somebody does."""
    lock = _lock_file(path)
    number = _taken(lock, path)
    if number is None:
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError):
            lock.unlink()
        os.close(number)


def _lock_file(path: Path) -> Path:
    """In the folder, or beside the file under a name of fixed length, since the file's own may be as long as can be."""
    if path.is_dir():
        return path / ".attriguard.lock"
    name = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:32]
    return path.with_name(f".attriguard-{name}.lock")


def _taken(lock: Path, path: Path) -> int | None:
    """The number of the open lock file, locked; None where there can be no lock."""
    while True:
        try:
            number = _opened(lock)
        except OSError:
            return None
        got = try_lock(number)
        if got is False:
            os.close(number)
            raise BusyError(f"another run is using {path}; wait until it is done, or name another one")
        with suppress(FileNotFoundError):
            if got is None or os.path.samestat(os.fstat(number), os.stat(lock)):
                return number
        os.close(number)  # whoever had it has just removed it: the file that counts is a new one


def _opened(lock: Path) -> int:
    flags = getattr(os, "O_NOFOLLOW", 0)
    try:
        return os.open(lock, os.O_RDWR | os.O_CREAT | flags, 0o666)
    except PermissionError:  # another user's: it can be locked all the same
        return os.open(lock, os.O_RDONLY | flags)
