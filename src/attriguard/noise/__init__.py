"""Phase I: for every value of the attribute, the smallest noise that makes the classifier infer it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attriguard._lazy import lazy_exports

if TYPE_CHECKING:
    from attriguard.noise.base import NoiseSearch as NoiseSearch
    from attriguard.noise.base import SearchTask as SearchTask
    from attriguard.noise.carlini_wagner import CarliniWagner as CarliniWagner
    from attriguard.noise.constraints import Constraints as Constraints
    from attriguard.noise.constraints import make_constraints as make_constraints
    from attriguard.noise.costs import COSTS as COSTS
    from attriguard.noise.costs import Cost as Cost
    from attriguard.noise.edits import Edits as Edits
    from attriguard.noise.exact import Exact as Exact
    from attriguard.noise.fgsm import FGSM as FGSM
    from attriguard.noise.greedy import Margin as Margin
    from attriguard.noise.greedy import Panda as Panda
    from attriguard.noise.jsma import JSMA as JSMA
    from attriguard.noise.probability import Probability as Probability
    from attriguard.noise.registry import SEARCHES as SEARCHES
    from attriguard.noise.registry import get as get
    from attriguard.noise.registry import names as names

# Where each of these names stands; a module is loaded when one of its names is first asked for.
_PLACES = {
    "COSTS": "costs:COSTS",
    "FGSM": "fgsm:FGSM",
    "JSMA": "jsma:JSMA",
    "SEARCHES": "registry:SEARCHES",
    "CarliniWagner": "carlini_wagner:CarliniWagner",
    "Constraints": "constraints:Constraints",
    "Cost": "costs:Cost",
    "Edits": "edits:Edits",
    "Exact": "exact:Exact",
    "Margin": "greedy:Margin",
    "NoiseSearch": "base:NoiseSearch",
    "Panda": "greedy:Panda",
    "Probability": "probability:Probability",
    "SearchTask": "base:SearchTask",
    "get": "registry",
    "make_constraints": "constraints:make_constraints",
    "names": "registry",
}

__all__ = list(_PLACES)
__getattr__, __dir__ = lazy_exports(__name__, _PLACES)
