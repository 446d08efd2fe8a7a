"""Files in and out: whole files read with plain errors, files written beside and renamed."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from attriguard.data.bounds import gunzip
from attriguard.data.locks import try_lock
from attriguard.errors import DataError

GZIP_MAGIC = b"\x1f\x8b"
# The names of files that are being written; nobody else's file is called so.
LEFTOVER = re.compile(r"\.attriguard-[0-9a-f]{32}\.part")
PRIVATE = 0o600
# As many links in a row as the operating system follows.
MOST_LINKS = 40
# How files are opened: no link is followed, no waiting for a pipe's other end; a new file was not there before.
OLD_FILE = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def check_file(path: Path, *, hint: str = "") -> Path:
    """Refuse a path that is a folder or does not exist; ``hint`` ends the error line."""
    if os.path.isdir(path):  # unlike Path's own, these say no to a name that is too long
        raise DataError(f"{path} is a folder, but a file was expected; name the file in it{hint}")
    if not os.path.exists(path):
        raise DataError(f"there is no file {path}; check the name and the folder it is in")
    return path


def read_bytes(path: Path) -> bytes:
    """A whole file, unpacked if it is a gzip."""
    check_file(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    return unpacked(content, str(path), packed=path.suffix.lower() == ".gz")


def unpacked(content: bytes, name: str, *, packed: bool = False) -> bytes:
    """The content of a file, unpacked if it is a gzip; ``packed`` says that it must be one."""
    if not (packed or content.startswith(GZIP_MAGIC)):
        return content
    try:
        return gunzip(content, name)
    except (EOFError, zlib.error, OSError) as error:
        raise DataError(
            f"{name} is not a whole gzip file ({error}); it may have been cut: copy or download it again"
        ) from error


def make_folder(path: Path) -> Path:
    """Make a folder, and those that it is in, unless it is there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{path} cannot be used as a folder: {error.strerror or error}; name another one") from error
    return path


@contextmanager
def folder_for(path: Path) -> Iterator[Path]:
    """A folder to write into, made unless it is there. Work that fails leaves no empty folder that was made for it."""
    made = [each for each in (path, *path.parents) if not each.exists()]
    try:
        yield make_folder(path)
    except BaseException:
        for each in made:
            with suppress(OSError):
                each.rmdir()
        raise


def make_private_folder(path: Path) -> Path:
    """The same, for its owner alone, where the file system knows modes; somebody else's is refused."""
    _refuse_foreign(path, make_folder(path).stat(), "folder")
    with suppress(PermissionError):
        path.chmod(0o700)
    return path


def before_rename(beside: Path, path: Path) -> None:
    """Called when a new file is whole and on the disk, and before it is renamed; tests put a kill in its place."""


@contextmanager
def written_beside(
    path: Path, *, private: bool = False, whole: Callable[[Path], None] | None = None
) -> Iterator[IO[bytes]]:
    """Open a file to write. It gets its name only when it is whole and on the disk, so a crash leaves the old one.

    A link of the user's own stays, and the file that it leads to is replaced. A ``private`` file is its owner's alone;
    any other keeps the mode of the file that it replaces. ``whole`` is called with the new file once it is whole and on
    the disk, before it gets its name; a device or a pipe has no such moment.
    """
    target = check_target(path)
    try:
        if target is None:
            with path.open("wb") as file:
                yield file
            return
        beside, number, mode = _created(target, private)
        held: int | None = number
        try:
            with open(number, "wb", closefd=False) as file:  # its number stays ours: Parquet's writer closes the file
                yield file
            _set_mode(number, beside, mode)
            os.fsync(number)
            held = _closed_on_windows(held)
            if whole is not None:
                whole(beside)
            before_rename(beside, target)
            beside.replace(target)
        finally:
            held = _closed_on_windows(held)
            beside.unlink(missing_ok=True)
            if held is not None:
                os.close(held)
        sync_folder(target.parent)
    except OSError as error:
        raise _cannot_write(path, error) from error


def _cannot_write(path: Path, error: OSError) -> DataError:
    advice = "is there such a folder?" if error.errno in (errno.ENOENT, errno.ENOTDIR) else "name another file"
    return DataError(f"{path} cannot be written: {error.strerror or error}; {advice}")


def check_target(path: Path) -> Path | None:
    """The file to replace, at the end of all links; None for a device or a pipe, which is written as it is.

    A folder, a name that is too long, and a link that somebody else has made are refused.
    """
    try:
        return _end_of_links(path)
    except OSError as error:
        raise _cannot_write(path, error) from error


def _end_of_links(path: Path) -> Path | None:
    if path.exists() and not path.is_dir() and not path.is_file():
        _refuse_foreign(path, path.stat(), "file")
        return None
    here = path
    for _ in range(MOST_LINKS):
        if not here.is_symlink():
            if here.is_dir():
                raise DataError(f"{path} is a folder; name the file to write")
            return here
        _refuse_foreign(here, here.lstat(), "link")
        here = here.parent / here.readlink()
    raise DataError(f"{path} leads from link to link; name the file to write")


def _refuse_foreign(path: Path, found: os.stat_result, what: str) -> None:
    """What is written must not go where another user wants it to; the system's own links and devices are fine."""
    if hasattr(os, "geteuid") and found.st_uid not in (0, os.geteuid()):
        raise DataError(f"{path} is a {what} that somebody else has made; name another file to write")


def _created(target: Path, private: bool) -> tuple[Path, int, int]:
    """A new file beside the target that nobody else can read or guess: its name, its number, and its mode to be."""
    mode = PRIVATE if private else stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    while True:
        beside = target.with_name(f".attriguard-{secrets.token_hex(16)}.part")
        number = os.open(beside, NEW_FILE, PRIVATE if mode is not None else 0o666)
        usual = stat.S_IMODE(os.fstat(number).st_mode)  # what the user's umask leaves
        _set_mode(number, beside, PRIVATE)
        # The lock says that somebody is writing. Whoever swept the file away before it was locked has unlinked it.
        if try_lock(number) is not False and os.fstat(number).st_nlink:
            return beside, number, usual if mode is None else mode
        os.close(number)


def _set_mode(number: int, path: Path, mode: int) -> None:
    """Say who may read an open file; by its path where a number will not do (Windows, before Python 3.13)."""
    with suppress(PermissionError):  # some file systems know no modes
        os.chmod(number if os.chmod in os.supports_fd else path, mode)


def _closed_on_windows(number: int | None) -> int | None:
    """Windows reads, renames and removes no locked file; elsewhere its lock keeps the file from `sweep`."""
    if number is None or sys.platform != "win32":
        return number
    os.close(number)
    return None


def sync_folder(folder: Path) -> None:
    """Put the new name on the disk, too, where the file system knows how."""
    with suppress(OSError):
        sync(folder)


def sync(path: Path) -> None:
    """Put a file, or the names in a folder, on the disk."""
    number = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)  # what Windows syncs can be written
    try:
        os.fsync(number)
    finally:
        os.close(number)


def sweep(folder: Path) -> None:
    """Remove what killed runs were writing in a folder: files of our own kind of name that nobody has locked."""
    for path in folder.rglob(".attriguard-*.part"):
        if not LEFTOVER.fullmatch(path.name):
            continue
        with suppress(OSError):
            number = os.open(path, OLD_FILE)
            held: int | None = number
            try:
                if stat.S_ISREG(os.fstat(number).st_mode) and try_lock(number):
                    held = _closed_on_windows(number)
                    path.unlink()
            finally:
                if held is not None:
                    os.close(held)
