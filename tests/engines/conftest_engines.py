"""What tests of engines share."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

import attriguard as ag
from attriguard.data.tables.table import read_table

KEY = "a secret of at least 16 bytes"


def whole_of(table: pa.Table, guard: Path) -> pa.Table:
    """The release of the whole table in memory."""
    return ag.protect(table, guard, key=KEY, order="sorted").table


def text_of(path: Path) -> pa.Table:
    """A part in CSV."""
    return read_table(path).table


def by_user_and_item(table: pa.Table) -> list[tuple[str, ...]]:
    """The rows as text in an order of their own; times are written as CSV writes them."""
    columns = [column.cast(pa.string()).to_pylist() for column in table.columns]
    return sorted(zip(*columns, strict=True))
