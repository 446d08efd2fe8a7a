"""read_ratings: long tables of ratings, and a table of attributes, as PublicData."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from attriguard._checks import UNDISCLOSED, check_choice
from attriguard.data.public_data import PublicData
from attriguard.data.scale import RatingScale, check_scale
from attriguard.data.tables.attributes import (
    AttributeColumns,
    AttributeTable,
    ValueRules,
    form_attribute,
    read_attributes,
)
from attriguard.data.tables.bins import Bins
from attriguard.data.tables.cells import rating_numbers
from attriguard.data.tables.coded import Coded
from attriguard.data.tables.columns import Roles, find_roles
from attriguard.data.tables.duplicates import DUPLICATES, build_matrix
from attriguard.data.tables.ids import encode_ids, lookup, union
from attriguard.data.tables.item_names import ItemNames, name_items, read_item_names
from attriguard.data.tables.person import read_ratings_table
from attriguard.data.tables.source import SourceTable
from attriguard.data.tables.table import InputTable, TableLike, read_table
from attriguard.errors import DataError, ParameterError

UNMATCHED = ("error", "keep", "drop")
ScaleLike = RatingScale | Sequence[float]


def read_ratings(
    ratings: TableLike, *, attributes: TableLike | None = None, attribute: str | Sequence[str] | None = None,
    user: str | None = None, item: str | None = None, rating: str | None = None, attributes_user: str | None = None,
    scale: ScaleLike | None = None, duplicates: str = "error", unmatched: str = "error", like: bool = False,
    missing: Sequence[str] | None = None, bins: Bins = None, min_users: int | None = None, rare: str = "merge",
    item_names: ItemNames | None = None,
) -> PublicData:  # fmt: skip
    """Read a long table of ratings, one row a rating, and a table of attributes, one row a user.

    ``notes`` of the data tell what was done to the attribute's values.

    Parameters
    ----------
    ratings, attributes, item_names
        CSV or Parquet files, or frames, batches and readers that speak Arrow (pandas, polars, pyarrow). ``item_names``
        has a column of item ids and one of names, or is a mapping. One person's `read_export` is a table, too.
    attribute
        The column of the private attribute; several become one joint attribute.
    user, item, rating, attributes_user
        The other columns, unless their names tell. Without a rating column every row is a like.
    scale
        The lowest and the highest rating and the step; by default the smallest scale that holds all ratings.
    duplicates, unmatched
        What happens to a (user, item) that comes twice: "error", "last" or "mean"; and to users who are in one of the
        two tables only: "error", "keep" or "drop".
    like
        Whether every row is a like, whatever its rating.
    missing
        Marks that stand for no value, besides the empty cell; by default "NA", "unknown" and the like.
    bins
        How an attribute of numbers is cut: a number of bins with about as many users each, or the edges between bins,
        or "none". By default five bins for a quantity of more than ten different numbers.
    min_users, rare
        Values with fewer users are merged into "other" ("merge"), or taken as undisclosed ("drop").
    """
    check_choice(duplicates, DUPLICATES, name="duplicates")
    check_choice(unmatched, UNMATCHED, name="unmatched")
    rules = ValueRules.checked(missing=missing, bins=bins, min_users=min_users, rare=rare)
    if attributes is None:
        _refuse_given(
            attribute=attribute, attributes_user=attributes_user, missing=missing, bins=bins, min_users=min_users
        )
    table, of_site = read_ratings_table(ratings, user)
    roles = find_roles(table, user=user, item=item, rating=rating, like=like)
    rows, described = _read_rows(table, roles, of_site if scale is None else scale), None
    if attributes is not None:
        columns = AttributeColumns(attribute, attributes_user, table.column_names[roles.user])
        described = read_attributes(read_table(attributes, "the attributes table"), columns, duplicates)
    data = _build(rows, described, rules, duplicates=duplicates, unmatched=unmatched)
    return data if item_names is None else _named(data, item_names, table.column_names[roles.item])


def _refuse_given(**options: Any) -> None:
    for name, value in options.items():
        if value is not None:
            raise ParameterError(
                f"{name} is about the attributes table; give that table too with the option attributes"
            )


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
    raw = None if roles.rating is None else rating_numbers(table, roles.rating, may_like=scale is None)
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


def _build(
    rows: _Rows, described: AttributeTable | None, rules: ValueRules, *, duplicates: str, unmatched: str
) -> PublicData:
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
    if described is None:
        found = Coded("", np.full(users.size, UNDISCLOSED, dtype=np.int64), ())
    else:
        found = form_attribute(described, users, rules)
    return PublicData(
        X=X,
        users=users,
        items=items,
        scale=rows.scale,
        attribute=found.name,
        y=found.codes,
        values=found.values,
        source=source,
        name=rows.table.name,
        notes=found.notes,
    )


def _named(data: PublicData, item_names: ItemNames, item: str) -> PublicData:
    """The data with the names of its items."""
    names, known = name_items(data.items, read_item_names(item_names, item))
    missing = data.n_items - known
    told = [f"{missing:,} of {data.n_items:,} items have no name and keep their id"] if missing else []
    return replace(data, item_names=names, notes=(*data.notes, *told))


def _scale_of(table: InputTable, roles: Roles, raw: NDArray[np.float64] | None, given: ScaleLike | None) -> RatingScale:
    """The scale that was given, or the smallest that holds all ratings; a rating that is not on it is refused."""
    if raw is None or roles.rating is None:
        return RatingScale.likes()
    distinct = pa.array(raw).unique().to_numpy()  # few, whatever the number of rows
    if given is None:
        try:
            return RatingScale.infer(distinct)
        except DataError as error:
            raise DataError(
                f"{table.name}, column {table.column_names[roles.rating]!r}: {error}; if these are no ratings, name "
                f"another column with the option rating, or take every row as a like with the option like"
            ) from error
    scale = check_scale(given)
    if scale.off_scale(distinct).any():
        off = np.flatnonzero(scale.off_scale(raw))
        row = int(off[0])
        raise DataError(
            f"{table.at(row, roles.rating)}: the rating {raw[row]:g} is not on the scale {scale} "
            f"({off.size:,} such rows); correct them, or take a scale that holds them (a guard has its own)"
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
            f"have no ratings; correct the ids, or set the option unmatched to 'keep' or 'drop'"
        )
    if unmatched == "keep":
        everyone = union(users, extra) if extra.size else users
        return everyone, lookup(users, everyone)[user_of_row]
    if not known.any():
        raise DataError(f"{table.name} and {described.name} have no user in common; do the ids mean the same?")
    return users[known], np.where(known, np.cumsum(known) - 1, -1)[user_of_row]
