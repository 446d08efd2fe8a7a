"""``ag.protect_files(engine="spark")``: files in, a folder of protected parts out, on a Spark cluster.

Spark writes into a hidden folder beside the output. The output gets its name when all parts, the manifest and the
marker are in it; whatever stops the run before that leaves no output, and the next run removes the rest.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from attriguard._checks import check_count
from attriguard.data.files import make_folder, sync
from attriguard.data.locks import used_alone
from attriguard.data.tables.csv_text import CsvStyle
from attriguard.engines.buckets import BUCKET_ROWS
from attriguard.engines.ledgers import entry_of, noted_pieces, pieces_of
from attriguard.engines.maker import totals_of
from attriguard.engines.parts import MANIFEST, seal, sha256_of
from attriguard.engines.release import ReleasedParts, asked_wishes, check_folder, guard_bytes, refuse_inside, terms_of
from attriguard.engines.sources import Source, open_source
from attriguard.engines.spark import Frame, load_spark
from attriguard.engines.spark_session import session, watched
from attriguard.engines.spark_worker import Facts
from attriguard.errors import DataError, ParameterError
from attriguard.operations.protect import GuardLike, protector_for
from attriguard.operations.protector import Protector
from attriguard.progress import Progress


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
    refuse_inside(source, output)
    if output.exists():
        raise DataError(f"{output} is there already, and Spark begins anew; name a new folder")
    make_folder(output.absolute().parent)
    with used_alone(output), _beside(output) as work:
        content = guard_bytes(guard)
        terms = terms_of(source, content, protector, options, f"spark {pyspark.__version__}")
        totals, n = _written(source, protector, content, run, options, work / "rows")
        files = _gathered(work / "rows", work / "release", totals["rows"])
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
    sync(output.absolute().parent)


def _written(
    source: Source, protector: Protector, guard: bytes, run: SparkRun, options: Mapping[str, Any], rows: Path
) -> tuple[dict[str, Any], int]:
    """Have Spark write the release into the folder ``rows``; what it counted, and the number of partitions."""
    n_rows = source.count(None)
    with session(run.master, run.memory, rows.parent) as spark:
        context = spark.sparkContext
        facts = context.accumulator(Facts().zero({}), Facts())
        usual = max(context.defaultParallelism, -(-n_rows // BUCKET_ROWS))
        n = usual if run.parts is None else check_count(run.parts, name="parts")
        run.progress.tell("looking at the table")
        frame = Frame.of(_read(spark, source), protector, source.name, source.style)
        package = frame.package(guard, options, n_rows, pieces_of(rows.parent.absolute()))
        protected = frame.protected(package, n, facts)

        def tell() -> None:
            users, ratings = facts.value["users"], facts.value["rows"]
            whole = max(n_rows, ratings)
            run.progress.tell(f"{users:,} users, {ratings:,} of about {whole:,} ratings", ratings / max(1, whole))

        watched(context, lambda: protected.write.parquet(rows.absolute().as_uri()), tell)
        return totals_of([facts.value], len(protector.wishes.locked.pairs)), n


def _read(spark: Any, source: Source) -> Any:
    """The files as a DataFrame, with the table's own columns; cells of text stay as they are."""
    names, files = source.schema.names, [_escaped(path) for path in source.files]
    if source.kind == "parquet":
        return spark.read.parquet(*files).select([f"`{name.replace('`', '``')}`" for name in names])
    if len(set(names)) < len(names):
        raise DataError(f"{source.name} has two columns of the same name; rename one of them")
    schema = ", ".join(f"{name} STRING" for name in source.columns)
    style = source.style or CsvStyle()
    table = spark.read.csv(
        files, schema=schema, header=True, sep=style.delimiter, quote='"', escape='"', encoding="UTF-8",
        multiLine=True, mode="FAILFAST",
    )  # fmt: skip
    return table.na.fill("").toDF(*names)  # no cell of text is missing: it is empty


def _escaped(path: Path) -> str:
    """A path as Spark takes it, which reads a pattern in some letters."""
    return "".join(f"\\{letter}" if letter in "{}[]*?\\" else letter for letter in str(path.absolute()))


def _gathered(rows: Path, release: Path, expected: int) -> list[dict[str, Any]]:
    """Spark's files as parts of a release, on the disk; rows that are not there were written somewhere else."""
    release.mkdir()
    files = []
    for k, path in enumerate(sorted(rows.glob("part-*.parquet"))):
        part = release / f"part-{k:05d}.parquet"
        path.rename(part)
        sync(part)
        files.append({"file": part.name, "rows": pq.read_metadata(part).num_rows, "sha256": sha256_of(part)})
    found = sum(each["rows"] for each in files)
    if found != expected:
        raise DataError(
            f"Spark wrote {expected:,} rows, and {found:,} are here: the output must be in a folder that all machines "
            "of the cluster share"
        )
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
