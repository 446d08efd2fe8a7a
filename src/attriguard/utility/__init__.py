"""What the noise costs: how much of the data it changes, and how much worse recommendations get.

``get("PureSVD")`` gives a recommender by name, `RecommendationTest` measures what it loses, `norms` what was changed.
Recommenders and their packages are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attriguard._lazy import lazy_exports

# The function takes the place of the file of the same name, whatever is imported first.
from attriguard.utility.norms import norms

_EXPORTS = {
    "Factors": "ranking",
    "ImplicitALS": "implicit_als",
    "PureSVD": "recommenders",
    "RECOMMENDERS": "registry",
    "RecommendationTest": "recommendation",
    "Recommender": "recommenders",
    "SurpriseSVD": "surprise_svd",
    "get": "registry",
    "names": "registry",
}

__all__ = [*_EXPORTS, "norms"]
__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS, "norms")


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
