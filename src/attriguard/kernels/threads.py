"""Run a kernel over ranges of users on all cores.

The kernels release the interpreter's lock, so plain threads run in parallel. Users are independent of each other, so
the result is the same for any number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")

# Users in one call of a kernel: enough for the call itself to cost little, few enough to keep buffers small.
CHUNK = 16_384
# The least number of chunks per thread, so that no thread waits long for the slowest.
CHUNKS_A_THREAD = 4


def n_threads() -> int:
    """The number of cores that this process may use, or what ``ATTRIGUARD_THREADS`` says."""
    asked = os.environ.get("ATTRIGUARD_THREADS")
    if asked:
        from attriguard._checks import check_count

        return check_count(asked, name="ATTRIGUARD_THREADS")
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def over_users(
    n_users: int,
    work: Callable[[int, int], Result],
    *,
    smallest: int = 64,
    count: Callable[[int], None] | None = None,
) -> list[Result]:
    """Call ``work(start, stop)`` for consecutive ranges that cover all users; the results come in order.

    ``count`` is told how many more users are done, range after range.
    """
    threads = n_threads()
    size = max(smallest, min(CHUNK, -(-n_users // (threads * CHUNKS_A_THREAD))))
    starts = range(0, n_users, size)
    stops = [min(start + size, n_users) for start in starts]
    if threads == 1 or len(stops) <= 1:
        return _collected(map(work, starts, stops), starts, stops, count)
    with ThreadPoolExecutor(threads) as pool:
        return _collected(pool.map(work, starts, stops), starts, stops, count)


def _collected(
    results: Iterator[Result], starts: Iterable[int], stops: Iterable[int], count: Callable[[int], None] | None
) -> list[Result]:
    found = []
    for result, start, stop in zip(results, starts, stops, strict=True):
        found.append(result)
        if count is not None:
            count(stop - start)
    return found
