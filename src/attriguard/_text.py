"""Text for people: counts, facts as a short repr and as HTML for notebooks, and data that is safe to print."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

# What steers a terminal, or turns the direction of the text around it; a line's end and a tab do neither.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Text without characters that steer a terminal: data may hold escape sequences."""
    return _CONTROLS.sub("\ufffd", text)


def escape_controls(text: str) -> str:
    """The same for the text of a JSON record, which stays what it was: such characters are written as \\uXXXX."""
    return _CONTROLS.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def bare_name(name: str) -> str:
    """A column's name without case, blanks and marks."""
    return re.sub(r"[\W_]+", "", name).casefold()


def count_of(n: int, thing: str) -> str:
    """A number and what it counts: "1 attacker", "2 attackers"."""
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def facts_text(title: str, facts: Mapping[str, str]) -> str:
    """One line a fact; keep facts to nine, so that a repr has at most ten lines."""
    width = max(map(len, facts), default=0)
    lines = (f"  {name:<{width}}  {'; '.join(fact.splitlines())}" for name, fact in facts.items())
    return printable("\n".join([title, *lines]))


def facts_html(title: str, facts: Mapping[str, str]) -> str:
    """The same as a small table."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(fact)}</td></tr>"
        for name, fact in facts.items()
    )
    return printable(f"<table><caption style='text-align:left'><b>{escape(title)}</b></caption>{rows}</table>")
