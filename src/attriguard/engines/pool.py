"""Buckets through workers: this process and one for each further core; for few buckets threads, which start at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from itertools import islice
from queue import SimpleQueue
from typing import Any

from attriguard.engines.duck import NoSpaceError
from attriguard.engines.maker import Maker
from attriguard.engines.memory import keep_freed_memory
from attriguard.engines.worker import is_full
from attriguard.errors import DataError

Facts = dict[str, Any]
# A process starts in about the time of this many buckets. Threads need no start, but half of their work is Python's.
START = 12


class WorkerError(DataError):
    """A worker process that ended before its work."""


def takes_processes(parts: int, workers: int) -> bool:
    """Whether so many parts are worth the start of processes."""
    return parts > START * workers


@contextmanager
def started(n: int) -> Iterator[list[Worker]]:
    """Processes that load what they need, and wait for a job."""
    with ExitStack() as stack:
        yield [stack.enter_context(_started()) for _ in range(n)]


def made_parts(
    job: Mapping[str, Any], todo: Sequence[int], workers: int, waiting: Sequence[Worker] = ()
) -> Iterator[tuple[int, Facts]]:
    """Make parts, and give each one's number and facts when it is written; ``waiting`` are processes without a job.

    This process makes parts as well: few of them in threads, many beside processes, one for each further core.
    """
    if not todo:
        return
    with _full_disk_told(), ExitStack() as stack:
        pool = ThreadPoolExecutor(workers)
        stack.callback(pool.shutdown, cancel_futures=True)  # called when new processes have ended
        others: list[Worker] = []
        if takes_processes(len(todo), workers):
            new = stack.enter_context(started(workers - 1 - len(waiting)))
            others = [*waiting, *new]
        for worker in others:
            worker.tell(job)
        keep_freed_memory()
        makers: list[Maker | Worker] = [*others, *[Maker.of(job)] * (workers - len(others))]
        free = SimpleQueue[Maker | Worker]()
        for each in makers:
            free.put(each)

        def make(k: int) -> tuple[int, Facts]:
            maker = free.get()
            try:
                return k, maker.make(k)
            finally:
                free.put(maker)

        yield from _as_done(pool, make, todo, workers)


@contextmanager
def _full_disk_told() -> Iterator[None]:
    """An error of this process's own that comes from a disk without space, as workers tell it."""
    try:
        yield
    except DataError as error:
        raise NoSpaceError("there is no space left on the disk") if is_full(error) else error from None


def _as_done(
    pool: ThreadPoolExecutor, make: Callable[[int], tuple[int, Facts]], todo: Sequence[int], workers: int
) -> Iterator[tuple[int, Facts]]:
    left = iter(todo)
    waiting = {pool.submit(make, k) for k in islice(left, workers)}
    while waiting:
        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        for each in done:
            found = each.result()  # after a mistake, nothing new is begun
            waiting |= {pool.submit(make, k) for k in islice(left, 1)}
            yield found


class Worker:
    """A process that makes parts."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def tell(self, message: Any) -> None:
        """One line to the process."""
        assert self.process.stdin is not None
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
    try:
        yield Worker(process)
    except BaseException:
        process.kill()
        raise
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        try:
            process.stdin.close()
        except OSError:
            process.kill()
        process.wait()
