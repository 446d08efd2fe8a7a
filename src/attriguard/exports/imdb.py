"""IMDb: the list of your ratings, with the columns of today and with those of before 2017."""

from __future__ import annotations

from attriguard.exports.base import Export, Row, number, year
from attriguard.exports.scales import Scale
from attriguard.exports.sheet import Sheet

NAME = "IMDb"
POINTS = Scale(1.0, 10.0, 1.0)
RATING = ("Your Rating", "You rated")


def knows(sheet: Sheet) -> bool:
    """By the column of IMDb's ids."""
    return sheet.has("Const", "Title")


def read(sheet: Sheet) -> Export:
    """A list that was never rated has no ratings."""
    rating = sheet.first(*RATING)
    rows = [
        Row(const or None, title, year(when), number(points))
        for const, title, when, points in sheet.cells("Const", "Title", "Year", rating)
    ]
    return Export(NAME, tuple(rows), POINTS if sheet.has(rating) else None)
