"""``ag.new_key``: a random secret in a file of its own; ``ag.read_key``: the secret in any form, checked."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from attriguard._keys import NEW_KEY_BYTES, check_key
from attriguard.data.files import make_folder, read_bytes
from attriguard.errors import DataError, ParameterError

KeyLike = bytes | str | os.PathLike[str] | None
OWNER_ONLY = 0o600


def new_key(path: str | os.PathLike[str]) -> Path:
    """Write a random secret of 32 bytes, as hexadecimal text, to a new file that only its owner can read.

    A file that is there is never overwritten: releases under its key could not be repeated.

    Examples
    --------
    >>> import attriguard as ag, tempfile, pathlib
    >>> folder = tempfile.mkdtemp()
    >>> path = ag.new_key(pathlib.Path(folder, "secret.key"))
    >>> len(ag.read_key(path))
    64
    """
    target = Path(path)
    make_folder(target.parent)
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    except FileExistsError:
        raise DataError(
            f"{target} is there already, and releases under its key could not be repeated without it; name another file"
        ) from None
    except OSError as error:
        raise DataError(f"{target} cannot be written: {error.strerror or error}; name another file") from error
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secrets.token_hex(NEW_KEY_BYTES) + "\n")
    return target


def read_key(key: KeyLike) -> bytes | None:
    """The secret itself (bytes or text), or the content of the file that a path names; one to be guessed is refused.

    Text that is the name of a file is refused: whoever writes it means what the file holds.
    """
    if isinstance(key, os.PathLike):
        return check_key(read_bytes(Path(key)).strip())
    if isinstance(key, str) and _is_file(key):
        raise ParameterError(
            f"the key is the name of the file {key}, not what it holds; write --key @{key}, and in Python "
            f"key=pathlib.Path({key!r})"
        )
    return None if key is None else check_key(key)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # a text that can be no name
        return False


def key_warnings(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """What a person should know about the file that holds a key: whether others on this machine can read it."""
    if os.name != "posix" or not stat.S_IMODE(Path(path).stat().st_mode) & 0o077:
        return ()
    return (f"others on this machine may read the key in {path}; keep it to yourself with: chmod 600 {path}",)
