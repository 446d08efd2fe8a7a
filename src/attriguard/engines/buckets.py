"""Users brought together: DuckDB sorts the rows, by a hash of the user that gives the bucket, then by user and item.

A bucket holds complete users and is read as one block: consecutive rows of one file. Beside it stands a sample of
users, and one row of each item, by which the table's other columns are judged.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from attriguard.data.files import sync, written_beside
from attriguard.data.releases.survey import Survey
from attriguard.data.tables.columns import Roles
from attriguard.data.tables.source import plain_source
from attriguard.data.tables.table import InputTable
from attriguard.engines.duck import connected, text
from attriguard.engines.ledgers import bucket_in_sql, forgetting
from attriguard.engines.sources import Source
from attriguard.errors import DataError
from attriguard.operations.memory import Memory
from attriguard.operations.protector import Protector
from attriguard.progress import Progress

# Rows of a bucket: a block that is worth a worker's while, and needs little memory.
BUCKET_ROWS = 250_000
# A bucket's number has 16 bits.
MOST_BUCKETS = 30_000
# Rows of sampled users by which other columns are judged; a smaller table is looked at as a whole.
SAMPLE_ROWS = 200_000
# Bytes that protecting a row takes, those of each further column, and those of a worker before its first row.
ROW_BYTES, CELL_BYTES, WORKER_BYTES = 400, 60, 300 * 10**6
DONE = "done"


@dataclass(frozen=True, eq=False)
class Buckets:
    """The buckets of a source in a folder of their own."""

    source: Source
    roles: Roles
    folder: Path
    n: int
    memory: Memory | None = None  # the ledger, as whose entries users are divided

    @property
    def others(self) -> bool:
        """Whether the table has columns besides user, item and rating."""
        return len(self.source.schema) > len([role for role in self.roles if role is not None])

    @property
    def _user(self) -> str:
        return self.source.id_of(self.roles.user)

    def _divided(self, connection: Any) -> str:
        """The rows, each with its bucket. A keyed hash is dear: it is computed once a user, if rows can be reread."""
        relation, user = self.source.relation(connection), f"c{self.roles.user}"
        if self.memory is None:
            return f"SELECT *, (hash({self._user}) % {self.n})::SMALLINT AS bucket FROM {relation}"
        bucket = f"({bucket_in_sql(self.memory, self.source.text_of(self.roles.user), self.n)})::SMALLINT AS bucket"
        if not self._joins(connection, relation, user):
            return f"SELECT *, {bucket} FROM {relation}"
        users = f"SELECT {user} AS who, {bucket} FROM (SELECT DISTINCT {user} FROM {relation})"
        return f"SELECT each.*, bucket FROM {relation} AS each JOIN ({users}) ON each.{user} = who"

    def _joins(self, connection: Any, relation: str, user: str) -> bool:
        """Whether rows can be read twice, and none lacks its user: a join would lose it, and nobody would be told."""
        if self.source.kind not in ("parquet", "duckdb"):
            return False
        return bool(connection.execute(f"SELECT count(*) = count({user}) FROM {relation}").fetchone()[0])

    @property
    def _order(self) -> str:
        """By user and item, and below that by all cells, so that nothing depends on how the rows came."""
        first = [f"c{self.roles.user}", f"c{self.roles.item}"]
        return ", ".join([*first, *(name for name in self.source.columns if name not in first)])

    def fill(self, memory: int, threads: int, progress: Progress) -> None:
        """Read the source, unless a run before this one has come to the end of it."""
        if (self.folder / DONE).exists():
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(mode=0o700)
        progress.tell("bringing users together")
        with connected(self.folder / "spill", memory=memory, threads=threads) as connection:
            self._sample(connection)
            connection.execute(
                f"COPY ({self._divided(connection)} ORDER BY bucket, {self._order}) "
                f"TO {text(self._rows)} (FORMAT parquet, COMPRESSION snappy)"
            )
            counted = connection.execute(f"SELECT bucket, count(*) FROM {text(self._rows)} GROUP BY bucket").fetchall()
        for path in self.folder.rglob("*.parquet"):
            sync(path)
        counts = dict(counted)
        with written_beside(self.folder / DONE) as file:
            file.write(json.dumps([counts.get(k, 0) for k in range(self.n)]).encode())

    def _sample(self, connection: Any) -> None:
        """Some users, and one row of each item; which ones depends on their ids alone. Plain tables need hardly any."""
        relation, rows = self.source.relation, self.source.count(connection) if self.others else 0
        word = f"md5_number_lower({self._user}::VARCHAR)"
        share = min(1.0, SAMPLE_ROWS / max(1, rows))
        chosen = "" if share == 1.0 else f"WHERE {word} < {int(share * 2**64)}"
        ordered = f"ORDER BY {self._order}" if self.others else "LIMIT 1"
        connection.execute(
            f"COPY (SELECT * FROM {relation(connection)} {chosen} {ordered}) "
            f"TO {text(self.folder / 'sample.parquet')} (FORMAT parquet)"
        )
        if chosen:
            item = self.source.id_of(self.roles.item)
            row = f"arg_min(struct_pack({', '.join(f'{c} := {c}' for c in self.source.columns)}), {word})"
            connection.execute(
                f"COPY (SELECT unnest(one) FROM (SELECT {row} AS one FROM {relation(connection)} GROUP BY {item})) "
                f"TO {text(self.folder / 'items.parquet')} (FORMAT parquet)"
            )

    @property
    def _rows(self) -> Path:
        return self.folder / "rows.parquet"

    @cached_property
    def _places(self) -> tuple[NDArray[np.int64], NDArray[np.int64], pq.FileMetaData]:
        """The first row of each bucket, and of each group of rows of the file, each with an end; about the file."""
        about = pq.read_metadata(self._rows)
        counts = json.loads((self.folder / DONE).read_text(encoding="utf-8"))
        groups = [about.row_group(g).num_rows for g in range(about.num_row_groups)]
        return np.cumsum([0, *counts]), np.cumsum([0, *groups]), about

    def block(self, k: int) -> InputTable | None:
        """The complete users of a bucket, sorted; None for an empty one."""
        buckets, groups, about = self._places
        start, end = int(buckets[k]), int(buckets[k + 1])
        if start == end:
            return None
        first, last = np.searchsorted(groups, [start, end - 1], side="right") - 1
        with pq.ParquetFile(self._rows, metadata=about) as file:
            rows = file.read_row_groups(range(first, last + 1)).slice(start - int(groups[first]), end - start)
        if not pc.all(pc.equal(rows["bucket"], k)).as_py():
            raise DataError(f"{self._rows} is not as it was written; remove {self.folder.parent}, and start again")
        return self.source.typed(rows.select(self.source.columns), f"{self.source.name} (users of part {k})")

    def settled(self, protector: Protector) -> Protector:
        """The protector for all blocks: the sample tells what other columns are."""
        items = self._read("items") if (self.folder / "items.parquet").exists() else None
        return settle(protector, self._read("sample"), items)

    def _read(self, name: str) -> InputTable:
        rows: pa.Table = pq.read_table(self.folder / f"{name}.parquet")
        return self.source.typed(rows, self.source.name)


def settle(protector: Protector, sample: InputTable, items: InputTable | None) -> Protector:
    """The protector for all blocks of a table, by rows of some users, and by one row of each item."""
    looking = forgetting(protector)
    settled = protector.settled(looking.prepare(sample), "numbers")
    if items is None or settled.survey is None:
        return settled
    rows = looking.prepare(items)
    source = (rows.data.source or plain_source(rows.data)).compact()
    survey: Survey = settled.survey.with_items(source, rows.data.items)
    return replace(settled, survey=survey)


def bucket_count(rows: int, n_columns: int, memory: int, workers: int) -> int:
    """Into how many buckets so many rows go, so that all workers together keep to the memory."""
    each = max(memory - workers * WORKER_BYTES, memory // 4) // workers
    fit = each // (ROW_BYTES + CELL_BYTES * max(0, n_columns - 3))
    size = max(1, min(BUCKET_ROWS, fit))
    return max(1, min(MOST_BUCKETS, -(-rows // size)))
