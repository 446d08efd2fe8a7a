"""Names of a package that are loaded on first use: importing the package costs nothing."""

from __future__ import annotations

import importlib
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
