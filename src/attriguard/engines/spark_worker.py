"""What runs in Spark's Python workers: the guard comes once as a broadcast, and then block after block of users."""

from __future__ import annotations

import gc
import json
import os
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from attriguard.data.files import written_beside
from attriguard.data.tables.csv_text import CsvStyle
from attriguard.data.tables.table import InputTable
from attriguard.engines.buckets import settle
from attriguard.engines.ledgers import note_piece, piece_of, remembering
from attriguard.engines.maker import COUNTS, facts_of, source_of, source_record, wishes_of, wishes_record
from attriguard.engines.memory import keep_freed_memory
from attriguard.engines.parts import sha256_of
from attriguard.engines.sources import Source
from attriguard.ledger.hashes import bucket_of, text_hashes
from attriguard.operations.memory import Told
from attriguard.operations.protector import Protector
from attriguard.operations.ready import protector_for, released_blocks
from attriguard.operations.wishes import Wishes

# Rows of a block, at least: Spark's own batches would each cost more than their users do. A usual partition is one.
BLOCK_ROWS = 400_000
# Guards that a worker keeps at a time.
MOST_READY = 4
_ready: dict[str, Ready] = {}


class Package(NamedTuple):
    """All that a worker needs, as bytes. It holds the key: it travels as a broadcast, in no plan and in no task."""

    job: bytes
    guard: bytes
    sample: bytes
    items: bytes


class Ready(NamedTuple):
    """A protector that a worker has made of a package, how cells of text are written, and what rows are sorted by."""

    protector: Protector
    csv: CsvStyle | None
    order: list[str]
    pieces: Path | None  # where what is told the ledger goes


class Facts:
    """Counts of blocks that come together in the driver, as Spark's accumulators add them."""

    def zero(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Nothing counted yet."""
        return dict.fromkeys(COUNTS, 0) | {"unknown": [], "telltale": []}

    def addInPlace(self, one: dict[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        """Both together, names once."""
        both = {name: one[name] + other[name] for name in COUNTS}
        return both | {name: list(dict.fromkeys([*one[name], *other[name]])) for name in ("unknown", "telltale")}


def package_of(
    source: Source,
    guard: bytes,
    wishes: Wishes,
    options: Mapping[str, Any],
    rows: tuple[pa.Table, pa.Table | None],
    about: Mapping[str, Any],
) -> Package:
    """The package: ``rows`` are those of some users, and one of each item.

    ``about`` has the "order", what workers sort rows by, and says where the "ledger" is.
    """
    job = {
        **about,
        "source": source_record(source),
        "wishes": wishes_record(wishes) | {"key": (wishes.key or b"").hex()},
        "options": dict(options),
    }
    sample, items = rows
    return Package(json.dumps(job).encode(), guard, _bytes_of(sample), b"" if items is None else _bytes_of(items))


def task_of(name: str, package: Any, facts: Any = None) -> Callable[[Iterable[pa.RecordBatch]], Any]:
    """What Spark calls for each partition; a task carries the broadcast's number and no more."""

    def attriguard_protect(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in _protected(name, package, facts, batches):
            yield from table.to_batches()

    return attriguard_protect


def writing_task(
    name: str, package: Any, facts: Any, folder: str, schema: bytes
) -> Callable[[Iterable[pa.RecordBatch]], Any]:
    """The same, but each partition becomes a file in a folder that all machines see; its name and hash go to Spark."""

    def attriguard_write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tables = _protected(name, package, facts, batches)
        first = next(tables, None)
        if first is None:
            return
        # A task that is done twice writes two files, of which Spark names one.
        path, rows = Path(folder) / f"part-{secrets.token_hex(16)}.parquet", 0
        kind = pa.ipc.read_schema(pa.py_buffer(schema))
        with written_beside(path) as file, pq.ParquetWriter(file, kind) as writer:
            for table in chain([first], tables):
                writer.write_table(table.cast(kind))
                rows += table.num_rows
        yield pa.RecordBatch.from_pydict({"file": [path.name], "rows": [rows], "sha256": [sha256_of(path)]})

    return attriguard_write


def _protected(name: str, package: Any, facts: Any, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The released rows of a partition, block by block."""
    if name not in _ready:
        while len(_ready) >= MOST_READY:
            _ready.pop(next(iter(_ready)))
        _ready[name] = _made_ready(Package(*package.value))
    protector, csv, order, pieces = _ready[name]
    blocks, told = (_ordered(table, order) for table in _gathered(batches)), list[Told]()
    for block, made in released_blocks(blocks, protector, csv=csv):
        if facts is not None:
            facts.add(facts_of(protector, block, made))
        if made.told is not None:
            told.append(made.told.bare)
        yield made.release.table
    if pieces is not None:
        note_piece(piece_of(told, pieces), pieces, _partition())


def _ordered(table: pa.Table, order: list[str]) -> pa.Table:
    """Rows that are sorted by user, now also by item and all other cells, where Spark has not done it."""
    return table.sort_by([(name, "ascending") for name in order]) if order else table


def bucket_task(package: Any, n: int) -> Callable[[pa.Array], pa.Array]:
    """What Spark calls with ids as text, for the bucket of each: the partition in which the ledger has the user."""

    def attriguard_bucket(users: pa.Array) -> pa.Array:
        key = bytes.fromhex(json.loads(package.value[0])["ledger"]["key"])
        return pa.array(bucket_of(text_hashes(users.fill_null(""), key), n), pa.int32())

    return attriguard_bucket


def _partition() -> int:
    """The number of the partition that this task makes."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def _made_ready(package: Package) -> Ready:
    """One task has one core, so that no thread of it waits for another task's."""
    os.environ.setdefault("ATTRIGUARD_THREADS", "1")
    pa.set_cpu_count(1)
    keep_freed_memory()
    job = json.loads(package.job)
    source = source_of(job["source"])
    with tempfile.TemporaryDirectory(prefix="attriguard-") as private:
        path = Path(private) / "guard"
        path.write_bytes(package.guard)
        protector = protector_for(path, wishes_of(job["wishes"]), job["options"]).for_blocks()
    items = InputTable(_table_of(package.items), source.name, source.style) if package.items else None
    settled = settle(protector, InputTable(_table_of(package.sample), source.name, source.style), items)
    ledger = job["ledger"]
    pieces = None if ledger is None else Path(ledger["pieces"])
    gc.freeze()  # Spark collects after every task, and would look at all modules each time
    return Ready(remembering(settled, ledger), source.style, job["order"], pieces)


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    held, rows = list[pa.RecordBatch](), 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= BLOCK_ROWS:
            yield pa.Table.from_batches(held)
            held, rows = [], 0
    if held:
        yield pa.Table.from_batches(held)


def _bytes_of(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _table_of(content: bytes) -> pa.Table:
    return pa.ipc.open_stream(content).read_all()
