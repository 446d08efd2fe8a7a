"""torch, loaded on first use: it comes with the extra `nn`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attriguard.errors import MissingExtraError

if TYPE_CHECKING:
    from types import ModuleType


def load_torch() -> ModuleType:
    """The module torch; where it is not installed, the error names the extra."""
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("networks need the extra 'nn': pip install 'attriguard[nn]'") from error
    return torch
