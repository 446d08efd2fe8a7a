"""The searches by name; a new one is one file and one line here."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from attriguard._checks import check_choice
from attriguard.errors import ParameterError
from attriguard.noise.base import NoiseSearch

SEARCHES = {
    "margin": ("attriguard.noise.greedy", "Margin"),
    "panda": ("attriguard.noise.greedy", "Panda"),
    "exact": ("attriguard.noise.exact", "Exact"),
    "fgsm": ("attriguard.noise.fgsm", "FGSM"),
    "jsma": ("attriguard.noise.jsma", "JSMA"),
    "cw": ("attriguard.noise.carlini_wagner", "CarliniWagner"),
}


def get_search(name: Any, **options: Any) -> NoiseSearch:
    """A search by its name and options, or the search itself."""
    if isinstance(name, NoiseSearch):
        return name
    module, cls = SEARCHES[check_choice(name, SEARCHES, name="search")]
    return getattr(importlib.import_module(module), cls)(**options)


def search_options(search: Any) -> dict[str, Any]:
    """The options of a search that was given as such, for `get_search`."""
    if not isinstance(search, NoiseSearch):
        return {}
    if type(search) is not type(get_search(check_choice(search.name, SEARCHES, name="search"))):
        raise ParameterError(f"{type(search).__name__} is no search of this package, and cannot be saved with a guard")
    return {name: getattr(search, name) for name in inspect.signature(type(search)).parameters}
