"""The base of all results: frozen; as a tidy table, a frame, HTML in a notebook, or a file."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from attriguard._text import facts_text
from attriguard.data.files import written_beside
from attriguard.data.tables.table import write_table
from attriguard.errors import MissingExtraError
from attriguard.operations.outputs import check_result_suffix
from attriguard.report.origin import Origin
from attriguard.report.page import Page, Table, write_page

DRAWING = ".svg"  # of a result that has one


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result(ABC):
    """What an operation found. A result writes `rows`, `record`, `tables`, `page` and `headline`."""

    origin: Origin = field(default_factory=Origin)  # where it comes from, as far as that is known

    def with_origin(self, origin: Origin) -> Self:
        """The same, with the command, the seed and the files that it comes from, which record and page then name."""
        return replace(self, origin=origin)

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """One row a figure: what it is, its value, and half the width of its 95 % interval where it has one."""

    @abstractmethod
    def record(self) -> dict[str, Any]:
        """Everything, as JSON knows it."""

    @property
    def drawing(self) -> str | None:
        """The main figure as SVG; None for a result that has none."""
        return None

    @abstractmethod
    def tables(self) -> Sequence[Table]:
        """The figures as tables that a person reads."""

    @abstractmethod
    def page(self) -> Page:
        """The figures as a page that needs no network."""

    @property
    @abstractmethod
    def headline(self) -> str:
        """What was found, in one or two sentences."""

    @property
    def remarks(self) -> Sequence[str]:
        """What a reader of the tables must know besides."""
        return ()

    def full_record(self) -> dict[str, Any]:
        """The record, and where it comes from."""
        return {**self.origin.record(), **self.record()}

    def full_page(self) -> Page:
        """The page, and where it comes from."""
        page = self.page()
        return page if self.origin == Origin() else replace(page, origin=self.origin)

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        found = self.rows()
        names = list(dict.fromkeys(name for row in found for name in row))
        return pa.table({name: pa.array([row.get(name) for row in found]) for name in names})

    def to_frame(self) -> Any:
        """The rows as a frame: pandas where it is installed, else polars."""
        table = self.to_arrow()
        try:
            import pandas  # noqa: F401

            return table.to_pandas()
        except ImportError:
            pass
        try:
            import polars

            return polars.from_arrow(table)
        except ImportError:
            raise MissingExtraError("a frame needs pandas or polars: install one, or use to_arrow()") from None

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page (.html), the record (.json) or the rows (.csv, .parquet), as the name ends.

        A result with a drawing also writes that (.svg).
        """
        target = Path(path)
        suffix = target.suffix.lower()
        drawing = self.drawing if suffix == DRAWING else None
        if drawing is not None:
            write_bytes(drawing.encode(), target)
            return target
        check_result_suffix(target)
        if suffix == ".html":
            write_page(self.full_page(), target)
        elif suffix == ".json":
            write_json(self.full_record(), target)
        else:
            write_table(self.to_arrow(), target, None)
        return target

    def __repr__(self) -> str:
        return facts_text(type(self).__name__, {"found": self.headline})

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(text)}</p>" for text in (self.headline, *self.remarks) if text)
        return notes + "".join(map(table_html, self.tables()))


def table_html(table: Table) -> str:
    """A table without any style of its own, for notebooks."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.head)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    caption = f"<caption>{escape(table.caption)}</caption>" if table.caption else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def to_json(record: Any) -> str:
    """Indented JSON; NumPy's numbers and arrays, and paths, as JSON knows them."""
    return json.dumps(record, indent=2, ensure_ascii=False, default=_plain) + "\n"


def write_json(record: Any, path: Path) -> None:
    """A JSON file that takes its name only when it is whole."""
    write_bytes(to_json(record).encode(), path)


def write_bytes(content: bytes, path: Path) -> None:
    """A file that takes its name only when it is whole."""
    with written_beside(path) as file:
        file.write(content)


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)
