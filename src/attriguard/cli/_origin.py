"""Where the result of a command comes from: the command line as typed, but for secrets and folders; seed and files."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import attriguard as ag

typed: ContextVar[tuple[str, ...]] = ContextVar("typed", default=())  # the arguments of the command that is running
SECRETS = ("--key",)
HIDDEN = "HIDDEN"


def origin_of(seed: int | str | None, read: Iterable[Path]) -> ag.Origin:
    """Where the result of the running command comes from."""
    import attriguard as ag

    return ag.Origin(command_line(typed.get()), seed).reading(*read)


def command_line(arguments: Iterable[str]) -> str:
    """The command line without what a page that is sent around must not hold: secrets, and names of folders."""
    shown, before = [], ""
    for argument in arguments:
        option, equals, value = argument.partition("=") if argument.startswith("--") else ("", "", argument)
        if before in SECRETS:  # whatever follows is the secret, even where it looks like an option
            shown.append(_without_secret(argument))
        elif option in SECRETS and equals:
            shown.append(f"{option}={_without_secret(value)}")
        else:
            shown.append(f"{option}{equals}{_without_folder(value)}")
        before = argument
    return shlex.join(["attriguard", *shown])


def _without_secret(value: str) -> str:
    """The name of the file that holds a secret is none."""
    return f"@{Path(value).name}" if value.startswith("@") else HIDDEN


def _without_folder(argument: str) -> str:
    """A path's last part; other words that hold a slash stay as they are."""
    path = Path(argument)
    is_path = argument.startswith("~") or path.is_absolute() or (path.parent != Path() and os.path.isdir(path.parent))
    return path.name if is_path else argument
