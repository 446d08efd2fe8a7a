"""What every result file says besides its figures."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("attriguard", "numpy", "scipy", "scikit-learn", "numba", "torch", "safetensors")


def versions() -> dict[str, str | None]:
    """The versions of Python and of the packages that a result depends on; None for a package that is not installed."""
    return {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
