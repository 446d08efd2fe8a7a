"""StoryGraph: the library export, with ratings in quarters of a star."""

from __future__ import annotations

from attriguard.exports.base import Export, Row, number, planned
from attriguard.exports.scales import Scale
from attriguard.exports.sheet import Sheet

NAME = "StoryGraph"
QUARTER_STARS = Scale(0.25, 5.0, 0.25)


def knows(sheet: Sheet) -> bool:
    """By its ids and the name of its ratings."""
    return sheet.has("Title", "ISBN/UID", "Star Rating")


def read(sheet: Sheet) -> Export:
    """Books that are still to be read are left out."""
    rows, left_out = [], 0
    for title, isbn, status, stars in sheet.cells("Title", "ISBN/UID", "Read Status", "Star Rating"):
        if status == "to-read":
            left_out += 1
        else:
            rows.append(Row(isbn or None, title, None, number(stars)))
    return Export(NAME, tuple(rows), QUARTER_STARS, planned(left_out))
