"""Steam: the games that one owns, as its interface gives them."""

from __future__ import annotations

from typing import Any

from attriguard.exports.base import Export, Row, text_at

NAME = "Steam"


def knows(value: Any) -> bool:
    """A response with games."""
    return bool(_games(value))


def read(value: Any) -> Export:
    """Every game, played or not: a profile shows them all."""
    rows = [Row(text_at(game, "appid") or None, text_at(game, "name").strip()) for game in _games(value)]
    return Export(NAME, tuple(rows))


def _games(value: Any) -> list[Any]:
    response = value.get("response") if isinstance(value, dict) else None
    games = response.get("games") if isinstance(response, dict) else None
    return games if isinstance(games, list) else []
