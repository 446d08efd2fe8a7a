"""Trakt: ratings-movies.json, ratings-shows.json, watched-movies.json and their kin."""

from __future__ import annotations

from typing import Any

from attriguard._text import count_of
from attriguard.exports.base import Export, Row, number, text_at, year
from attriguard.exports.scales import Scale

NAME = "Trakt"
POINTS = Scale(1.0, 10.0, 1.0)
PARTS = ("season", "episode")


def knows(value: Any) -> bool:
    """A list of films or shows."""
    return isinstance(value, list) and any(_work(entry) is not None for entry in value)


def read(value: Any) -> Export:
    """Films and shows; a rating of a season or an episode is none of the show."""
    rows, parts = [], 0
    for entry in value:
        work = _work(entry)
        if work is None:
            continue
        if text_at(entry, "type") in PARTS:
            parts += 1
            continue
        ids = text_at(work, "ids", "imdb"), text_at(work, "ids", "tmdb")
        rows.append(
            Row(
                ids[0] or None,
                text_at(work, "title").strip(),
                year(text_at(work, "year")),
                number(text_at(entry, "rating")),
                (ids[1],) if ids[1] else (),
            )
        )
    told = (f"{count_of(parts, 'rating')} of seasons and episodes left out",) if parts else ()
    has_ratings = any(isinstance(entry, dict) and "rating" in entry for entry in value)
    return Export(NAME, tuple(rows), POINTS if has_ratings else None, told)


def _work(entry: Any) -> Any:
    """The film or show that an entry is about; None for what is none."""
    if not isinstance(entry, dict):
        return None
    return next((entry[kind] for kind in ("movie", "show") if isinstance(entry.get(kind), dict)), None)
