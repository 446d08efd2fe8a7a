"""``ag.protect_files(engine="spark")``: files in, a folder of protected parts out, on a Spark cluster.

Spark writes into a hidden folder beside the output. The output gets its name when all parts, the manifest and the
marker are in it; whatever stops the run before that leaves no output, and the next run removes the rest.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from attriguard._checks import check_count
from attriguard.data.files import folder_for, make_folder, sync_folder
from attriguard.data.locks import used_alone
from attriguard.data.tables.csv_text import CsvStyle
from attriguard.engines.buckets import BUCKET_ROWS
from attriguard.engines.ledgers import entry_of, noted_pieces, pieces_of
from attriguard.engines.maker import totals_of
from attriguard.engines.parts import MANIFEST, seal
from attriguard.engines.release import (
    HEAD_ROWS,
    ReleasedParts,
    asked_wishes,
    check_folder,
    guard_bytes,
    refuse_inside,
    terms_of,
)
from attriguard.engines.sources import Source, open_source
from attriguard.engines.spark import Frame, load_spark
from attriguard.engines.spark_session import session, watched
from attriguard.engines.spark_worker import Facts
from attriguard.errors import DataError, ParameterError
from attriguard.operations.protector import Protector
from attriguard.operations.ready import GuardLike, protector_for
from attriguard.progress import Progress

# A local run of fewer rows is over before Java has compiled the best code for it.
SHORT_ROWS = 30_000_000
# Types that Spark reads and writes as they are.
SIMPLE = {
    pa.int8(): "tinyint", pa.int16(): "smallint", pa.int32(): "int", pa.int64(): "bigint",
    pa.float32(): "float", pa.float64(): "double", pa.string(): "string",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class SparkRun:
    """Where a run takes place, and into how many parts."""

    master: str | None
    memory: int
    parts: int | None
    progress: Progress


def protect_on_spark(
    ratings: str | os.PathLike[str], guard: GuardLike, output: Path, run: SparkRun, options: dict[str, Any]
) -> ReleasedParts:
    """A table in files that all machines see, into a new folder that they see, too."""
    load_spark()
    import pyspark

    check_folder(output)
    wishes = asked_wishes(options)
    protector = protector_for(guard, wishes, options).for_blocks()
    source = open_source(ratings)
    if source.kind not in ("parquet", "text"):
        raise ParameterError(f"Spark reads files, not {source.name}; protect a table of a database without --engine")
    refuse_inside(source, output, wishes.ledger)
    if output.exists():
        raise DataError(f"{output} is there already, and Spark begins anew; name a new folder")
    with folder_for(output.absolute().parent), used_alone(output), _beside(output) as work:
        content = guard_bytes(guard)
        terms = terms_of(source, content, protector, options, f"spark {pyspark.__version__}")
        rows = make_folder(work / "rows")
        made, totals, n = _written(source, protector, content, run, options, rows)
        files = _gathered(made, rows, work / "release")
        pieces = noted_pieces(pieces_of(work), n) if protector.memory is not None else []
        entry = entry_of(protector, pieces, pieces_of(work))
        totals |= {} if entry is None else {"entered": entry.words}
        seal(work / "release", {**terms, "parts": len(files), "files": files, "totals": totals})
        if entry is None:
            _named(work / "release", output)
        else:
            entry.write(partial(_named, work / "release", output), output / MANIFEST)
    return ReleasedParts(output, protector.planner.goal.name, len(files), totals, wishes.order == "shuffled")


def _named(release: Path, output: Path, whole: Callable[[Path], None] | None = None) -> None:
    """The release gets its name; ``whole`` is called before that with the manifest, which stands for all of it."""
    if whole is not None:
        whole(release / MANIFEST)
    os.rename(release, output)
    sync_folder(output.absolute().parent)


def _written(
    source: Source, protector: Protector, guard: bytes, run: SparkRun, options: Mapping[str, Any], rows: Path
) -> tuple[list[Any], dict[str, Any], int]:
    """Have Spark write the release into the folder ``rows``; its files, what was counted, and how many partitions."""
    n_rows = source.count(None)
    with session(run.master, run.memory, rows.parent, short=n_rows < SHORT_ROWS) as spark:
        context = spark.sparkContext
        facts = context.accumulator(Facts().zero({}), Facts())
        usual = max(context.defaultParallelism, -(-n_rows // BUCKET_ROWS))
        n = usual if run.parts is None else check_count(run.parts, name="parts")
        run.progress.tell("looking at the table")
        frame = Frame.of(_read(spark, source), protector, source.name, source.style, _head(source))
        package = frame.package(guard, options, n_rows, pieces_of(rows.parent.absolute()))
        writing, made = frame.written(package, n, facts, rows.absolute()), list[Any]()

        def tell() -> None:
            users, ratings = facts.value["users"], facts.value["rows"]
            whole = max(n_rows, ratings)
            run.progress.tell(f"{users:,} users, {ratings:,} of about {whole:,} ratings", ratings / max(1, whole))

        watched(context, lambda: made.extend(writing.collect()), tell)
        return made, totals_of([facts.value], len(protector.wishes.locked.pairs)), n


def _read(spark: Any, source: Source) -> Any:
    """The files as a DataFrame, with the table's own columns; cells of text stay as they are."""
    names, files = source.schema.names, [_escaped(path) for path in source.files]
    if source.kind == "parquet":
        quoted = [f"`{name.replace('`', '``')}`" for name in names]
        reader = spark.read
        if _is_simple(source):  # else Spark runs a job to find out
            columns = zip(quoted, source.schema.types, strict=True)
            reader = reader.schema(", ".join(f"{name} {SIMPLE[kind]}" for name, kind in columns))
        return reader.parquet(*files).select(quoted)
    if len(set(names)) < len(names):
        raise DataError(f"{source.name} has two columns of the same name; rename one of them")
    schema = ", ".join(f"{name} STRING" for name in source.columns)
    style = source.style or CsvStyle()
    table = spark.read.csv(
        files, schema=schema, header=True, sep=style.delimiter, quote='"', escape='"', encoding="UTF-8",
        multiLine=True, mode="FAILFAST",
    )  # fmt: skip
    return table.na.fill("").toDF(*names)  # no cell of text is missing: it is empty


def _is_simple(source: Source) -> bool:
    """Whether Spark has every column's very type."""
    return source.kind == "parquet" and all(kind in SIMPLE for kind in source.schema.types)


def _head(source: Source) -> pa.Table | None:
    """The first rows of a table of simple types; None where Spark is to show how it reads them."""
    if not _is_simple(source):
        return None
    with pq.ParquetFile(source.files[0]) as file:
        rows = next(file.iter_batches(HEAD_ROWS, columns=source.schema.names), None)
    return None if rows is None or not rows.num_rows else pa.Table.from_batches([rows]).cast(source.schema)


def _escaped(path: Path) -> str:
    """A path as Spark takes it, which reads a pattern in some letters."""
    return "".join(f"\\{letter}" if letter in "{}[]*?\\" else letter for letter in str(path.absolute()))


def _gathered(made: Sequence[Any], rows: Path, release: Path) -> list[dict[str, Any]]:
    """The files that Spark's tasks have written as parts of a release."""
    release.mkdir()
    files = []
    for k, each in enumerate(made):
        if not (rows / each.file).exists():
            raise DataError(
                f"Spark wrote {len(made):,} files, and one of them is not here: the output must be in a folder that "
                "all machines of the cluster share"
            )
        part = release / f"part-{k:05d}.parquet"
        (rows / each.file).rename(part)
        files.append({"file": part.name, "rows": each.rows, "sha256": each.sha256})
    sync_folder(release)
    return files


@contextmanager
def _beside(output: Path) -> Iterator[Path]:
    """A hidden folder beside the output, always of the same name, so that what a killed run left is removed."""
    name = hashlib.sha256(os.fsencode(output.name)).hexdigest()[:32]
    work = output.absolute().with_name(f".attriguard-{name}.spark")
    shutil.rmtree(work, ignore_errors=True)
    make_folder(work)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
