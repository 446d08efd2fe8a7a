"""Last.fm: what was played, a row a time; the artists count."""

from __future__ import annotations

from attriguard.exports.base import Export, Row
from attriguard.exports.sheet import Sheet

NAME = "Last.fm"


def knows(sheet: Sheet) -> bool:
    """By the time of a play, in seconds."""
    return sheet.has("uts", "artist")


def read(sheet: Sheet) -> Export:
    """The artist of every play."""
    rows = [Row(None, artist, also=(mbid,) if mbid else ()) for artist, mbid in sheet.cells("artist", "artist_mbid")]
    return Export(NAME, tuple(rows), None, ("artists count, however often you heard them",))
