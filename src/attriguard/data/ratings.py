"""read_ratings: long tables of ratings, and a table of attributes, as PublicData."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attriguard._checks import UNDISCLOSED, check_choice
from attriguard.data.public_data import PublicData
from attriguard.data.scale import RatingScale, check_scale
from attriguard.data.tables.attributes import AttributeColumns, AttributeTable, join_attributes, read_attributes
from attriguard.data.tables.cells import rating_numbers
from attriguard.data.tables.columns import Roles, find_roles
from attriguard.data.tables.duplicates import DUPLICATES, build_matrix
from attriguard.data.tables.ids import encode_ids, lookup, union
from attriguard.data.tables.source import SourceTable
from attriguard.data.tables.table import InputTable, TableLike, read_table
from attriguard.errors import DataError, ParameterError

UNMATCHED = ("error", "keep", "drop")
ScaleLike = RatingScale | Sequence[float]


def read_ratings(
    ratings: TableLike,
    *,
    attributes: TableLike | None = None,
    attribute: str | Sequence[str] | None = None,
    user: str | None = None,
    item: str | None = None,
    rating: str | None = None,
    attributes_user: str | None = None,
    scale: ScaleLike | None = None,
    duplicates: str = "error",
    unmatched: str = "error",
    like: bool = False,
) -> PublicData:
    """Read a long table of ratings, one row a rating, and a table of attributes, one row a user.

    Parameters
    ----------
    ratings, attributes
        CSV or Parquet files, or frames, batches and readers that speak Arrow (pandas, polars, pyarrow).
    attribute
        The column of the private attribute; several become one joint attribute.
    user, item, rating, attributes_user
        The other columns, unless their names tell. Without a rating column every row is a like.
    scale
        The lowest and the highest rating and the step; by default the smallest scale that holds all ratings.
    duplicates
        What happens to a (user, item) that comes twice: "error", "last" or "mean".
    unmatched
        What happens to users who are in one of the two tables only: "error", "keep" or "drop".
    like
        Whether every row is a like, whatever its rating.
    """
    check_choice(duplicates, DUPLICATES, name="duplicates")
    check_choice(unmatched, UNMATCHED, name="unmatched")
    if attributes is None and attribute is not None:
        raise ParameterError("attribute names a column of the attributes table; give that table too (attributes)")
    table = read_table(ratings, "the ratings table")
    roles = find_roles(table, user=user, item=item, rating=rating, like=like)
    rows, described = _read_rows(table, roles, scale), None
    if attributes is not None:
        columns = AttributeColumns(attribute, attributes_user, table.column_names[roles.user])
        described = read_attributes(read_table(attributes, "the attributes table"), columns, duplicates)
    return _build(rows, described, duplicates=duplicates, unmatched=unmatched)


@dataclass(frozen=True, eq=False)
class _Rows:
    """What the rows of a ratings table say; ``raw`` holds their ratings, None for likes."""

    table: InputTable
    users: NDArray[Any]
    items: NDArray[Any]
    raw: NDArray[np.float64] | None
    scale: RatingScale
    source: SourceTable


def _read_rows(table: InputTable, roles: Roles, scale: ScaleLike | None) -> _Rows:
    users, user_of_row = encode_ids(table, roles.user)
    items, item_of_row = encode_ids(table, roles.item)
    raw = None if roles.rating is None else rating_numbers(table, roles.rating)
    source = SourceTable(
        table=table.table,
        user=roles.user,
        item=roles.item,
        rating=roles.rating,
        rows=np.arange(user_of_row.size, dtype=np.int64),
        user_of_row=user_of_row,
        item_of_row=item_of_row,
        csv=table.csv,
    )
    return _Rows(table, users, items, raw, _scale_of(table, roles, raw, scale), source)


def _build(rows: _Rows, described: AttributeTable | None, *, duplicates: str, unmatched: str) -> PublicData:
    """The data of both tables, once it is decided which users are in it."""
    users, items, source = rows.users, rows.items, rows.source
    if described is not None:
        users, user_of_row = _match(rows, described, unmatched)
        source = replace(source, user_of_row=user_of_row)
        if unmatched == "drop":
            source = source.of_rows(user_of_row >= 0)
            used, again = np.unique(source.item_of_row, return_inverse=True)
            items, source = items[used], replace(source, item_of_row=again)
    X, source = build_matrix(rows.table, source, rows.raw, rows.scale, (users.size, items.size), duplicates)
    name, y, values = _attribute_of(users, described)
    return PublicData(
        X=X,
        users=users,
        items=items,
        scale=rows.scale,
        attribute=name,
        y=y,
        values=values,
        source=source,
        name=rows.table.name,
    )


def _scale_of(table: InputTable, roles: Roles, raw: NDArray[np.float64] | None, given: ScaleLike | None) -> RatingScale:
    """The scale that was given, or the smallest that holds all ratings; a rating that is not on it is refused."""
    if raw is None or roles.rating is None:
        return RatingScale.likes()
    if given is None:
        try:
            return RatingScale.infer(raw)
        except DataError as error:
            raise DataError(
                f"{table.name}, column {table.column_names[roles.rating]!r}: {error}; if these are no ratings, name "
                f"another column with the option rating, or take every row as a like with the option like"
            ) from error
    scale = check_scale(given)
    off = np.flatnonzero(scale.off_scale(raw))
    if off.size:
        row = int(off[0])
        raise DataError(
            f"{table.at(row, roles.rating)}: the rating {raw[row]:g} is not on the scale {scale} "
            f"({off.size:,} such rows); correct them, or name the scale that these ratings have"
        )
    return scale


def _match(rows: _Rows, described: AttributeTable, unmatched: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The users of the data, given the users of both tables, and each row's user among them (-1: dropped)."""
    table, users, user_of_row = rows.table, rows.users, rows.source.user_of_row
    known = lookup(users, described.users) >= 0
    extra = described.users[lookup(described.users, users) < 0]
    if known.all() and not extra.size:
        return users, user_of_row
    if unmatched == "error":
        raise DataError(
            f"{np.count_nonzero(~known):,} of {users.size:,} users of {table.name} have no row in "
            f"{described.name}, and {extra.size:,} of {described.users.size:,} users of {described.name} "
            f"have no ratings; correct the ids, or set unmatched to 'keep' or 'drop'"
        )
    if unmatched == "keep":
        everyone = union(users, extra) if extra.size else users
        return everyone, lookup(users, everyone)[user_of_row]
    if not known.any():
        raise DataError(f"{table.name} and {described.name} have no user in common; do the ids mean the same?")
    return users[known], np.where(known, np.cumsum(known) - 1, -1)[user_of_row]


def _attribute_of(
    users: NDArray[Any], described: AttributeTable | None
) -> tuple[str, NDArray[np.int64], tuple[str, ...]]:
    """The attribute's name, everyone's code, and the values; without a table nobody discloses."""
    if described is None:
        return "", np.full(users.size, UNDISCLOSED, dtype=np.int64), ()
    row = lookup(users, described.users)
    # A user without a row has position -1, and so gets the None that is appended here.
    columns = {name: np.append(column, [None])[row] for name, column in described.columns.items()}
    name, y, values = join_attributes(columns, orders=described.orders)
    if len(values) < 2:
        found = "nobody discloses it" if not values else "everybody who discloses it has the same value"
        raise DataError(
            f"{described.name}: the attribute {name!r} must have at least two values, but {found}; "
            f"name another attribute, or correct the table"
        )
    return name, y, values
