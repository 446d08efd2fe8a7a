"""Any CSV file with a column of titles; years, ids and ratings are taken where columns are called so."""

from __future__ import annotations

from attriguard.errors import DataError
from attriguard.exports.base import Export, Row, number, year
from attriguard.exports.scales import Scale
from attriguard.exports.sheet import Sheet

NAME = "CSV with titles"
TITLES = (
    "title", "name", "movie", "film", "book", "show", "series", "game", "app", "album", "artist", "song", "track",
    "movie title", "film title", "book title", "app name", "game name", "item",
)  # fmt: skip
RATINGS = ("rating", "my rating", "your rating", "user rating", "star rating", "stars", "score", "my score", "points")
YEARS = ("year", "release year", "year published", "original publication year")
IDS = ("id", "item id", "movie id", "book id", "app id", "imdb id", "tconst", "const", "isbn", "isbn13", "asin")
USERS = ("user", "user id", "uid", "username", "customer id", "reviewer id")
# The highest rating is taken to be one of these.
TOPS = (5.0, 10.0, 100.0)


def knows(sheet: Sheet) -> bool:
    """Is there a column of titles?"""
    return sheet.has(sheet.first(*TITLES))


def read(sheet: Sheet) -> Export:
    """A scale is not named in such a file: it is the usual one that holds all ratings."""
    users = sheet.first(*USERS)
    if sheet.has(users):
        raise DataError(
            f"this is a table of many people: it has a column {users!r}; an export of one person was expected"
        )
    names = sheet.first(*IDS), sheet.first(*TITLES), sheet.first(*YEARS), sheet.first(*RATINGS)
    rows = [Row(one or None, title, year(when), number(given)) for one, title, when, given in sheet.cells(*names)]
    scale = scale_of([row.rating for row in rows if row.rating is not None])
    return Export(NAME, tuple(rows), scale, () if scale is None else (f"ratings taken to be {scale}",))


def scale_of(ratings: list[float]) -> Scale | None:
    """From one step to 5, 10 or 100; the step is 1, a half or a quarter, as the ratings need."""
    if not ratings:
        return None
    if all(rating == 1.0 for rating in ratings):
        return Scale(0.0, 1.0, 1.0)
    step = next((step for step in (1.0, 0.5) if all(rating % step == 0 for rating in ratings)), 0.25)
    return Scale(step, next((top for top in TOPS if max(ratings) <= top), TOPS[-1]), step)
