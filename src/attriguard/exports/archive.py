"""Zip files, as most sites pack an export: bounded in what they hold, and read in memory."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator

from attriguard.errors import DataError

MAGIC = b"PK\x03\x04"
SUFFIXES = (".csv", ".json", ".xml")
# What one export may hold, packed or not.
MOST_BYTES, MOST_FILES = 200_000_000, 10_000
# Folders and files of an export that hold what the person has taken back, or has yet to see.
SKIPPED = ("deleted/", "orphaned/", "__macosx/", "watchlist")


def members(content: bytes, name: str) -> Iterator[tuple[str, bytes]]:
    """The files of a zip file that may be an export, by their names."""
    left = MOST_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            listed = archive.infolist()
            if len(listed) > MOST_FILES:
                raise too_large(name)
            for member in sorted(listed, key=lambda member: member.filename):
                path = member.filename.casefold()
                if not path.endswith(SUFFIXES) or any(part in path for part in SKIPPED):
                    continue
                with archive.open(member) as file:
                    found = file.read(left + 1)
                left -= len(found)
                if left < 0:
                    raise too_large(name)
                yield member.filename, found
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError):
        raise DataError(
            f"{name} is not a whole zip file, or is locked with a password; unpack it, and name the file in it"
        ) from None


def too_large(name: str) -> DataError:
    """The error for what is no person's export."""
    return DataError(f"{name} is too large for one person's export: more than {MOST_BYTES:,} bytes")
