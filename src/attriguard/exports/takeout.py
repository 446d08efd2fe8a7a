"""Google Play, as Takeout gives it: Installs.json and Library.json."""

from __future__ import annotations

from typing import Any

from attriguard.exports.base import Export, Row, text_at

NAME = "Google Play"
KINDS = ("install", "libraryDoc")


def knows(value: Any) -> bool:
    """A list of documents with titles."""
    return isinstance(value, list) and any(_title(entry) for entry in value)


def read(value: Any) -> Export:
    """Every app, once."""
    return Export(NAME, tuple(Row(None, _title(entry)) for entry in value))


def _title(entry: Any) -> str:
    return next(filter(None, (text_at(entry, kind, "doc", "title").strip() for kind in KINDS)), "")
