"""Numbers in bins: ages, years and incomes as an attribute with a few values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attriguard._checks import check_count
from attriguard._text import count_of
from attriguard.data.tables.cells import NUMBER
from attriguard.data.tables.coded import Coded
from attriguard.errors import DataError, ParameterError

# A number of bins, the edges between them, "none" for no bins, or None: bins where a column looks like a quantity.
Bins: TypeAlias = int | Sequence[float] | str | None

NO_BINS = "none"
# Numbers with more values than this are cut into bins, and into so many, if nothing else is said.
MANY_VALUES = 10
USUAL_BINS = 5
# The share of a bin's users by which it may be larger or smaller for the sake of a round edge.
SLACK = 0.05
# Whole numbers from 0 or 1 on without a gap, and no more than these, are codes (0 to 20 for 21 occupations).
MOST_CODES = 50
LEADING_ZERO = re.compile(r"[+-]?0[0-9]")
CODE_NAMES = re.compile(r"(?i:code$|(^|[\W_])(id|zip)$)|[a-z]I[Dd]$")
# Bins that a note names.
SHOWN_BINS = 12


def check_bins(bins: Bins) -> Bins:
    """Bins as they may be given: None, "none", a number of bins, or rising edges as a tuple."""
    if bins is None or (isinstance(bins, str) and bins == NO_BINS):
        return bins
    expected = "bins must be a number of bins, rising edges such as (18, 25, 35), or 'none'"
    if isinstance(bins, (int, np.integer)) and not isinstance(bins, bool):
        return check_count(bins, name="the number of bins", low=2)
    try:
        edges = tuple(float(edge) for edge in bins) if not isinstance(bins, (str, int)) else ()
    except (TypeError, ValueError):
        edges = ()
    if not edges or not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
        raise ParameterError(f"{expected}, got {bins!r}")
    return edges


def cut_numbers(columns: Sequence[Coded], bins: Bins, *, table: str, least: int) -> list[Coded]:
    """The columns with their quantities in bins; ``least`` is the smallest number of users a bin is to have.

    Bins that were asked for cut one attribute whatever its numbers are, and of several attributes the quantities.
    """
    if bins == NO_BINS:
        return list(columns)
    found, any_cut = [], False
    for column in columns:
        numbers = _numbers(column)
        wanted = bins is not None and len(columns) == 1
        if np.isfinite(numbers).all() and numbers.size and (wanted or _is_quantity(column, numbers)):
            found.append(_cut(column, numbers, bins, least))
            any_cut = True
        else:
            found.append(_told_why_not(column, numbers))
    if bins is not None and not any_cut and all(column.values for column in columns):
        raise DataError(f"{table}: {_no_numbers(columns)}; leave out the option bins, or name another attribute")
    return found


def _numbers(column: Coded) -> NDArray[np.float64]:
    """The values as numbers; NaN where a value is other text."""
    return np.array([float(value) if re.match(NUMBER, value) else np.nan for value in column.values])


def _is_quantity(column: Coded, numbers: NDArray[np.float64]) -> bool:
    """Whether numbers are a quantity, of which many are alike, and not codes, of which each means something else."""
    return np.unique(numbers).size > MANY_VALUES and not column.declared and not _are_codes(column, numbers)


def _are_codes(column: Coded, numbers: NDArray[np.float64]) -> bool:
    ordered = np.sort(numbers)
    gapless = ordered[0] in (0, 1) and bool((np.diff(ordered) == 1).all()) and numbers.size <= MOST_CODES
    padded = any(LEADING_ZERO.match(value) for value in column.values)
    return gapless or padded or CODE_NAMES.search(column.name) is not None


def _told_why_not(column: Coded, numbers: NDArray[np.float64]) -> Coded:
    """The column as it is, with a note if one might have expected bins."""
    is_number = np.isfinite(numbers)
    if np.count_nonzero(is_number) <= MANY_VALUES or column.declared:
        return column
    if is_number.all():
        return column.told(
            f"{column.name!r} has {numbers.size:,} numbers that look like codes, and each is a value of its own; if "
            f"they are quantities, cut them with the option bins"
        )
    if (others := int(column.counts[~is_number].sum())) > column.counts[is_number].sum():
        return column
    return column.told(
        f"{column.name!r} is taken as text, since {count_of(others, 'user')} wrote no number there; correct that, or "
        f"name it with the option missing, to have the numbers cut into bins"
    )


def _no_numbers(columns: Sequence[Coded]) -> str:
    if len(columns) > 1:
        return f"bins are for numbers with more than {MANY_VALUES} values, but none of the attributes has such numbers"
    (column,) = columns
    others = int(column.counts[~np.isfinite(_numbers(column))].sum())
    disclosed = column.codes.size - column.undisclosed
    return f"bins are for numbers, but {others:,} of {disclosed:,} users have other text in {column.name!r}"


def _cut(column: Coded, numbers: NDArray[np.float64], bins: Bins, least: int) -> Coded:
    ranked, place = np.unique(numbers, return_inverse=True)  # "1.5" and "1.50" are one number
    counts = np.bincount(place, column.counts).astype(np.int64)
    number = bins if isinstance(bins, int) else USUAL_BINS
    edges = list(bins) if isinstance(bins, tuple) else _quantiles(ranked, counts, number)
    kept = _without_small_bins(edges, ranked, counts, least)
    whole = all(bool((np.rint(each) == each).all()) for each in (ranked, np.array(kept)))
    cut = column.regrouped(np.searchsorted(kept, numbers, side="right"), _names(kept, whole=whole))
    shown = ", ".join(cut.values[:SHOWN_BINS]) + (", …" if len(cut.values) > SHOWN_BINS else "")
    why = f"has {ranked.size:,} different numbers and " if bins is None else ""
    joined = f"; bins with fewer than {least:,} users were joined with a neighbour" if len(kept) < len(edges) else ""
    remedy = f"; the option bins names others, or {NO_BINS!r}" if bins is None else ""
    return cut.told(f"{column.name!r} {why}is cut into {len(cut.values)} bins: {shown}{joined}{remedy}")


def _quantiles(numbers: NDArray[np.float64], counts: NDArray[np.int64], bins: int) -> list[float]:
    """Round edges between bins of users as equal in number as the values permit; equal edges are one."""
    if numbers.size < 2:
        return []
    users = np.cumsum(counts)  # with this value or a lower one
    wanted = users[-1] * np.arange(1, bins) / bins
    after = np.minimum(np.searchsorted(users, wanted), numbers.size - 2)
    before = np.maximum(after - 1, 0)
    last = np.unique(np.where(wanted - users[before] <= users[after] - wanted, before, after))
    slack = SLACK * users[-1] / bins
    lowest = np.searchsorted(users, users[last] - slack)
    highest = np.minimum(np.searchsorted(users, users[last] + slack, side="right"), numbers.size - 1)
    return sorted({_roundest(numbers[low], numbers[high]) for low, high in zip(lowest, highest, strict=True)})


def _roundest(low: float, high: float) -> float:
    """The number with the fewest digits that is above ``low`` and not above ``high``: so it tells of no user."""
    if low < 0 <= high:
        return 0.0
    exact = Decimal(repr(float(high)))
    for digits in range(exact.adjusted() + 1, int(exact.as_tuple().exponent), -1):
        rounded = float(exact.quantize(Decimal(1).scaleb(digits), rounding=ROUND_FLOOR))
        if rounded > low:
            return rounded
    return float(high)


def _without_small_bins(
    edges: list[float], numbers: NDArray[np.float64], counts: NDArray[np.int64], least: int
) -> list[float]:
    """Without the edges that part a bin of fewer than ``least`` users, but of some, from its smaller neighbour."""
    kept = list(edges)
    while kept:
        users = np.bincount(np.searchsorted(kept, numbers, side="right"), counts, minlength=len(kept) + 1)
        users[users == 0] = np.inf
        smallest = int(users.argmin())
        if users[smallest] >= least:
            break
        to_the_left = smallest > 0 and (smallest == len(kept) or users[smallest - 1] <= users[smallest + 1])
        del kept[smallest - 1 if to_the_left else smallest]
    return kept


def _names(edges: Sequence[float], *, whole: bool) -> list[str]:
    """The bins between edges in words, from the lowest: "under 18", "18 to 24", "25 or more"."""
    if not edges:
        return ["any"]
    inner = [
        _number(low) if whole and high == low + 1
        else f"{_number(low)} to {_number(high - 1)}" if whole
        else f"{_number(low)} to under {_number(high)}"
        for low, high in pairwise(edges)
    ]  # fmt: skip
    return [f"under {_number(edges[0])}", *inner, f"{_number(edges[-1])} or more"]


def _number(value: Any) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
