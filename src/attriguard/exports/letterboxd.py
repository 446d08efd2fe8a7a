"""Letterboxd: ratings.csv, watched.csv, diary.csv and reviews.csv of its export."""

from __future__ import annotations

from attriguard.exports.base import Export, Row, number, year
from attriguard.exports.scales import Scale
from attriguard.exports.sheet import Sheet

NAME = "Letterboxd"
HALF_STARS = Scale(0.5, 5.0, 0.5)


def knows(sheet: Sheet) -> bool:
    """By the column of addresses, which no other site has."""
    return sheet.has("Name", "Year", "Letterboxd URI")


def read(sheet: Sheet) -> Export:
    """In a diary the address is that of the entry, not of the film."""
    diary = sheet.has("Watched Date")
    rows = [
        Row(None if diary else uri or None, title, year(when), number(rating))
        for uri, title, when, rating in sheet.cells("Letterboxd URI", "Name", "Year", "Rating")
    ]
    return Export(NAME, tuple(rows), HALF_STARS if sheet.has("Rating") else None)
