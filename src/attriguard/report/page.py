"""One self-contained HTML page: no script, no network, readable on a phone and in print.

A page opens with what was found; then come charts, tables, facts about the measurement, a glossary of the words that it
uses, and where it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

from attriguard._text import printable
from attriguard.data.files import written_beside
from attriguard.report.glossary import explained
from attriguard.report.origin import Origin


@dataclass(frozen=True)
class Table:
    """Cells are text; columns of numbers are named in ``numeric`` to be set flush right.

    A ``stacked`` table, of long texts, is set row under row on a narrow screen.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: Sequence[int] = ()
    caption: str = ""
    stacked: bool = False


@dataclass(frozen=True)
class Figure:
    """A drawing (SVG, which says in words what it shows) and its caption."""

    svg: str
    caption: str


@dataclass(frozen=True)
class Section:
    """A part of a page under its own heading; a ``warning`` stands out."""

    title: str
    text: Sequence[str] = ()
    parts: Sequence[Table | Figure] = ()
    points: Sequence[str] = ()
    warning: bool = False
    anchor: str = ""  # a name for links within the page


@dataclass(frozen=True)
class Page:
    """A page: a title, what was found in short, sections, facts about the measurement, and where it comes from."""

    title: str
    lead: str
    sections: Sequence[Section]
    facts: Sequence[tuple[str, str]] = field(default_factory=tuple)
    words: Mapping[str, str] = field(default_factory=dict)  # of this page alone, such as defenses, and what they mean
    origin: Origin = field(default_factory=Origin)


def facts_of(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Settings as a page shows them: those that were made, in words."""
    return [(name.replace("_", " "), _in_words(value)) for name, value in settings.items() if value not in (None, {})]


def _in_words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {part}" for name, part in value.items() if part is not None)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def render(page: Page) -> str:
    """The page as HTML; all text from data is escaped, and control characters are taken out of it."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("attriguard.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["drawing"] = lambda svg: Markup(svg[svg.index("<svg") :])  # our own plots, without the prolog
    environment.tests["figure"] = lambda part: isinstance(part, Figure)
    made = page.origin.facts()
    known = explained(" \n".join((*_texts(page), *(text for fact in made for text in fact))), page.words)
    return printable(environment.get_template("page.html").render(page=page, glossary=known, made=made))


def _texts(page: Page) -> Iterator[str]:
    """Every text that a reader of the page sees."""
    yield from (page.title, page.lead)
    for section in page.sections:
        yield from (section.title, *section.text, *section.points)
        for part in section.parts:
            yield part.caption
            if isinstance(part, Figure):
                yield unescape(re.sub(r"<[^>]*>", " ", part.svg))
            else:
                yield from (cell for row in (part.head, *part.rows) for cell in row)
    for fact in page.facts:
        yield from fact


def write_page(page: Page, path: Path) -> None:
    """Write the page; the file takes its name only when it is whole."""
    content = render(page).encode()
    with written_beside(path) as file:
        file.write(content)
