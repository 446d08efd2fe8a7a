"""Netflix: the viewing history, short (Title,Date) and long (with profiles), and Ratings.csv with stars and thumbs."""

from __future__ import annotations

import re

from attriguard.exports.base import Export, Row, number
from attriguard.exports.scales import Scale
from attriguard.exports.sheet import Sheet

NAME = "Netflix"
STARS = Scale(1.0, 5.0, 1.0)
THUMBS = {1.0: 1.0, 2.0: 4.0, 3.0: 5.0}  # down, up, two thumbs up
# "Dark: Season 1: Secrets" is an episode of "Dark"; "Mockingjay: Part 1" is a film.
EPISODE = re.compile(
    r"(.+?): (?:(?:Season|Series|Part|Volume|Book|Chapter|Collection|Staffel|Saison|Temporada|Stagione) \S+"
    r"|Limited Series|Mini-?[Ss]eries)(?: \([^)]*\))?: .+"
)


def knows(sheet: Sheet) -> bool:
    """By the two columns of the short history, and by the names of the others."""
    short = sheet.has("Title", "Date") and len(sheet.header) == 2
    return short or sheet.has("Title", "Start Time", "Profile Name") or sheet.has("Title Name", "Thumbs Value")


def read(sheet: Sheet) -> Export:
    """What was watched, or what was rated."""
    return _ratings(sheet) if sheet.has("Title Name") else _history(sheet)


def _history(sheet: Sheet) -> Export:
    """Episodes count as their series; trailers do not count."""
    profiles, rows, episodes = set(), [], 0
    for title, profile, extra in sheet.cells("Title", "Profile Name", "Supplemental Video Type"):
        if extra:
            continue
        profiles.add(profile)
        series = EPISODE.fullmatch(title)
        episodes += series is not None
        rows.append(Row(None, series.group(1) if series else title))
    told = ["episodes count as their series"] if episodes else []
    return Export(NAME, tuple(rows), None, (*_about(profiles), *told))


def _ratings(sheet: Sheet) -> Export:
    """Stars of old, thumbs of today; thumbs become stars."""
    profiles, rows, thumbs = set(), [], 0
    for title, profile, star, thumb in sheet.cells("Title Name", "Profile Name", "Star Value", "Thumbs Value"):
        profiles.add(profile)
        stars = number(star)
        if stars is None:
            stars = THUMBS.get(number(thumb) or 0.0)
            thumbs += stars is not None
        rows.append(Row(None, title, None, stars))
    told = ["thumbs count as stars: down is 1, up is 4, two thumbs up are 5"] if thumbs else []
    return Export(NAME, tuple(rows), STARS, (*_about(profiles), *told))


def _about(profiles: set[str]) -> list[str]:
    """One account may serve a family."""
    return [f"{len(profiles)} profiles are in this file, and all of them count"] if len(profiles) > 1 else []
