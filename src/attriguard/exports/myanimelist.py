"""MyAnimeList: the XML of an anime list or of a manga list. A score of 0 is none."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from attriguard.exports.base import Export, Row, number, planned
from attriguard.exports.scales import Scale

NAME = "MyAnimeList"
POINTS = Scale(1.0, 10.0, 1.0)
# The names of an entry, of its id and of its title.
KINDS = (("anime", "series_animedb_id", "series_title"), ("manga", "manga_mangadb_id", "manga_title"))
PLANNED = ("Plan to Watch", "Plan to Read", "6")


def knows(root: Element) -> bool:
    """By the name of the root."""
    return root.tag == "myanimelist"


def read(root: Element) -> Export:
    """What is still to be watched is left out."""
    rows, left_out = [], 0
    for kind, identity, title in KINDS:
        for entry in root.findall(kind):
            if _text(entry, "my_status") in PLANNED:
                left_out += 1
            else:
                score = number(_text(entry, "my_score"))
                rows.append(Row(_text(entry, identity) or None, _text(entry, title), None, score))
    return Export(NAME, tuple(rows), POINTS, planned(left_out))


def _text(entry: Element, name: str) -> str:
    return (entry.findtext(name) or "").strip()
