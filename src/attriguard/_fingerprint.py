"""A name for content: the same data, options and version give the same name, anything else another one.

Arrays count by their bytes, dataclasses by their fields, fitted objects of this package by what they have learnt. An
object whose class has a ``revision`` (an attack, a defense) counts by its class, its revision and its options.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse

from attriguard._registry import options_of
from attriguard._version import __version__

# Attributes that are no part of the content, by class. `random_state` only seeds the guard's draws: it does not change
# what a guard that is fitted finds.
LEFT_OUT = {"AttriGuard": ("random_state",)}


class UnnameableError(Exception):
    """The content depends on unseeded chance, or cannot be read."""


def fingerprint(*parts: Any) -> str | None:
    """A name for the content of all parts; None where it depends on unseeded chance or cannot be read.

    The version of this package is a part of every name.
    """
    digest = hashlib.blake2b(__version__.encode(), digest_size=16)
    try:
        for part in parts:
            _add(digest, part)
    except UnnameableError:
        return None
    return digest.hexdigest()


def _add(digest: Any, part: Any) -> None:
    if isinstance(part, (bool, int, float, str, bytes, type(None), np.generic)):
        digest.update(f"{type(part).__name__}:{part!r};".encode())
    elif isinstance(part, np.ndarray):
        digest.update(f"{part.dtype.str}{part.shape};".encode())
        if part.dtype.hasobject:
            digest.update(json.dumps(part.tolist(), default=str).encode())
        else:
            digest.update(np.ascontiguousarray(part).view(np.uint8).data if part.size else b"")
    elif issparse(part):
        _add(digest, ("csr", part.shape, part.indptr.astype(np.int64), part.indices.astype(np.int64), part.data))
    elif isinstance(part, Mapping):
        for name in sorted(part, key=str):
            _add(digest, (str(name), part[name]))
    elif isinstance(part, (list, tuple, range)):
        digest.update(f"{len(part)} of ".encode())
        for each in part:
            _add(digest, each)
    else:
        _add_object(digest, part)


def _add_object(digest: Any, part: Any) -> None:
    cls = type(part)
    digest.update(f"{cls.__module__}.{cls.__name__};".encode())
    if hasattr(cls, "revision") and hasattr(part, "get_params"):
        _add_by_options(digest, part)
    elif hasattr(part, "state_dict"):  # a torch module
        _add(digest, {key: tensor.numpy() for key, tensor in part.state_dict().items()})
    elif dataclasses.is_dataclass(part) and not isinstance(part, type):
        _add(digest, {field.name: getattr(part, field.name) for field in dataclasses.fields(part)})
    elif cls.__module__.startswith(("attriguard.", "sklearn.")):
        left_out = LEFT_OUT.get(cls.__name__, ())
        _add(digest, {key: v for key, v in vars(part).items() if not key.startswith("_") and key not in left_out})
    else:
        raise UnnameableError


def _add_by_options(digest: Any, part: Any) -> None:
    """An attack or a defense: what it was made with, and what a defense has learnt from."""
    options = {name: getattr(part, name) for name in options_of(type(part))}
    if "random_state" in options and not isinstance(options["random_state"], (int, np.integer)):
        raise UnnameableError
    _add(digest, (type(part).revision, options))
    if hasattr(part, "release_for"):
        _add(digest, getattr(part, "learnt_from_", None))
