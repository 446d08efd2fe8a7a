"""What is loaded on first use, or not at all: importing the package costs nothing."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazy_exports(
    package: str, places: Mapping[str, str], *others: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package.

    ``places`` says where each name stands below the package: "file", or "file:name" where it has another name there; an
    empty place is a subpackage. ``others`` are names that the package has anyway.
    """

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        place, _, attribute = places[name].partition(":")
        module = importlib.import_module(f"{package}.{place or name}")
        return getattr(module, attribute or name) if place else module

    def names() -> list[str]:
        return sorted([*places, *others])

    return find, names


def leave_pandas_out() -> None:
    """Have pyarrow look for pandas now, in vain: it would load it with its first array, which takes a second.

    For processes that do nothing but protect a table in parts. Others may still import pandas.
    """
    import pyarrow

    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pyarrow.scalar(0)
    finally:
        sys.meta_path.remove(finder)


class _NoPandas:
    """Finds every module but pandas where the others look for it."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Ask the others; for pandas an error, which pyarrow takes as its answer."""
        if name == "pandas":
            raise ImportError(name)
