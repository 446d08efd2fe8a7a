"""Defenses against attribute inference: AttriGuard's rivals, and AttriGuard behind the same base class.

``get("BlurMe")`` gives a defense by its name; a new one is one class in one file, and one line here.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable
from typing import Any

from attriguard._checks import check_choice
from attriguard.defenses.base import Defense

DEFENSES: dict[str, tuple[str, str]] = {
    "AttriGuard": ("attriguard.defenses.guarded", "Guarded"),
    "BlurMe": ("attriguard.defenses.blurme", "BlurMe"),
    "ChiSquare": ("attriguard.defenses.chisquare", "ChiSquare"),
    "QPM": ("attriguard.defenses.qpm", "QPM"),
    "LDP-SH": ("attriguard.defenses.ldp", "SuccinctHistogram"),
    "random-additions": ("attriguard.defenses.references", "RandomAdditions"),
    "random-deletions": ("attriguard.defenses.references", "RandomDeletions"),
    "telling-deletions": ("attriguard.defenses.references", "TellingDeletions"),
    "game-theoretic": ("attriguard.defenses.optimum", "GameTheoretic"),
}
# These refuse data of more than a few items.
FOR_FEW_ITEMS = ("game-theoretic",)


def get(name: str, **options: Any) -> Defense:
    """A new, unfitted defense."""
    return class_of(name)(**options)


def class_of(name: str) -> type[Defense]:
    module, cls = DEFENSES[check_choice(name, DEFENSES, name="defense")]
    return getattr(importlib.import_module(module), cls)


def names() -> list[str]:
    """Those that take data of any size."""
    return [name for name in DEFENSES if name not in FOR_FEW_ITEMS]


def lineup(wanted: Iterable[str], **options: Any) -> list[Defense]:
    """Several defenses by name; each takes those of the options (scale, random_state, classifier …) that it knows."""
    defenses = []
    for name in wanted:
        known = inspect.signature(class_of(name)).parameters
        defenses.append(get(name, **{key: value for key, value in options.items() if key in known}))
    return defenses


__all__ = ["DEFENSES", "Defense", "class_of", "get", "lineup", "names"]
