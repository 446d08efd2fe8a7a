"""One self-contained HTML page: no script, no network, readable on a phone and in print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from attriguard._version import __version__
from attriguard.data.files import written_beside


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
    """A drawing (SVG), and a caption that also serves readers who cannot see the drawing."""

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
    """A page: a title, what was found in short, sections, and facts about the measurement."""

    title: str
    lead: str
    sections: Sequence[Section]
    facts: Sequence[tuple[str, str]] = field(default_factory=tuple)


def render(page: Page) -> str:
    """The page as HTML; all text from data is escaped."""
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
    return environment.get_template("page.html").render(page=page, version=__version__)


def write_page(page: Page, path: Path) -> None:
    """Write the page; the file takes its name only when it is whole."""
    content = render(page).encode()
    with written_beside(path) as file:
        file.write(content)
