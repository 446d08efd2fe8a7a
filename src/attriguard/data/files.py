"""Files in and out: whole files read with plain errors, files written beside and renamed."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from attriguard.data.bounds import gunzip
from attriguard.errors import DataError

GZIP_MAGIC = b"\x1f\x8b"


def check_file(path: Path, *, hint: str = "") -> Path:
    """Refuse a path that is a folder or does not exist; ``hint`` ends the error line."""
    if path.is_dir():
        raise DataError(f"{path} is a folder, but a file was expected; name the file in it{hint}")
    if not path.exists():
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
def written_beside(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to write. It gets its name only when it is complete, so a crash leaves the old file as it was."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; name the file to write")
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            yield file
        beside.replace(path)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}; is there such a folder?") from error
    finally:
        beside.unlink(missing_ok=True)
