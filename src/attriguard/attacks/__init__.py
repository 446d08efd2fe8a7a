"""Attribute inference attacks: what an attacker can learn from what users publish.

``get("LR-A")`` gives an attack by its name in the paper; a new attack is one class in one file, and one line here.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable
from typing import Any

from attriguard._checks import check_choice
from attriguard.attacks.base import Attack

ATTACKS = {
    "BA-A": ("attriguard.attacks.baseline", "Baseline"),
    "LR-A": ("attriguard.attacks.logistic", "Logistic"),
    "RF-A": ("attriguard.attacks.forest", "Forest"),
    "NN-A": ("attriguard.attacks.network", "Network"),
    "AT-A": ("attriguard.attacks.adversarial", "AdversarialTraining"),
    "DD-A": ("attriguard.attacks.distillation", "Distillation"),
    "RC-A": ("attriguard.attacks.region", "RegionBased"),
    "LRA-A": ("attriguard.attacks.lowrank", "LowRank"),
    "MLP-A": ("attriguard.attacks.mlp", "SmallNetwork"),
}


def get(name: str, **options: Any) -> Attack:
    """A new, untrained attack."""
    return class_of(name)(**options)


def class_of(name: str) -> type[Attack]:
    module, cls = ATTACKS[check_choice(name, ATTACKS, name="attack")]
    return getattr(importlib.import_module(module), cls)


def names() -> list[str]:
    return list(ATTACKS)


def lineup(wanted: Iterable[str], **options: Any) -> list[Attack]:
    """Several attacks by name; each takes those of the options (random_state, hidden, guard …) that it knows.

    An option that is None counts as not given. MLP-A keeps its own size: ``hidden`` is for the paper's networks.
    """
    attacks = []
    for name in wanted:
        known = inspect.signature(class_of(name.strip())).parameters
        given = {key: value for key, value in options.items() if key in known and value is not None}
        if name.strip() == "MLP-A":
            given.pop("hidden", None)
        attacks.append(get(name.strip(), **given))
    return attacks


__all__ = ["ATTACKS", "Attack", "class_of", "get", "lineup", "names"]
