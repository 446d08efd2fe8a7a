"""CSV files as people download them: rows may be short, and reviews hold line ends and quotes."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from attriguard._text import bare_name
from attriguard.errors import DataError

DELIMITERS = (",", ";", "\t", "|")
# The first line is the header, and no column's name is as long as this.
MOST_HEADER = 10_000


@dataclass(frozen=True, eq=False)
class Sheet:
    """The cells of a CSV file; ``header`` holds its names without case, blanks and marks."""

    header: tuple[str, ...]
    records: Sequence[Sequence[str]]

    def has(self, *names: str) -> bool:
        """Are there columns with all of these names?"""
        return all(bare_name(name) in self.header for name in names)

    def first(self, *names: str) -> str:
        """The first of these names that is a column's, or the last one."""
        return next((name for name in names if self.has(name)), names[-1])

    def cells(self, *names: str) -> Iterator[tuple[str, ...]]:
        """Of every record the cells of these columns, without blanks around; "" where there is none."""
        places = [self.header.index(bare_name(name)) if self.has(name) else -1 for name in names]
        for record in self.records:
            yield tuple(record[place].strip() if 0 <= place < len(record) else "" for place in places)


def parse_sheet(text: str, name: str) -> Sheet:
    """The cells of a CSV file; its delimiter is the one that its first line has most of."""
    line = re.sub(r'"[^"]*"', "", re.split(r"[\r\n]", text[:MOST_HEADER].lstrip(), maxsplit=1)[0])
    delimiter = max(DELIMITERS, key=line.count)
    try:
        records = [record for record in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if any(record)]
    except csv.Error:
        raise DataError(f"{name} cannot be read as CSV; look for a double quote that is never closed") from None
    header, *rest = records or [[]]
    return Sheet(tuple(map(bare_name, header)), rest)
