"""Coded: what every user says about one attribute, as codes and names of values; several of them joined into one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from attriguard._checks import UNDISCLOSED
from attriguard.data.tables.cells import NUMBER
from attriguard.errors import DataError

# Stands between the names of a joint attribute, and between its values.
SEPARATOR = " × "
# "34.0", as programs write whole numbers of a column in which some are missing.
NEEDLESS_ZEROS = re.compile(r"([+-]?[0-9]+)[.]0*")


@dataclass(frozen=True, eq=False)
class Coded:
    """One attribute: a code a user (-1: undisclosed), and the names of the values that occur, in order.

    ``declared`` says that the table itself calls the column one of categories. ``notes`` say what was done to it.
    """

    name: str
    codes: NDArray[np.int64]
    values: tuple[str, ...]
    declared: bool = False
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of users of every value."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))

    @property
    def undisclosed(self) -> int:
        """The number of users who disclose no value."""
        return int(np.count_nonzero(self.codes < 0))

    def told(self, note: str) -> Coded:
        """The same with one more note."""
        return replace(self, notes=(*self.notes, note))

    def regrouped(self, group: NDArray[np.int64], names: Sequence[str]) -> Coded:
        """Values in groups: ``group`` has the new code of every value (-1: undisclosed), which ``names`` names.

        Names that no user has any more are left out.
        """
        codes = np.append(group, UNDISCLOSED)[self.codes]
        used = np.unique(codes[codes >= 0])
        again = np.where(codes < 0, UNDISCLOSED, np.searchsorted(used, codes)).astype(np.int64)
        return replace(self, codes=again, values=tuple(names[k] for k in used.tolist()))


def code_column(name: str, texts: Any, order: Sequence[str] | None = None) -> Coded:
    """A column of text, None where a user discloses nothing.

    Values come in natural order ("9" before "10"; numbers as numbers), or in the order that ``order`` gives; a column
    with an order, be it an empty one, is one of declared categories. "34.0" is "34" where all values are whole numbers.
    """
    text = pc.utf8_trim_whitespace(pa.array(texts, pa.large_string(), from_pandas=True))
    encoded = pc.if_else(pc.equal(text, ""), None, text).dictionary_encode()
    found: list[str] = encoded.dictionary.to_pylist()
    found = _without_needless_zeros(found) if order is None else found
    place = {value: k for k, value in enumerate(order or ())}
    natural = _as_number if all(map(re.compile(NUMBER).match, found)) else _in_words
    ranked = sorted(set(found), key=lambda value: (place.get(value, len(place)), natural(value)))
    new_code = {value: code for code, value in enumerate(ranked)}
    recode = np.array([new_code[value] for value in found] + [UNDISCLOSED], dtype=np.int64)
    codes = recode[encoded.indices.fill_null(UNDISCLOSED).to_numpy()]
    return Coded(name, codes, tuple(ranked), declared=order is not None)


def _without_needless_zeros(values: list[str]) -> list[str]:
    whole = [NEEDLESS_ZEROS.fullmatch(value) for value in values]
    if not all(match or value.lstrip("+-").isdecimal() for match, value in zip(whole, values, strict=True)):
        return values
    return [match.group(1) if match else value for match, value in zip(whole, values, strict=True)]


def _as_number(value: str) -> tuple[Any, str]:
    return float(value), value


def _in_words(value: str) -> tuple[Any, str]:
    """Numbers inside a name count as numbers, however long: the one with more digits is larger."""
    parts = re.split(r"0*([0-9]+)", value)
    return [(len(part), part) if k % 2 else part for k, part in enumerate(parts)], value


def join(columns: Sequence[Coded]) -> Coded:
    """One attribute out of one or more, whose values are the combinations that occur.

    A user who does not disclose one of several attributes does not disclose the joint attribute.
    """
    if not columns:
        raise DataError("at least one attribute is needed, got none")
    joint = columns[0]
    for column in columns[1:]:
        width = len(column.values)
        both = np.where((joint.codes < 0) | (column.codes < 0), UNDISCLOSED, joint.codes * width + column.codes)
        pairs = np.unique(both[both >= 0])
        # Only the pairs that occur become values, so the codes stay small however many attributes are joined.
        codes = np.where(both < 0, UNDISCLOSED, np.searchsorted(pairs, both)).astype(np.int64)
        names = [joint.values[pair // width] + SEPARATOR + column.values[pair % width] for pair in pairs.tolist()]
        joint = Coded(joint.name + SEPARATOR + column.name, codes, tuple(names), notes=joint.notes + column.notes)
    return joint
