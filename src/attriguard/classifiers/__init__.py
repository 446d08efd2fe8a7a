"""What either side can learn: classifiers of the private attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attriguard._lazy import lazy_exports

if TYPE_CHECKING:
    from attriguard.classifiers.base import Classifier as Classifier
    from attriguard.classifiers.ensemble import Ensemble as Ensemble
    from attriguard.classifiers.factory import CLASSIFIER_KINDS as CLASSIFIER_KINDS
    from attriguard.classifiers.linear import LinearClassifier as LinearClassifier
    from attriguard.classifiers.network import NetworkClassifier as NetworkClassifier
    from attriguard.classifiers.outputs import Outputs as Outputs
    from attriguard.classifiers.outputs import Point as Point

# Where each of these names stands; a module is loaded when one of its names is first asked for.
_PLACES = {
    "CLASSIFIER_KINDS": "factory",
    "Classifier": "base",
    "Ensemble": "ensemble",
    "LinearClassifier": "linear",
    "NetworkClassifier": "network",
    "Outputs": "outputs",
    "Point": "outputs",
}

__all__ = ["CLASSIFIER_KINDS", "Classifier", "Ensemble", "LinearClassifier", "NetworkClassifier", "Outputs", "Point"]

__getattr__, __dir__ = lazy_exports(__name__, _PLACES)
