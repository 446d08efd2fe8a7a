"""One figure: what was measured, against what, and the floor it is held to."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A measured value with its unit, and the ``floor`` or ``ceiling`` that it is held to, if any."""

    name: str
    value: float
    unit: str
    floor: float | None = None
    ceiling: float | None = None
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def reached(self) -> bool:
        """Whether the value keeps to its floor and its ceiling."""
        return (self.floor is None or self.value >= self.floor) and (self.ceiling is None or self.value <= self.ceiling)

    def record(self) -> dict[str, Any]:
        """All fields and ``reached``, ready for JSON."""
        return {**asdict(self), "reached": self.reached}


def best_of(work: Callable[[], Any], repeats: int) -> float:
    """The shortest of several runs in seconds: the one that other programs disturbed least."""
    shortest = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest


def peak_gb() -> float:
    """The most memory that this process has had so far, in GB; 0 where the system does not tell (Windows)."""
    try:
        import resource
    except ImportError:
        return 0.0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**30 if sys.platform == "darwin" else 2**20)  # bytes on macOS, kilobytes elsewhere
