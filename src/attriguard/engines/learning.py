"""``ag.sample_ratings``: what a guard learns from, out of a table that need not fit into memory.

The most rated items are counted first; then users who disclose the attribute are chosen by a hash of their ids. So the
same table gives the same sample, whatever the order of its rows and files.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from attriguard._checks import check_count
from attriguard.data.public_data import PublicData
from attriguard.data.ratings import read_ratings
from attriguard.data.tables.attributes import AttributeColumns, read_attributes
from attriguard.data.tables.columns import Roles, find_roles
from attriguard.data.tables.missing import bare_mark, check_missing
from attriguard.data.tables.table import TableLike, read_table
from attriguard.engines.duck import connected, load_duckdb, memory_bytes
from attriguard.engines.sources import Source, open_source
from attriguard.errors import DataError
from attriguard.kernels.threads import n_threads

USUAL_USERS, USUAL_ITEMS = 200_000, 10_000
HEAD_ROWS = 1_000


def sample_ratings(
    ratings: str | os.PathLike[str],
    *,
    attributes: TableLike,
    users: int = USUAL_USERS,
    items: int = USUAL_ITEMS,
    memory: str | int = "2GB",
    **reading: Any,
) -> PublicData:
    """The most rated items of a large table, and a sample of its users who disclose the attribute.

    Parameters
    ----------
    ratings
        A Parquet or CSV file, a folder or a glob of such files, or ``FILE:TABLE`` of a DuckDB or SQLite file.
    attributes
        A table with a row a user, which fits into memory.
    users, items
        At most so many users and items.
    memory
        About what may be used, such as "2GB".
    **reading
        Options of `read_ratings`: ``attribute``, ``user``, ``item``, ``scale`` … Users who are in one of the two tables
        only are not taken.
    """
    load_duckdb()
    source, limit = open_source(ratings), memory_bytes(memory)
    most = check_count(users, name="users"), check_count(items, name="items")
    described = read_table(attributes, "the attributes table")
    with tempfile.TemporaryDirectory(prefix="attriguard-") as spill:
        try:
            with connected(Path(spill), memory=limit, threads=n_threads()) as connection:
                head = source.head(connection, HEAD_ROWS)
                named = {name: reading.get(name) for name in ("user", "item", "rating")}
                roles = find_roles(head, **named, like=bool(reading.get("like")))
                disclosing = _disclosing(described, source.schema.names[roles.user], reading)
                rows, note = _chosen(connection, source, roles, disclosing, most)
        except DataError as error:
            raise source.failed[0] if source.failed else error from None
    if not rows.num_rows:
        raise DataError(f"{source.name} and {described.name} have no user in common; do the ids mean the same?")
    data = read_ratings(source.typed(rows, source.name), attributes=described, **{**reading, "unmatched": "drop"})
    return replace(data, notes=(note, *data.notes))


def _disclosing(described: Any, ratings_user: str, reading: dict[str, Any]) -> pa.Array:
    """The ids of users who disclose the attribute, as text."""
    columns = AttributeColumns(reading.get("attribute"), reading.get("attributes_user"), ratings_user)
    found = read_attributes(described, columns, reading.get("duplicates", "error"))
    marks = check_missing(reading.get("missing")) | {""}
    known = np.ones(found.users.size, dtype=np.bool_)
    for cells in found.columns.values():
        missing = {cell for cell in set(cells.tolist()) if cell is None or bare_mark(cell) in marks}
        known &= np.fromiter((cell not in missing for cell in cells), dtype=np.bool_, count=cells.size)
    return pa.array(found.users[known]).cast(pa.string())


def _chosen(
    connection: Any, source: Source, roles: Roles, disclosing: pa.Array, most: tuple[int, int]
) -> tuple[pa.Table, str]:
    """The rows of the chosen users and items, and what was taken."""
    user, item = (source.text_of(column) for column in (roles.user, roles.item))
    connection.register("given_users", pa.table({"id": disclosing}))
    connection.execute(
        f"CREATE TABLE counted AS SELECT {item} AS id, count(*) AS n FROM {source.relation(connection)} GROUP BY 1"
    )
    connection.execute(f"CREATE TABLE items AS SELECT id FROM counted ORDER BY n DESC, id LIMIT {most[1]}")
    connection.execute(
        f"CREATE TABLE able AS SELECT DISTINCT {user} AS id FROM {source.relation(connection)} "
        f"WHERE {user} IN (SELECT id FROM given_users) AND {item} IN (SELECT id FROM items)"
    )
    connection.execute(f"CREATE TABLE users AS SELECT id FROM able ORDER BY md5(id), id LIMIT {most[0]}")
    rows = connection.sql(
        f"SELECT * FROM {source.relation(connection)} WHERE {user} IN (SELECT id FROM users) "
        f"AND {item} IN (SELECT id FROM items) ORDER BY c{roles.user}, c{roles.item}"
    ).to_arrow_table()
    sizes = {
        name: int(connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0])
        for name in ("users", "able", "items", "counted")
    }
    return rows, (
        f"takes {sizes['users']:,} of {sizes['able']:,} users who disclose the attribute, and the {sizes['items']:,} "
        f"most rated of {sizes['counted']:,} items"
    )
