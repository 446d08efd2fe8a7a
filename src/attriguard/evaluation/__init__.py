"""Where attacks and defenses meet: how well an attack does on what a guard releases.

``ag.evaluate`` and ``ag.compare`` do a whole measurement. What stands here is for measurements of your own: with a
plan, attacks or groups of users that you made yourself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attriguard._lazy import lazy_exports

if TYPE_CHECKING:
    from attriguard.evaluation.accuracy import Curve as Curve
    from attriguard.evaluation.cache import Cache as Cache
    from attriguard.evaluation.engine import Releases as Releases
    from attriguard.evaluation.engine import evaluate as evaluate
    from attriguard.evaluation.measure import Measure as Measure
    from attriguard.evaluation.protocol import Groups as Groups
    from attriguard.evaluation.protocol import three_groups as three_groups

# Where each of these names stands; a module is loaded when one of its names is first asked for.
_PLACES = {
    "Cache": "cache",
    "Curve": "accuracy",
    "Groups": "protocol",
    "Measure": "measure",
    "Releases": "engine",
    "evaluate": "engine",
    "three_groups": "protocol",
}

__all__ = ["Cache", "Curve", "Groups", "Measure", "Releases", "evaluate", "three_groups"]

__getattr__, __dir__ = lazy_exports(__name__, _PLACES)
