"""Facts about a thing, as a short repr and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape


def count_of(n: int, thing: str) -> str:
    """A number and what it counts: "1 attacker", "2 attackers"."""
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def facts_text(title: str, facts: Mapping[str, str]) -> str:
    """One line a fact; keep facts to nine, so that a repr has at most ten lines."""
    width = max(map(len, facts), default=0)
    lines = (f"  {name:<{width}}  {'; '.join(fact.splitlines())}" for name, fact in facts.items())
    return "\n".join([title, *lines])


def facts_html(title: str, facts: Mapping[str, str]) -> str:
    """The same as a small table."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(fact)}</td></tr>"
        for name, fact in facts.items()
    )
    return f"<table><caption style='text-align:left'><b>{escape(title)}</b></caption>{rows}</table>"
