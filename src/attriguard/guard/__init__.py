"""A guard: what it learns and how it plans; `AttriGuard` is the scikit-learn estimator, loaded on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attriguard._lazy import lazy_exports

if TYPE_CHECKING:
    from attriguard.guard.core import Guard as Guard
    from attriguard.guard.estimator import AttriGuard as AttriGuard
    from attriguard.guard.estimator import load_guard as load_guard

__getattr__, __dir__ = lazy_exports(__name__, {"Guard": "core", "AttriGuard": "estimator", "load_guard": "estimator"})
