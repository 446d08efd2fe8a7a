"""The searches by name; a new one is one file and one line here."""

from __future__ import annotations

import importlib
from typing import Any

from attriguard._checks import check_choice
from attriguard.noise.base import NoiseSearch

SEARCHES = {
    "margin": ("attriguard.noise.greedy", "Margin"),
    "panda": ("attriguard.noise.greedy", "Panda"),
    "exact": ("attriguard.noise.exact", "Exact"),
    "fgsm": ("attriguard.noise.fgsm", "FGSM"),
    "jsma": ("attriguard.noise.jsma", "JSMA"),
    "cw": ("attriguard.noise.carlini_wagner", "CarliniWagner"),
}


def get_search(name: Any) -> NoiseSearch:
    """A search by its name, or the search itself (to set its own options: ``Exact(time_limit=5)``)."""
    if isinstance(name, NoiseSearch):
        return name
    module, cls = SEARCHES[check_choice(name, SEARCHES, name="search")]
    return getattr(importlib.import_module(module), cls)()
