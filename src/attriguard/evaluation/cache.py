"""What attacks have predicted, kept by content: same data, same attack, same guard, same version, same file.

Nothing is trained twice, and a run that was killed goes on where it stood. Files hold small arrays (safetensors), never
code; a damaged one counts as missing.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from attriguard import __version__
from attriguard.attacks.base import Attack
from attriguard.attacks.detector import Detector
from attriguard.data.files import written_beside
from attriguard.defenses.base import Defense
from attriguard.errors import DataError

PREDICTIONS, NETWORKS = "predictions", "networks"
# What seeds a guard's own draws has no part in what an attack predicts.
WITHOUT = {"AttriGuard": ("random_state",)}


class UncacheableError(Exception):
    """Chance without a seed, or something whose content cannot be told."""


class Cache:
    """A folder of predictions and, while attacks learn, of checkpoints of their networks.

    Checkpoints of the paper's networks take gigabytes; they are removed at the end unless ``keep_networks``.
    """

    def __init__(self, folder: str | os.PathLike[str], *, keep_networks: bool = False) -> None:
        self.folder = Path(folder)
        self.keep_networks = keep_networks
        try:
            for part in (PREDICTIONS, NETWORKS):
                (self.folder / part).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"{self.folder} cannot be used as a working folder: {error.strerror or error}") from error

    @property
    def networks(self) -> Path:
        return self.folder / NETWORKS

    def load(self, key: str) -> dict[str, NDArray[Any]] | None:
        from safetensors import SafetensorError
        from safetensors.numpy import load

        path = self._path(key)
        if not path.is_file():
            return None
        try:
            return load(path.read_bytes())
        except (SafetensorError, OSError, ValueError):
            return None

    def save(self, key: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        from safetensors.numpy import save

        with written_beside(self._path(key)) as file:
            file.write(save({name: np.ascontiguousarray(array) for name, array in arrays.items()}))

    def clear_networks(self) -> None:
        if not self.keep_networks:
            shutil.rmtree(self.networks, ignore_errors=True)

    def _path(self, key: str) -> Path:
        return self.folder / PREDICTIONS / f"{key}.safetensors"


def key_of(*parts: Any) -> str | None:
    """A name for the content of all parts; None where it depends on unseeded chance."""
    digest = hashlib.blake2b(__version__.encode(), digest_size=16)
    try:
        for part in parts:
            _add(digest, part)
    except UncacheableError:
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
    name = type(part).__name__
    digest.update(f"{type(part).__module__}.{name};".encode())
    if isinstance(part, (Attack, Defense, Detector)):
        options = part.get_params(deep=False)
        if "random_state" in options and not isinstance(options["random_state"], (int, np.integer)):
            raise UncacheableError
        _add(digest, (getattr(part, "revision", 1), options))
        if isinstance(part, Defense):
            _add(digest, getattr(part, "learnt_from_", None))
    elif hasattr(part, "state_dict"):  # a torch module
        _add(digest, {key: tensor.numpy() for key, tensor in part.state_dict().items()})
    elif dataclasses.is_dataclass(part) and not isinstance(part, type):
        _add(digest, {field.name: getattr(part, field.name) for field in dataclasses.fields(part)})
    elif type(part).__module__.startswith(("attriguard.", "sklearn.")):
        left_out = WITHOUT.get(name, ())
        shown = {key: value for key, value in vars(part).items() if not key.startswith("_") and key not in left_out}
        _add(digest, shown)
    else:
        raise UncacheableError
