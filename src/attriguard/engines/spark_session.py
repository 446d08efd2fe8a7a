"""A Spark session for one run, quiet at the terminal; and what Spark says when it stops, in one line."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attriguard.errors as errors
from attriguard.engines.duck import NoSpaceError
from attriguard.engines.spark import load_spark
from attriguard.errors import AttriGuardError, DataError, ParameterError

USUAL_MASTER = "local[*]"
# Times are written as they are read, and a table may have both a column "user" and a column "User". Rows go to Python
# in larger batches than Spark's usual ones. The number of partitions is given, so that Spark need not plan twice.
SETTINGS = {
    "spark.sql.caseSensitive": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    "spark.sql.execution.arrow.maxBytesPerBatch": "2147483647",
    "spark.sql.adaptive.enabled": "false",
}
# For a run that is over soon: Java compiles quickly rather than well, and rows that are read at once are not packed.
SHORT_JAVA = "-XX:TieredStopAtLevel=1"
SHORT = {"spark.shuffle.compress": "false", "spark.shuffle.spill.compress": "false"}
SMALLEST_HEAP = 512 * 10**6
LOOK_SECONDS = 0.3
GROUP = "attriguard"


@contextmanager
def session(master: str | None, memory: int, work: Path, short: bool = False) -> Iterator[Any]:
    """A session with settings of its own: in the Spark that runs already, or in one that ends with it.

    ``memory`` is for a local master; a cluster's is its own matter. What does not fit goes into the folder ``work``.
    ``short``: the run is over soon.
    """
    spark = load_spark()
    from pyspark import SparkContext

    running = SparkContext._active_spark_context
    if running is not None and master not in (None, running.master):
        raise ParameterError(f"this process uses Spark at {running.master} already; stop it first, or name no master")
    found = (
        spark.SparkSession.builder.getOrCreate() if running else _started(master or USUAL_MASTER, memory, work, short)
    )
    try:
        own = found.newSession()
        for name, value in SETTINGS.items():
            own.conf.set(name, value)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
            yield own
    except Exception as error:
        raise one_line(error) from error
    finally:
        if running is None:
            found.stop()
            end_java(SparkContext)


def _started(given: str | None, memory: int, work: Path, short: bool) -> Any:
    master = given or USUAL_MASTER
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "FATAL"}
    if master.startswith("local"):
        # Half for Java, half for Python's workers; nothing listens but on this machine.
        heap = max(SMALLEST_HEAP, memory // 2) // 10**6
        settings |= {"spark.driver.memory": f"{heap}m", "spark.local.dir": str(work.absolute())}
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        java = f"-XX:+UseParallelGC {SHORT_JAVA if short else ''}"  # a run wants to end, not to answer at once
        settings |= {"spark.driver.extraJavaOptions": java.strip()} | (SHORT if short else {})
    builder = load_spark().SparkSession.builder.master(master).appName("attriguard")
    try:
        with _errors_into(work / "spark.log"):
            return builder.config(map=settings).getOrCreate()
    except Exception as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise DataError(f"Spark cannot be started at {master}: {said[0]}") from error


def end_java(context: Any) -> None:
    """Java goes, too, when ``SparkContext`` has stopped: it would keep the folder of this run for all others."""
    gateway = context._gateway
    gateway.shutdown()
    if process := getattr(gateway, "proc", None):
        process.stdin.close()
        process.wait()
    context._gateway = context._jvm = None


@contextmanager
def _errors_into(path: Path) -> Iterator[None]:
    """What Java says at its start goes into a file, not over the progress bar."""
    sys.stderr.flush()
    kept = os.dup(2)
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.dup2(number, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(number)


def watched(context: Any, work: Callable[[], None], tell: Callable[[], None]) -> None:
    """Do the work in a thread, and tell now and then where it stands; an interrupt cancels it."""

    def job() -> None:
        context.setJobGroup(GROUP, "attriguard", interruptOnCancel=True)
        work()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(job)
        try:
            while True:
                try:
                    running.result(timeout=LOOK_SECONDS)
                    return
                except NotYet:
                    if running.done():
                        raise
                    tell()
        except KeyboardInterrupt:
            context.cancelJobGroup(GROUP)
            raise


def one_line(error: BaseException) -> AttriGuardError:
    """What stopped Spark. An error of ours comes out of a worker's traceback as it was."""
    if isinstance(error, AttriGuardError):
        return error
    text = str(error)
    if own := re.findall(r"^attriguard\.[\w.]*?(\w+Error): (.+)$", text, re.MULTILINE):
        name, message = own[-1]
        return getattr(errors, name, DataError)(message)
    if "No space left" in text:
        return NoSpaceError("there is no space left on a disk of Spark's; make space, and give the same command again")
    if "MALFORMED" in text:  # Spark quotes the row, which may hold a private value
        return DataError("a row of the CSV files has another number of fields than the header; mend it")
    if "No module named 'attriguard'" in text:
        return DataError(
            "the cluster's Python has no attriguard: install it on every machine, or say with PYSPARK_PYTHON which "
            "Python has it"
        )
    said = text.strip().splitlines() or [type(error).__name__]
    return DataError(f"Spark stopped: {said[0]}")
