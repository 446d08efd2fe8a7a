"""parse_export: bytes in, an `Export` out; the format is found by what the file holds, not by its name."""

from __future__ import annotations

import codecs
import json
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from attriguard.errors import DataError
from attriguard.exports import (
    any_csv,
    archive,
    goodreads,
    imdb,
    lastfm,
    letterboxd,
    myanimelist,
    netflix,
    steam,
    storygraph,
    takeout,
    trakt,
)
from attriguard.exports.base import Export, Format, gathered, rated
from attriguard.exports.sheet import Sheet, parse_sheet

SHEETS: tuple[Format, ...] = (letterboxd, imdb, goodreads, storygraph, netflix, lastfm)
VALUES: tuple[Format, ...] = (trakt, steam, takeout)
TREES: tuple[Format, ...] = (myanimelist,)
SITES = tuple(site.NAME for site in (*SHEETS, *TREES, *VALUES))


def parse_export(name: str, content: bytes) -> Export:
    """What a person downloaded, of a file or of the zip file that it came in; `DataError` where it is no export."""
    if len(content) > archive.MOST_BYTES:
        raise archive.too_large(name)
    if content.startswith(archive.MAGIC):
        return _best_of(name, content)
    found = _read(name, content)
    if found is None:
        raise DataError(f"{name} is no export that is known: {', '.join(SITES)}, or a CSV file with a column 'title'")
    return found


def _best_of(name: str, content: bytes) -> Export:
    """Of the files in a zip file the one with most ratings; where none has any, the one with most titles."""
    found = []
    for member, inner in archive.members(content, name):
        try:
            export = _read(member, inner)
        except DataError:
            continue
        if export is not None and export.rows:
            found.append((export.format == any_csv.NAME, -rated(export.rows), -len(export.rows), member, export))
    if not found:
        raise DataError(f"{name} holds no export that is known; unpack it, and name the file with your ratings")
    *_, member, export = min(found, key=lambda each: each[:-1])
    told = f"read {member} of {name}"
    return Export(export.format, export.rows, export.scale, (told, *export.notes))


def _read(name: str, content: bytes) -> Export | None:
    document = _document(name, content)
    site = site_of(document)
    return None if site is None else gathered(site.read(document))


def site_of(document: Any) -> Format | None:
    """Whose document this is: a sheet's, a tree's or a JSON value's; None where nobody knows it."""
    if isinstance(document, Sheet):
        sites: tuple[Format, ...] = (*SHEETS, any_csv)
    else:
        sites = TREES if isinstance(document, Element) else VALUES
    return next((site for site in sites if site.knows(document)), None)


def _document(name: str, content: bytes) -> Any:
    text = _decoded(content)
    start = text.lstrip()[:1]
    if not start:
        raise DataError(f"{name} is empty; download it again")
    if "\0" in text:
        raise DataError(f"{name} is no text; give the file as the site made it: CSV, JSON, XML, or the zip file")
    if start == "<":
        return _tree(name, text)
    if start not in ("{", "["):
        return parse_sheet(text, name)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise DataError(f"{name} is no whole JSON file; download it again") from None


def _decoded(content: bytes) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


class _NoDoctype(TreeBuilder):
    """A document type may name files to be read, and texts that grow: no export has one."""

    def doctype(self, *_: Any) -> None:
        """Called before any of it is read."""
        raise ParseError("a document type")


def _tree(name: str, text: str) -> Element:
    parser = XMLParser(target=_NoDoctype())
    try:
        parser.feed(text)
        root: Element = parser.close()
    except ParseError:
        raise DataError(f"{name} is no whole XML file of a list, or has a document type; download it again") from None
    return root
