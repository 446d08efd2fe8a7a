"""Where long operations keep what they have learnt, and what must hold before anything is written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from attriguard.data.named.datasets import cache_folder
from attriguard.evaluation.cache import Cache

EVALUATIONS = "evaluate"  # below the user's cache


@contextmanager
def open_cache(work: str | os.PathLike[str] | None) -> Iterator[Cache]:
    """A working folder that keeps everything, for one run at a time; or the user's cache, where networks do not stay.

    Several runs may use the user's cache at once: its files are named by their content, and its networks are locked.
    """
    if work is None:
        yield Cache(cache_folder() / EVALUATIONS)
        return
    with Cache(work, keep_networks=True).alone() as cache:
        yield cache
