"""Missing values: the marks with which tables say that a user discloses nothing."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from attriguard._checks import UNDISCLOSED
from attriguard.data.tables.coded import Coded
from attriguard.errors import ParameterError

# Besides the empty cell. Upper and lower case and blanks do not matter.
MISSING = (
    "na", "n/a", "#n/a", "<na>", "nan", "null", "nil", "none", "\\n", "?", "-", "--", ".",
    "unknown", "missing", "unspecified", "undisclosed", "not specified", "not disclosed", "not stated", "not available",
    "prefer not to say", "prefer not to answer", "prefer not to disclose", "rather not say",
)  # fmt: skip
# Marks that a note lists.
SHOWN_MARKS = 5


def check_missing(missing: Iterable[str] | None) -> frozenset[str]:
    """The marks as they are compared; by default those of ``MISSING``."""
    if isinstance(missing, str) or not all(isinstance(mark, str) for mark in missing or ()):
        raise ParameterError(
            f"missing is a list of marks that stand for no value, such as ['NA', '?'], got {missing!r}"
        )
    return frozenset(map(bare_mark, MISSING if missing is None else missing))


def bare_mark(mark: str) -> str:
    """A cell as marks are compared."""
    return " ".join(mark.split()).casefold()


def without_missing(column: Coded, marks: frozenset[str], rowless: int) -> Coded:
    """The column in which a missing value is none, with a note; ``rowless`` users are not in the table at all."""
    found = [bare_mark(value) in marks for value in column.values]
    group = np.where(found, UNDISCLOSED, np.arange(len(found)))
    known = column.regrouped(group, column.values)
    if not known.undisclosed:
        return column
    shown = [repr(value) for value, is_mark in zip(column.values, found, strict=True) if is_mark]
    kinds = [
        *(["not in the table"] if rowless else []),
        *(["empty"] if column.undisclosed > rowless else []),
        *shown[:SHOWN_MARKS],
        *(["…"] if len(shown) > SHOWN_MARKS else []),
    ]
    remedy = "; if such a mark is a value here, see the option missing" if shown else ""
    return known.told(
        f"{known.undisclosed:,} of {known.codes.size:,} users do not disclose {column.name!r} "
        f"({', '.join(kinds)}){remedy}"
    )
