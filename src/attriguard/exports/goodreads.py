"""Goodreads: the library export. An ISBN is written as ="0439023483", and a rating of 0 is none."""

from __future__ import annotations

from attriguard.exports.base import Export, Row, number, planned, year
from attriguard.exports.scales import Scale
from attriguard.exports.sheet import Sheet

NAME = "Goodreads"
STARS = Scale(1.0, 5.0, 1.0)
COLUMNS = (
    "Book Id", "Title", "Original Publication Year", "Year Published", "My Rating", "ISBN", "ISBN13", "Exclusive Shelf",
)  # fmt: skip


def knows(sheet: Sheet) -> bool:
    """By its ids and the name of its ratings."""
    return sheet.has("Book Id", "Title", "My Rating")


def read(sheet: Sheet) -> Export:
    """Books that are still to be read are left out."""
    rows, left_out = [], 0
    for book, title, first, this, stars, short, long, shelf in sheet.cells(*COLUMNS):
        if shelf == "to-read":
            left_out += 1
            continue
        also = tuple(isbn for isbn in (plain_isbn(short), plain_isbn(long)) if isbn)
        rows.append(Row(book or None, title, year(first) or year(this), number(stars), also))
    return Export(NAME, tuple(rows), STARS, planned(left_out))


def plain_isbn(text: str) -> str:
    """The number itself: ="0439023483" keeps a spreadsheet from dropping its zeros."""
    return text.removeprefix("=").strip('"')
