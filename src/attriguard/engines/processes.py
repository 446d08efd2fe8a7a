"""The processes that make parts beside this one. Loads nothing heavy: they load while this one does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from attriguard.engines.duck import NoSpaceError
from attriguard.engines.places import bytes_of
from attriguard.errors import DataError

Facts = dict[str, Any]
# A process starts in about the time of this many buckets. Threads need no start, but half of their work is Python's.
START = 12
# About what so many buckets take in a Parquet file.
START_BYTES = 16 * 2**20
# What a process takes that has loaded what it needs, and has no rows yet.
LOADED_BYTES = 150 * 10**6
# One part in so many of the memory is for what is there beside DuckDB: its writers, this process, and the others.
BESIDE = 4


class WorkerError(DataError):
    """A worker process that ended before its work."""


def takes_processes(parts: int, workers: int) -> bool:
    """Whether so many parts are worth the start of processes."""
    return parts > START * workers


def early(ratings: str | os.PathLike[str], memory: int, workers: int) -> int:
    """How many processes to start before it is known how many parts a table has: all others, or none."""
    roomy = memory // BESIDE >= workers * LOADED_BYTES
    return workers - 1 if roomy and bytes_of(ratings) > workers * START_BYTES else 0


@contextmanager
def started(n: int) -> Iterator[list[Worker]]:
    """Processes that load what they need, and wait for a job."""
    with ExitStack() as stack:
        yield [stack.enter_context(_started()) for _ in range(n)]


class Worker:
    """A process that makes parts."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.idle = True  # nothing was asked of it so far

    def tell(self, message: Any) -> None:
        """One line to the process."""
        assert self.process.stdin is not None
        self.idle = False
        try:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
        except OSError as error:
            raise self.gone() from error

    def make(self, k: int) -> Facts:
        """Have a part made."""
        self.tell(k)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise self.gone()
        found: Facts = json.loads(line)
        if "error" in found:
            raise NoSpaceError("there is no space left on the disk") if found["no_space"] else DataError(found["error"])
        return found

    def gone(self) -> DataError:
        """What is said of a process that has ended before its work."""
        code = self.process.wait()
        how = f"was killed (signal {-code})" if code < 0 else f"ended (code {code})"
        return WorkerError(f"a worker process {how}; if the memory was too small, give less with --memory")


@contextmanager
def _started() -> Iterator[Worker]:
    one = {"ATTRIGUARD_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "attriguard.engines.worker"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", env={**os.environ, **one},
    )  # fmt: skip
    worker = Worker(process)
    try:
        yield worker
    except BaseException:
        process.kill()
        raise
    finally:
        if worker.idle:
            process.kill()  # it may still be loading; nobody waits for that
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        try:
            process.stdin.close()
        except OSError:
            process.kill()
        process.wait()
