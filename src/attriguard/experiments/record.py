"""What every result file says besides its figures, and how long the parts of a run took, over interruptions."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from attriguard.data.files import written_beside

PACKAGES = ("attriguard", "numpy", "scipy", "scikit-learn", "numba", "torch", "safetensors")


def versions() -> dict[str, str | None]:
    """Of Python and of the packages that a result depends on."""
    return {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


class Clock:
    """Seconds a part, summed over all runs that worked in the same folder."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "seconds.json"
        self.seconds: dict[str, float] = json.loads(self.file.read_text()) if self.file.exists() else {}

    @contextmanager
    def timing(self, part: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[part] = self.seconds.get(part, 0.0) + time.perf_counter() - start
            with written_beside(self.file) as file:
                file.write(json.dumps(self.seconds).encode())


def rounded(value: float, digits: int = 4) -> float:
    return round(float(value), digits)


def outcome(name: str, value: float, *, published: float, ceiling: float) -> dict[str, Any]:
    """A figure beside the published one and the most it may be."""
    return {
        "name": name,
        "value": rounded(value),
        "published": published,
        "at_most": rounded(ceiling),
        "reached": bool(value <= ceiling),
    }
