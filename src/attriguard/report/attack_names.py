"""What pages say about an attack that is known by its name only."""

from __future__ import annotations

from typing import Any

from attriguard.attacks import class_of
from attriguard.errors import ParameterError


def plain_name(attack: str) -> str:
    """What the attacker uses, for readers who do not know the paper; the name itself where nothing else is known."""
    cls = _class_of(attack)
    return attack if cls is None else getattr(cls, "plain_name", cls.summary) or attack


def is_baseline(attack: str) -> bool:
    """Does the attack guess without looking at the data?"""
    return bool(getattr(_class_of(attack), "is_baseline", attack == "BA-A"))


def _class_of(attack: str) -> Any:
    """The attack's class; None for a name that no registry has, such as "LR-A retrained"."""
    try:
        return class_of(attack)
    except ParameterError:
        return None
