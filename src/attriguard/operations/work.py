"""Where long operations keep what they have learnt, and what must hold before anything is written."""

from __future__ import annotations

import os

from attriguard.data.named.datasets import cache_folder
from attriguard.evaluation.cache import Cache

EVALUATIONS = "evaluate"  # below the user's cache


def open_cache(work: str | os.PathLike[str] | None) -> Cache:
    """A working folder that keeps everything, or the user's cache, where networks do not stay."""
    return Cache(cache_folder() / EVALUATIONS) if work is None else Cache(work, keep_networks=True)
