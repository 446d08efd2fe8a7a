"""Buckets through workers: this process and one for each further core; for few buckets threads, which start at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from itertools import islice
from queue import SimpleQueue
from typing import Any

from attriguard.engines.duck import NoSpaceError
from attriguard.engines.maker import Maker
from attriguard.engines.memory import keep_freed_memory
from attriguard.engines.processes import Facts, Worker, started, takes_processes
from attriguard.engines.worker import is_full
from attriguard.errors import DataError


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
