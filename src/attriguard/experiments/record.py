"""What every result file says besides its figures, and how figures and their intervals are written."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import numpy as np

PACKAGES = ("attriguard", "numpy", "scipy", "scikit-learn", "numba", "torch", "safetensors")


def versions() -> dict[str, str | None]:
    """Of Python and of the packages that a result depends on."""
    return {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def rounded(value: float, digits: int = 4) -> float:
    return round(float(value), digits)


def interval(figures: np.ndarray) -> np.ndarray:
    """Half the width of Student's 95 % interval of the mean over rows; 0 for a single one."""
    from scipy.stats import t

    n = figures.shape[0]
    if n < 2:
        return np.zeros(figures.shape[1])
    return np.asarray(t.ppf(0.975, n - 1) * figures.std(axis=0, ddof=1) / np.sqrt(n))
