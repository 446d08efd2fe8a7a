"""Spark brings users together: a DataFrame of ratings in, the protected DataFrame out, for `attriguard.spark.protect`.

The rows are divided by user and sorted, and each partition goes through the core of `protect_batches`. What one
partition does not show is settled in the driver, by the same sample as in the embedded engine.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import pyarrow as pa

from attriguard._checks import check_count
from attriguard.data.tables.columns import Roles
from attriguard.data.tables.csv_text import CsvStyle
from attriguard.data.tables.table import InputTable
from attriguard.engines import buckets
from attriguard.engines.ledgers import entry_of, memory_record, noted_pieces, pieces_of
from attriguard.engines.release import HEAD_ROWS, asked_wishes, guard_bytes, looked_at
from attriguard.engines.sources import Source, refuse_unknown
from attriguard.engines.spark_worker import Package, bucket_task, package_of, task_of, writing_task
from attriguard.errors import DataError, MissingExtraError, ParameterError
from attriguard.operations.protector import Protector
from attriguard.operations.ready import GuardLike, protector_for

NO_SPARK = "Spark needs the extra 'spark' and Java 17: pip install 'attriguard[spark]', and on Debian: "
NO_SPARK += "apt-get install default-jre-headless"
NO_JAVA = "Spark needs Java 17 or newer, and there is none; on Debian: apt-get install default-jre-headless"
# Folders of a ledger for what DataFrames tell that are not entered yet.
RUN = ".attriguard-run-"
# The blanks around an id of a CSV file that do not count.
BLANKS = " \t\n\v\f\r\x85\xa0"


def load_spark() -> Any:
    """The module pyspark.sql; where it or Java is missing, the error names what to install."""
    try:
        import pyspark.sql
    except ImportError as error:
        raise MissingExtraError(NO_SPARK) from error
    home = os.environ.get("JAVA_HOME")
    if not (shutil.which("java") or (home and shutil.which("java", path=str(Path(home) / "bin")))):
        raise MissingExtraError(NO_JAVA)
    return pyspark.sql


def protect_frame(df: Any, guard: GuardLike, *, partitions: int | None = None, **options: Any) -> Any:
    """A protected DataFrame; see `attriguard.spark.protect`."""
    sql = load_spark()
    if not isinstance(df, sql.DataFrame):
        raise DataError(f"a Spark DataFrame was expected, got a {type(df).__name__}; make one with spark.read")
    wishes = asked_wishes(options)
    n = None if partitions is None else check_count(partitions, name="partitions")
    frame = Frame.of(df, protector_for(guard, wishes, options).for_blocks())
    memory = frame.protector.memory
    pieces = None if memory is None else pieces_of(memory.ledger.folder / f"{RUN}{secrets.token_hex(8)}")
    protected = frame.protected(frame.package(guard_bytes(guard), options, pieces=pieces), n)
    if pieces is not None:
        _PLANNED[protected] = Planned(frame.protector, pieces, frame.count(n))
    return protected


class Planned(NamedTuple):
    """A DataFrame that is protected with a ledger, and not entered yet."""

    protector: Protector
    pieces: Path
    n: int

    def enter(self) -> None:
        """Enter what the partitions have told; what other DataFrames told that were never entered is void by then."""
        entry = entry_of(self.protector, noted_pieces(self.pieces, self.n), self.pieces)
        if entry is not None:
            entry.write(lambda _: None)
        for left in self.pieces.parent.parent.glob(f"{RUN}*"):
            shutil.rmtree(left, ignore_errors=True)


def enter_frame(protected: Any) -> None:
    """Enter a DataFrame into its ledger; see `attriguard.spark.enter`."""
    planned = _PLANNED.pop(protected, None)
    if planned is None:
        raise ParameterError("this DataFrame has no ledger, or was entered already: name the ledger when you protect")
    planned.enter()


_PLANNED: WeakKeyDictionary[Any, Planned] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Frame:
    """A DataFrame of ratings, whose columns are known."""

    df: Any
    protector: Protector
    source: Source
    roles: Roles
    head: pa.Table

    @classmethod
    def of(
        cls,
        df: Any,
        protector: Protector,
        name: str = "the DataFrame",
        style: CsvStyle | None = None,
        head: pa.Table | None = None,
    ) -> Frame:
        """Look at the first rows, which tell most mistakes; ``style`` says that the cells are those of a CSV file.

        ``head`` are such rows, where they are known already.
        """
        if len(set(df.columns)) < len(df.columns):
            raise DataError(f"{name} has two columns of the same name; rename one of them")
        if head is None:
            head = df.limit(HEAD_ROWS).toArrow()
        if not head.num_rows:
            raise DataError(f"{name} has no rows; at least one was expected")
        refuse_unknown(head.schema)
        source = Source(name, "spark" if style is None else "text", (), head.schema, style=style)
        return cls(df, protector, source, looked_at(protector, InputTable(head, name, style)), head)

    def sample(self, rows: int | None = None) -> tuple[pa.Table, pa.Table | None]:
        """Rows of some users, and one of each item, as `Buckets` takes them; the first row will do for a plain table.

        ``rows`` is how many there are, or about how many; by default they are counted.
        """
        from pyspark.sql import functions as sql

        if self.plain:
            return self.head.slice(0, 1), None
        share = min(1.0, buckets.SAMPLE_ROWS / max(1, self.df.count() if rows is None else rows))
        if share == 1.0:
            return self._sorted(self.df.toArrow()), None
        digits = sql.md5(self._id(self.roles.user).cast("string"))
        # The second half of the digest from its last byte on, which is the number that DuckDB reads in it.
        word = sql.concat(*(sql.substring(digits, k, 2) for k in range(31, 16, -2)))
        some = self.df.where(word < f"{int(share * 2**64):016x}").toArrow()
        one = sql.min(sql.struct(word.alias("word"), sql.struct(*self._cells).alias("row"))).alias("one")
        items = self.df.groupBy(self._id(self.roles.item)).agg(one).select("one.row.*").toArrow()
        return self._sorted(some), items

    def package(
        self, guard: bytes, options: Mapping[str, Any], rows: int | None = None, pieces: Path | None = None
    ) -> Package:
        """All that workers need: the guard's bytes, the wishes, and what `sample` found.

        ``pieces`` is the folder for what they tell the ledger, if there is one.
        """
        memory, ledger = self.protector.memory, None
        if memory is not None:
            ledger = (memory_record(memory) or {}) | {"pieces": str(pieces), "key": memory.ledger.key.hex()}
        about = {"order": self._order if self.plain else [], "ledger": ledger}
        return package_of(self.source, guard, self.protector.wishes, options, self.sample(rows), about)

    @property
    def plain(self) -> bool:
        """Whether there are no columns besides users, items and ratings, and no text of a CSV file.

        Spark then sorts by user alone, which takes it a third of the time, and workers do the rest.
        """
        return self.source.style is None and len(self.source.schema) == sum(role is not None for role in self.roles)

    def protected(self, package: Package, n: int | None) -> Any:
        """The rows of each user brought together, and every partition through the core."""
        sent = self._broadcast(package)
        return self._together(sent, n).mapInArrow(task_of(_name_of(package), sent), self._schema)

    def written(self, package: Package, n: int, facts: Any, folder: Path) -> Any:
        """The same, but every partition becomes a file in a folder; what comes back are the files."""
        kind = pa.schema([self.head.schema.field(each.name) for each in self._schema])
        sent = self._broadcast(package)
        task = writing_task(_name_of(package), sent, facts, str(folder), kind.serialize().to_pybytes())
        return self._together(sent, n).mapInArrow(task, "file string, rows long, sha256 string")

    def _together(self, package: Any, n: int | None) -> Any:
        """The rows divided by user, and sorted."""
        user = self._id(self.roles.user)
        if self.protector.memory is not None:
            divided = self._divided_as_the_ledger(package, self.count(n))
        else:
            divided = self.df.repartition(user) if n is None else self.df.repartition(n, user)
        cells = [] if self.plain else [self.df[_quoted(name)] for name in self._order]
        return divided.sortWithinPartitions(*cells if cells and self.source.style is None else (user, *cells))

    def count(self, n: int | None) -> int:
        """How many partitions there are: as many as were asked for, or as Spark's own settings say."""
        return n or int(self.df.sparkSession.conf.get("spark.sql.shuffle.partitions"))

    def _divided_as_the_ledger(self, package: Any, n: int) -> Any:
        """A partition is a bucket of users, as in the embedded engine. The secret of the hashes is in no plan."""
        from pyspark.sql import functions

        if not hasattr(self.df, "repartitionById"):
            raise ParameterError("a ledger on Spark needs pyspark 4.1 or newer: pip install -U pyspark")
        sql: Any = functions  # this name is loaded when it is asked for
        bucket = sql.arrow_udf(bucket_task(package, n), "int")
        return self.df.repartitionById(n, bucket(self._text(self.roles.user)))

    @property
    def _schema(self) -> Any:
        """That of the table; other columns may be empty in new rows."""
        from pyspark.sql.types import StructField, StructType

        return StructType(
            [
                StructField(each.name, each.dataType, each.nullable or k not in self.roles)
                for k, each in enumerate(self.df.schema)
                if each.name not in self.protector.wishes.drop_columns
            ]
        )

    def _broadcast(self, package: Package) -> Any:
        """The package, sent once to each machine."""
        try:
            context = self.df.sparkSession.sparkContext
        except Exception as error:
            if "CONNECT" not in str(error).upper():
                raise
            raise ParameterError(
                "Spark Connect has no broadcasts, by which the guard travels; use a session on the cluster itself"
            ) from None
        return context.broadcast(tuple(package))

    @property
    def _cells(self) -> list[Any]:
        return [self.df[_quoted(name)] for name in self.df.columns]

    def _id(self, column: int) -> Any:
        """A column of ids; equal ids are equal there, too."""
        from pyspark.sql import functions as sql

        cells = self._cells[column]
        return cells if self.source.style is None else sql.btrim(cells, sql.lit(BLANKS))

    def _text(self, column: int) -> Any:
        """A column of ids as text, in which 7 and 7.0 are the same."""
        kind, cells = self.source.schema.field(column).type, self._id(column)
        whole = pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        return (cells.cast("bigint") if whole else cells).cast("string")

    @property
    def _order(self) -> list[str]:
        """By user and item, then by all cells, as the embedded engine sorts them: nothing depends on how they came."""
        first = [self.df.columns[self.roles.user], self.df.columns[self.roles.item]]
        return [*first, *(name for name in self.df.columns if name not in first)]

    def _sorted(self, rows: pa.Table) -> pa.Table:
        return rows.sort_by([(name, "ascending") for name in self._order])


def _name_of(package: Package) -> str:
    """By which a worker knows a package again."""
    return hashlib.sha256(b"".join(hashlib.sha256(each).digest() for each in package)).hexdigest()


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
