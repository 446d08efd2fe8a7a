"""The private attribute: codes and value names, and several attributes as one joint attribute."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from attriguard._checks import UNDISCLOSED
from attriguard.data.tables.arrays import plain_array
from attriguard.data.tables.columns import USER_NAMES, bare, guess_column, named_column, usable_columns
from attriguard.data.tables.duplicates import find_repeats
from attriguard.data.tables.ids import encode_ids
from attriguard.data.tables.table import InputTable
from attriguard.errors import DataError

# Stands between the names of a joint attribute, and between its values.
SEPARATOR = " × "


@dataclass(frozen=True, eq=False)
class AttributeTable:
    """The users whom a table describes, sorted by id, and the value of each attribute (None: undisclosed)."""

    name: str
    users: NDArray[Any]
    columns: dict[str, NDArray[Any]]
    orders: dict[str, list[str]]


def join_attributes(
    columns: Mapping[str, Any], *, orders: Mapping[str, Sequence[str]] | None = None
) -> tuple[str, NDArray[np.int64], tuple[str, ...]]:
    """One attribute out of one or more: its name, a code a user, and the names of the values that occur.

    A column holds text, or None for a user who does not disclose. A user who does not disclose one of several
    attributes does not disclose the joint attribute. Values come in natural order ("9" before "10"), or in the order
    that ``orders`` gives.
    """
    if not columns:
        raise DataError("at least one attribute is needed, got none")
    joint: NDArray[np.int64] | None = None
    names: list[str] = []
    for name, column in columns.items():
        codes, values = _code(column, (orders or {}).get(name))
        if joint is None:
            joint, names = codes, values
            continue
        both = np.where((joint < 0) | (codes < 0), UNDISCLOSED, joint * len(values) + codes)
        pairs = np.unique(both[both >= 0])
        # Only the pairs that occur become values, so the codes stay small however many attributes are joined.
        joint = np.where(both < 0, UNDISCLOSED, np.searchsorted(pairs, both)).astype(np.int64)
        names = [names[pair // len(values)] + SEPARATOR + values[pair % len(values)] for pair in pairs.tolist()]
    if joint is None:
        raise DataError("at least one attribute is needed, got none")
    return SEPARATOR.join(columns), joint, tuple(names)


def _code(column: Any, order: Sequence[str] | None) -> tuple[NDArray[np.int64], list[str]]:
    """Codes of a column's text, -1 where there is none, and the values in order."""
    text = pc.utf8_trim_whitespace(pa.array(column, pa.large_string(), from_pandas=True))
    encoded = pc.if_else(pc.equal(text, ""), None, text).dictionary_encode()
    found: list[str] = encoded.dictionary.to_pylist()
    place = {value: k for k, value in enumerate(order or ())}
    ranked = sorted(found, key=lambda value: (place.get(value, len(place)), _natural(value)))
    new_code = {value: code for code, value in enumerate(ranked)}
    recode = np.array([new_code[value] for value in found] + [UNDISCLOSED], dtype=np.int64)
    return recode[encoded.indices.fill_null(UNDISCLOSED).to_numpy()], ranked


def _natural(value: str) -> tuple[list[str | int], str]:
    """Numbers inside a name count as numbers."""
    parts = re.split(r"([0-9]+)", value)
    return [int(part) if k % 2 else part for k, part in enumerate(parts)], value


@dataclass(frozen=True, slots=True)
class AttributeColumns:
    """Which columns of an attributes table to read: the attributes and the user, as far as a caller has named them.

    ``ratings_user`` is the name of the user column of the ratings table, which the attributes table may have, too.
    """

    attribute: str | Sequence[str] | None
    user: str | None
    ratings_user: str


def read_attributes(table: InputTable, columns: AttributeColumns, duplicates: str) -> AttributeTable:
    """The attributes of every user; with ``duplicates`` "last", a user's last row counts."""
    attribute = columns.attribute
    names = [attribute] if isinstance(attribute, str) else attribute
    chosen = None if names is None else [named_column(table, name, "attribute") for name in names]
    user_column = _user_column(table, columns.user, chosen, columns.ratings_user)
    if chosen is None:
        chosen = [k for k in usable_columns(table) if k != user_column]
        if len(chosen) != 1:
            raise DataError(
                f"{table.name}: which column is the private attribute? Its columns are "
                f"{table.shown_columns}; say which with the option attribute"
            )
    if user_column in chosen or len(set(chosen)) < len(chosen) or not chosen:
        raise DataError(f"{table.name}: the attributes must be one or more columns other than the user, each once")
    users, codes = encode_ids(table, user_column)
    row_of_user = np.empty(users.size, dtype=np.int64)
    row_of_user[codes] = np.arange(codes.size)
    if users.size < codes.size and duplicates != "last":
        repeats = find_repeats(codes)
        raise DataError(
            f"{table.name} must have one row a user, but {repeats.keys:,} users come more than once "
            f"(first: {table.row(repeats.first)} and {table.row(repeats.second)}); remove the surplus rows, "
            f"or take each user's last row with duplicates 'last'"
        )
    texts = {table.column_names[k]: _texts(table, k)[row_of_user] for k in chosen}
    orders = {table.column_names[k]: _declared_order(table.table.column(k)) for k in chosen}
    return AttributeTable(table.name, users, texts, {name: order for name, order in orders.items() if order})


def _user_column(table: InputTable, user: str | None, chosen: list[int] | None, ratings_user: str) -> int:
    """The option, else the ratings' own name for it, else a good guess, else the only column left."""
    if user is not None:
        return named_column(table, user, "attributes_user")
    free = [k for k in usable_columns(table) if k not in (chosen or ())]
    names = (frozenset({bare(ratings_user)}), *USER_NAMES, frozenset({"id"}))
    guess = guess_column(table, free, names, "attributes_user")
    if guess is not None:
        return guess
    # What is left is the user, unless the attribute that was named looks like the user itself.
    if guess_column(table, chosen or (), names, "attributes_user") is None and (
        len(free) == 1 or (chosen is None and len(free) == 2)
    ):
        return free[0]
    raise DataError(
        f"{table.name}: which column is the user? Its columns are {table.shown_columns}; "
        f"say which with the option attributes_user"
    )


def _texts(table: InputTable, column: int) -> NDArray[Any]:
    """A column as text, None where empty; numbers without a needless ".0"."""
    try:
        cells = plain_array(table.table.column(column))
        if pa.types.is_floating(cells.type):
            number = cells.cast(pa.float64())
            cells = pc.if_else(pc.is_finite(number), number, None)
        return cells.cast(pa.large_string()).to_numpy(zero_copy_only=False)
    except (pa.ArrowException, UnicodeDecodeError):
        raise DataError(
            f"{table.name}, column {table.column_names[column]!r}: an attribute is text or a number, "
            f"got {table.table.column(column).type}; convert the column"
        ) from None


def _declared_order(column: pa.ChunkedArray) -> list[str]:
    """An ordered categorical column says itself in which order its values come."""
    if not (pa.types.is_dictionary(column.type) and column.type.ordered and column.num_chunks):
        return []
    return [str(value).strip() for value in column.chunk(0).dictionary.to_pylist()]
