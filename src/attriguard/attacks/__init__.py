"""Attribute inference attacks: what an attacker can learn from what users publish.

``get("LR-A")`` gives an attack by its name in the paper; a new attack is one class in one file, and one line here.
"""

from __future__ import annotations

import importlib
from typing import Any

from attriguard._checks import check_choice
from attriguard.attacks.base import Attack

ATTACKS = {
    "BA-A": ("attriguard.attacks.baseline", "Baseline"),
    "LR-A": ("attriguard.attacks.logistic", "Logistic"),
    "RF-A": ("attriguard.attacks.forest", "Forest"),
}


def get(name: str, **options: Any) -> Attack:
    """A new, untrained attack."""
    module, cls = ATTACKS[check_choice(name, ATTACKS, name="attack")]
    return getattr(importlib.import_module(module), cls)(**options)


def names() -> list[str]:
    return list(ATTACKS)


__all__ = ["ATTACKS", "Attack", "get", "names"]
