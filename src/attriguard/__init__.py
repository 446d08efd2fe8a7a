"""attriguard: find out what published ratings give away, and release them so that they give away less.

Everything here is loaded on first use, so that ``import attriguard`` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from attriguard._version import __version__


_EXPORTS = {
    "AttriGuard": "attriguard.guard",
    "NetworkClassifier": "attriguard.classifiers.network",
    "Plan": "attriguard.plan",
    "PublicData": "attriguard.data.public_data",
    "RatingScale": "attriguard.data.scale",
    "load_guard": "attriguard.guard",
    "load_dataset": "attriguard.data.named.datasets",
    "Progress": "attriguard.progress",
    "read_ratings": "attriguard.data.ratings",
    "solve_mechanism": "attriguard.mechanism.solver",
    "write_release": "attriguard.data.releases.release",
}
_MODULES = ("attacks", "defenses", "errors")

__all__ = [*_EXPORTS, *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(importlib.import_module(_EXPORTS[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"attriguard.{name}")
    raise AttributeError(f"module 'attriguard' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from attriguard import attacks as attacks
    from attriguard import defenses as defenses
    from attriguard import errors as errors
    from attriguard.classifiers.network import NetworkClassifier as NetworkClassifier
    from attriguard.data.named.datasets import load_dataset as load_dataset
    from attriguard.data.public_data import PublicData as PublicData
    from attriguard.data.ratings import read_ratings as read_ratings
    from attriguard.data.releases.release import write_release as write_release
    from attriguard.data.scale import RatingScale as RatingScale
    from attriguard.guard import AttriGuard as AttriGuard
    from attriguard.mechanism.solver import solve_mechanism as solve_mechanism
    from attriguard.plan import Plan as Plan
    from attriguard.guard import load_guard as load_guard
