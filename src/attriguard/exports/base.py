"""An export: the titles that a person rated, watched, read, heard, played or installed, as a site gives them back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from attriguard._text import count_of
from attriguard.exports.scales import Scale

NUMBER = re.compile(r"\d{1,9}(?:[.,]\d{1,9})?", re.ASCII)
YEAR = re.compile(r"(\d{4})(?:\.0)?", re.ASCII)


class Row(NamedTuple):
    """A title, with what the site says of it; the rating is None where the person gave none."""

    id: str | None
    title: str
    year: int | None = None
    rating: float | None = None
    also: tuple[str, ...] = ()  # ids in other catalogues


@dataclass(frozen=True)
class Export:
    """What a file holds: its format, its titles, the scale of its ratings (None: it has none), what was done to it."""

    format: str
    rows: tuple[Row, ...]
    scale: Scale | None = None
    notes: tuple[str, ...] = ()


class Format(Protocol):
    """A module that reads one site's files; ``document`` is a sheet, a JSON value or the root of an XML tree."""

    NAME: str

    def knows(self, document: Any) -> bool:
        """Is this document of that site?"""

    def read(self, document: Any) -> Export:
        """Its rows as they stand, titles that come twice included."""


def number(text: str) -> float | None:
    """A rating as text; None where there is none. On every site with stars or points, 0 stands for none."""
    found = NUMBER.fullmatch(text.strip())
    return (float(found.group().replace(",", ".")) or None) if found else None


def year(text: str) -> int | None:
    """A year as text; None where there is none."""
    found = YEAR.fullmatch(text.strip())
    return int(found.group(1)) if found else None


def text_at(value: Any, *path: str) -> str:
    """What stands at a path of names in a JSON value, as text; "" where nothing does."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""


def planned(left_out: int) -> tuple[str, ...]:
    """The note about titles that a person only means to read or to watch."""
    return (f"{count_of(left_out, 'title')} that you have yet to begin left out",) if left_out else ()


def gathered(export: Export) -> Export:
    """The same with one row a title: the last rating counts; ratings that the scale does not have are left out."""
    found: dict[tuple[Any, ...], Row] = {}
    nameless = strange = named = 0
    for row in export.rows:
        if not row.title:
            nameless += 1
            continue
        named += 1
        if row.rating is not None and (export.scale is None or not export.scale.holds(row.rating)):
            row, strange = row._replace(rating=None), strange + 1
        key = (row.id, row.title, row.year)
        before = found.get(key, row)
        rating = before.rating if row.rating is None else row.rating
        found[key] = row._replace(rating=rating, also=row.also or before.also)
    rows = tuple(found.values())
    notes = [*export.notes, *_told(nameless, strange, named, len(rows), export.scale is not None)]
    return Export(export.format, rows, export.scale, tuple(notes))


def _told(nameless: int, strange: int, named: int, titles: int, has_ratings: bool) -> Iterable[str]:
    if nameless:
        yield f"{count_of(nameless, 'row')} without a title left out"
    if strange:
        yield f"{count_of(strange, 'rating')} that the site's scale does not have left out"
    if named > titles:
        counts = "the last rating of a title counts" if has_ratings else "each counts once"
        yield f"{count_of(named, 'row')} name {count_of(titles, 'title')}; {counts}"


def rated(rows: Sequence[Row]) -> int:
    """How many of the rows have a rating."""
    return sum(row.rating is not None for row in rows)
