"""Run a kernel over ranges of users on all cores.

The kernels release the interpreter's lock, so plain threads run in parallel. Users are independent of each other, so
the result is the same for any number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from attriguard._checks import check_count

Result = TypeVar("Result")

# Users in one call of a kernel: enough for the call itself to cost little, few enough to keep buffers small.
CHUNK = 16_384
# The least number of chunks per thread, so that no thread waits long for the slowest.
CHUNKS_A_THREAD = 4


def n_threads() -> int:
    """The number of cores that this process may use, or what ``ATTRIGUARD_THREADS`` says."""
    asked = os.environ.get("ATTRIGUARD_THREADS")
    if asked:
        return check_count(asked, name="ATTRIGUARD_THREADS")
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def over_users(n_users: int, work: Callable[[int, int], Result], *, smallest: int = 64) -> Iterator[Result]:
    """Call ``work(start, stop)`` for consecutive ranges that cover all users; the results come in order."""
    threads = n_threads()
    size = max(smallest, min(CHUNK, -(-n_users // (threads * CHUNKS_A_THREAD))))
    ranges = [(start, min(start + size, n_users)) for start in range(0, n_users, size)]
    if threads == 1 or len(ranges) <= 1:
        for start, stop in ranges:
            yield work(start, stop)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(lambda span: work(*span), ranges)
