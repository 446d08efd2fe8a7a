"""One person's export in place of a table of ratings: the table then has one user, "me"."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pyarrow as pa

from attriguard.data.files import read_bytes
from attriguard.data.tables.columns import find_column
from attriguard.data.tables.suffixes import suffix_of
from attriguard.data.tables.table import InputTable, TableLike, read_table
from attriguard.exports.base import Export, Row
from attriguard.exports.reader import SHEETS, parse_export
from attriguard.exports.scales import Scale
from attriguard.exports.sheet import MOST_HEADER, parse_sheet

PERSON = "me"
# What sites pack exports in; no table of many people comes so.
EXPORT_SUFFIXES = (".json", ".xml", ".xml.gz", ".zip")


def read_export(path: str | os.PathLike[str]) -> Export:
    """What a person downloaded from a site: Letterboxd, IMDb, Goodreads, Netflix … or any CSV with a column of titles.

    The format is found by what the file holds; zip files are opened.

    Examples
    --------
    >>> import attriguard as ag, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "ratings.csv")
    >>> _ = path.write_text("Date,Name,Year,Letterboxd URI,Rating\\n2021-03-01,Heat,1995,https://boxd.it/2bg6,4.5\\n")
    >>> export = ag.read_export(path)
    >>> export.format, export.rows[0].title, export.rows[0].rating
    ('Letterboxd', 'Heat', 4.5)
    """
    file = Path(path)
    return parse_export(file.name, read_bytes(file))


def read_ratings_table(given: TableLike, user: str | None) -> tuple[InputTable, Scale | None]:
    """A table of ratings, and its scale where the site that it comes from has one."""
    if user is None and isinstance(given, (str, os.PathLike)) and is_export(given):
        export = read_export(given)
        return _one_user(export, Path(given).name), export.scale
    return read_table(given, "the ratings table"), None


def is_export(given: Any) -> bool:
    """Whether this is a file with one person's export: by its suffix, or by a site's header that names no user."""
    if not isinstance(given, (str, os.PathLike)):
        return False
    path = Path(given)
    if suffix_of(path) != ".csv" or not os.path.isfile(path):  # a pipe can be read only once
        return suffix_of(path) in EXPORT_SUFFIXES
    try:
        with path.open("rb") as file:
            start = file.read(MOST_HEADER)
    except OSError:  # whoever reads the table says what is wrong
        return False
    line = re.split(r"[\r\n]", start.decode("utf-8-sig", errors="replace"), maxsplit=1)[0]
    sheet = parse_sheet(line, path.name)
    return find_column(sheet.header, "user") is None and any(site.knows(sheet) for site in SHEETS)


def _one_user(export: Export, name: str) -> InputTable:
    """The titles that count, as rows of one user."""
    rows = {_named(row): row.rating for row in export.rows if row.rating is not None or export.scale is None}
    columns = {"user": [PERSON] * len(rows), "item": list(rows)}
    ratings = {} if export.scale is None else {"rating": list(rows.values())}
    return read_table(InputTable(pa.table({**columns, **ratings}), name))


def _named(row: Row) -> str:
    return row.title if row.year is None else f"{row.title} ({row.year})"
