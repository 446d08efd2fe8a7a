"""What the noise costs: how much of the data it changes, and how much worse recommendations get.

``get("PureSVD")`` gives a recommender by name, `RecommendationTest` measures what it loses, `norms` what was changed.
Recommenders and their packages are loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# The function takes the place of the file of the same name, whatever is imported first.
from attriguard.utility.norms import norms

_EXPORTS = {
    "Factors": "attriguard.utility.ranking",
    "ImplicitALS": "attriguard.utility.implicit_als",
    "PureSVD": "attriguard.utility.recommenders",
    "RECOMMENDERS": "attriguard.utility.registry",
    "RecommendationTest": "attriguard.utility.recommendation",
    "Recommender": "attriguard.utility.recommenders",
    "SurpriseSVD": "attriguard.utility.surprise_svd",
    "get": "attriguard.utility.registry",
    "names": "attriguard.utility.registry",
}

__all__ = [*_EXPORTS, "norms"]


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(importlib.import_module(_EXPORTS[name]), name)
    raise AttributeError(f"module 'attriguard.utility' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from attriguard.utility.implicit_als import ImplicitALS as ImplicitALS
    from attriguard.utility.ranking import Factors as Factors
    from attriguard.utility.recommendation import RecommendationTest as RecommendationTest
    from attriguard.utility.recommenders import PureSVD as PureSVD
    from attriguard.utility.recommenders import Recommender as Recommender
    from attriguard.utility.registry import RECOMMENDERS as RECOMMENDERS
    from attriguard.utility.registry import get as get
    from attriguard.utility.registry import names as names
    from attriguard.utility.surprise_svd import SurpriseSVD as SurpriseSVD
