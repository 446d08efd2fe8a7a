"""The private attribute: which columns of a table it is, and how their cells become its values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from attriguard._text import bare_name
from attriguard.data.tables.arrays import plain_array
from attriguard.data.tables.bins import Bins, check_bins, cut_numbers
from attriguard.data.tables.coded import SEPARATOR as SEPARATOR
from attriguard.data.tables.coded import Coded, code_column, join
from attriguard.data.tables.columns import USER_NAMES, guess_column, named_column, refuse_headerless, usable_columns
from attriguard.data.tables.duplicates import find_repeats
from attriguard.data.tables.ids import encode_ids, lookup
from attriguard.data.tables.missing import check_missing, without_missing
from attriguard.data.tables.rare import Rare, check_size
from attriguard.data.tables.table import InputTable
from attriguard.errors import DataError


@dataclass(frozen=True, eq=False)
class AttributeTable:
    """The users whom a table describes, sorted by id, and the value of each attribute (None: undisclosed).

    ``orders`` has the columns that the table declares to be categories, with the order of these, if they have one.
    """

    name: str
    users: NDArray[Any]
    columns: dict[str, NDArray[Any]]
    orders: dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class ValueRules:
    """How cells become values: marks of missing ones, bins of numbers, and what happens to rare values."""

    missing: frozenset[str]
    bins: Bins
    rare: Rare

    @classmethod
    def checked(cls, *, missing: Iterable[str] | None, bins: Bins, min_users: int | None, rare: str) -> ValueRules:
        """As the options of the same names say."""
        return cls(check_missing(missing), check_bins(bins), Rare.checked(min_users, rare))

    @property
    def remedy(self) -> str:
        """What to do where too few values are left."""
        named = {"bins": isinstance(self.bins, (int, tuple)), "min_users": self.rare.least is not None}
        changed = " or ".join(f"the option {option}" for option, given in named.items() if given)
        return f"change {changed}" if changed else "correct the table"


def form_attribute(table: AttributeTable, users: NDArray[Any], rules: ValueRules) -> Coded:
    """The attribute of ``users``: missing values, bins and rare values column by column, then one joint attribute."""
    row = lookup(users, table.users)
    rowless = int(np.count_nonzero(row < 0))
    # A user without a row has position -1, and so gets the None that is appended here.
    texts = {name: np.append(column, [None])[row] for name, column in table.columns.items()}
    columns = [code_column(name, text, table.orders.get(name)) for name, text in texts.items()]
    columns = [_with_spellings_told(without_missing(column, rules.missing, rowless)) for column in columns]
    known = [note for column in columns for note in column.notes]
    columns = cut_numbers(columns, rules.bins, table=table.name, least=rules.rare.least_in_bin)
    columns = [rules.rare.settle(column) for column in columns]
    joint = join(columns)
    if len(columns) > 1:
        joint = rules.rare.settle(joint)
    if len(joint.values) < 2:
        found = "nobody discloses it" if not joint.values else "everybody who discloses it has the same value"
        reasons = f" ({'; '.join(known)})" if known else ""
        raise DataError(
            f"{table.name}: the attribute {joint.name!r} must have at least two values, but {found}{reasons}; "
            f"name another attribute, or {rules.remedy}"
        )
    return joint if rules.rare.least is not None else check_size(joint, columns)


def _with_spellings_told(column: Coded) -> Coded:
    again = len(column.values) - len({value.casefold() for value in column.values})
    if not again:
        return column
    return column.told(
        f"{column.name!r} has values that differ in upper and lower case only ({again:,}), and these stay apart; write "
        f"them alike if they mean the same"
    )


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
            f"or take each user's last row: set the option duplicates to 'last'"
        )
    texts = {table.column_names[k]: _texts(table, k)[row_of_user] for k in chosen}
    orders = {table.column_names[k]: _declared_order(table.table.column(k)) for k in chosen}
    return AttributeTable(
        table.name, users, texts, {name: order for name, order in orders.items() if order is not None}
    )


def _user_column(table: InputTable, user: str | None, chosen: list[int] | None, ratings_user: str) -> int:
    """The option, else the ratings' own name for it, else a good guess, else the only column left."""
    if user is not None:
        return named_column(table, user, "attributes_user")
    free = [k for k in usable_columns(table) if k not in (chosen or ())]
    names = (frozenset({bare_name(ratings_user)}), *USER_NAMES, frozenset({"id"}))
    guess = guess_column(table, free, names, "attributes_user")
    if guess is not None:
        return guess
    # What is left is the user, unless the attribute that was named looks like the user itself.
    if guess_column(table, chosen or (), names, "attributes_user") is None and (
        len(free) == 1 or (chosen is None and len(free) == 2)
    ):
        refuse_headerless(table, "user")
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


def _declared_order(column: pa.ChunkedArray) -> list[str] | None:
    """A categorical column says itself which values it has and, if it is an ordered one, in which order they come."""
    if not pa.types.is_dictionary(column.type):
        return None
    if not (column.type.ordered and column.num_chunks):
        return []
    return [str(value).strip() for value in column.chunk(0).dictionary.to_pylist()]
