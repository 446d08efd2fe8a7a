"""The lowest versions that pyproject.toml permits, as pins: for `make test-lowest`."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
TRIED = ("bulk", "recsys", "bench", "spark")
LARGE = ("torch", "pyspark")  # hundreds of megabytes and more
BOUND = re.compile(r"([A-Za-z0-9._-]+)\s*>=\s*([0-9][0-9a-z.]*)")


def pinned(requirements: Iterable[str]) -> list[str]:
    """Each requirement at its lower bound."""
    pins = []
    for requirement in requirements:
        found = BOUND.match(requirement)
        if found is None:
            raise ValueError(f"no lower bound: {requirement}")
        pins.append(f"{found[1]}=={found[2]}")
    return pins


def pins() -> list[str]:
    """What everybody needs, and what extras need, but for what is too large to be tried."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = [each for name in TRIED for each in project["optional-dependencies"][name] if not each.startswith(LARGE)]
    return pinned([*project["dependencies"], *extras])


if __name__ == "__main__":
    sys.stdout.write("\n".join(pins()) + "\n")
