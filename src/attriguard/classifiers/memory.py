"""Whether something large fits into memory, asked before it is made."""

from __future__ import annotations

import os
from pathlib import Path

from attriguard.errors import ParameterError

FLOAT32 = 4


def available_bytes() -> int | None:
    """Memory that is free or can be freed at once; None where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


def training_bytes(*, hidden: int, n_items: int, m: int, batch_size: int) -> int:
    """Memory that training takes: the weights, those of the best epoch, and what one batch needs."""
    weights = hidden * (n_items + 1 + m) + m
    return FLOAT32 * (2 * weights + 4 * batch_size * hidden)


def check_fits(needed: int, *, what: str) -> None:
    """Refuse ``what`` where it needs more bytes than there are; a system that does not say is trusted."""
    free = available_bytes()
    if free is not None and needed > free:
        raise ParameterError(
            f"{what} needs {needed / 2**30:,.1f} GB of memory, {free / 2**30:,.1f} GB are free; "
            "ask for fewer hidden units"
        )
