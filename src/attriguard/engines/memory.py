"""The memory of a process that does the same to one block of users after another."""

from __future__ import annotations

import ctypes
from contextlib import suppress

# What glibc calls its settings, and what they are set to: the largest that it takes.
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
KEPT_BYTES, LARGEST_KEPT = 1 << 30, 32 << 20


def keep_freed_memory() -> None:
    """Memory that a block needed is there for the next one.

    The C library gives large arrays back to the system as soon as they are freed, and the system clears every page of
    the next ones: a tenth of the work of a part. Where there is no glibc, nothing is done.
    """
    with suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(TRIM_THRESHOLD, KEPT_BYTES)
        library.mallopt(MMAP_THRESHOLD, LARGEST_KEPT)
