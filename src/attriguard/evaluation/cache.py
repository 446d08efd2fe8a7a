"""The predictions of attacks, kept in files that are named by content (see `attriguard._fingerprint`).

Nothing is trained twice, and a run that was killed goes on where it stood. Files hold small arrays (safetensors), never
code; a damaged file counts as missing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attriguard.data.files import written_beside
from attriguard.errors import DataError

PREDICTIONS, NETWORKS = "predictions", "networks"


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
        """The folder of checkpoints."""
        return self.folder / NETWORKS

    def load(self, key: str | None) -> dict[str, NDArray[Any]] | None:
        """The arrays under a name; None where there are none, or where there is no name."""
        from safetensors import SafetensorError
        from safetensors.numpy import load

        if key is None or not self._path(key).is_file():
            return None
        try:
            return load(self._path(key).read_bytes())
        except (SafetensorError, OSError, ValueError):
            return None

    def save(self, key: str | None, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep arrays under a name; without a name (None) nothing is kept."""
        from safetensors.numpy import save

        if key is None:
            return
        with written_beside(self._path(key)) as file:
            file.write(save({name: np.ascontiguousarray(array) for name, array in arrays.items()}))

    def clear_networks(self) -> None:
        """Remove the checkpoints, unless they are to be kept."""
        if not self.keep_networks:
            shutil.rmtree(self.networks, ignore_errors=True)

    def _path(self, key: str) -> Path:
        return self.folder / PREDICTIONS / f"{key}.safetensors"
