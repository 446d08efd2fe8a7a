"""Where a page comes from: when and with what it was made, by which command, from which files."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attriguard.errors import ParameterError
from attriguard.report.record import versions

EPOCH = (
    "SOURCE_DATE_EPOCH"  # seconds since 1970 that stand for the time, so that a page can be made again byte for byte
)
NAMED = {"attriguard": "attriguard", "python": "Python", "numpy": "NumPy", "scikit-learn": "scikit-learn"}
FileHash = tuple[str, str]  # a file's name, without its folder, since a page can be sent around; and its SHA-256


@dataclass(frozen=True)
class Origin:
    """The command and the seed that asked for a result, and the files that were read and written for it.

    Attributes
    ----------
    command
        The command line; it must hold no secret.
    seed
        The seed, or several with commas between; None: chance was the operating system's.
    inputs, outputs
        Files by name and SHA-256; `reading` and `writing` add one.
    """

    command: str = ""
    seed: int | str | None = None
    inputs: tuple[FileHash, ...] = ()
    outputs: tuple[FileHash, ...] = ()

    def reading(self, *paths: str | os.PathLike[str]) -> Origin:
        """The same, with these files among those that were read."""
        return replace(self, inputs=(*self.inputs, *_hashed(paths)))

    def writing(self, *paths: str | os.PathLike[str]) -> Origin:
        """The same, with these files among those that were written."""
        return replace(self, outputs=(*self.outputs, *_hashed(paths)))

    def record(self) -> dict[str, Any]:
        """What is known, as JSON knows it."""
        known = {"command": self.command, "seed": self.seed, "inputs": dict(self.inputs)}
        return {name: value for name, value in known.items() if value not in ("", None, {})}

    def facts(self) -> list[tuple[str, str]]:
        """What a page says of it, with the time and the versions."""
        used = versions()
        known = [("made", made_at()), ("with", ", ".join(f"{words} {used[name]}" for name, words in NAMED.items()))]
        if self.command:
            known.append(("command", self.command))
        if self.command or self.seed is not None:
            known.append(("seed", "none" if self.seed is None else str(self.seed)))
        known += [("read", f"{name}, SHA-256 {mark}") for name, mark in self.inputs]
        return known + [("written", f"{name}, SHA-256 {mark}") for name, mark in self.outputs]


def made_at() -> str:
    """The time in UTC, to the minute; SOURCE_DATE_EPOCH instead of the clock, where that is set."""
    given = os.environ.get(EPOCH)
    try:
        moment = datetime.fromtimestamp(int(given), UTC) if given else datetime.now(UTC)
    except (ValueError, OverflowError, OSError):
        raise ParameterError(f"{EPOCH} must be a whole number of seconds since 1970, got {given!r}") from None
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _hashed(paths: tuple[str | os.PathLike[str], ...]) -> list[FileHash]:
    """The files among these paths: a pipe cannot be read twice."""
    found = []
    for path in map(Path, paths):
        if path.is_file():
            with path.open("rb") as file:
                found.append((path.name, hashlib.file_digest(file, "sha256").hexdigest()))
    return found
