"""The searches by name; a new one is one file and one line here."""

from __future__ import annotations

from typing import Any

from attriguard._registry import Registry
from attriguard.errors import ParameterError
from attriguard.noise.base import NoiseSearch

SEARCHES: Registry[NoiseSearch] = Registry(
    "search",
    "attriguard.noise.base:NoiseSearch",
    {
        "probability": "attriguard.noise.probability:Probability",
        "margin": "attriguard.noise.greedy:Margin",
        "panda": "attriguard.noise.greedy:Panda",
        "exact": "attriguard.noise.exact:Exact",
        "fgsm": "attriguard.noise.fgsm:FGSM",
        "jsma": "attriguard.noise.jsma:JSMA",
        "cw": "attriguard.noise.carlini_wagner:CarliniWagner",
    },
)


def get(name: Any, **options: Any) -> NoiseSearch:
    """A search by its name and options, or the search itself."""
    return name if isinstance(name, NoiseSearch) else SEARCHES.make(name, **options)


def names() -> list[str]:
    """The names of all searches."""
    return list(SEARCHES)


def search_options(search: Any) -> dict[str, Any]:
    """The options of a search that was given as such, for `get`; a search by name has none."""
    if not isinstance(search, NoiseSearch):
        return {}
    if type(search) is not SEARCHES[search.name]:
        raise ParameterError(f"{type(search).__name__} is no search of this package, and cannot be saved with a guard")
    return search.options()
