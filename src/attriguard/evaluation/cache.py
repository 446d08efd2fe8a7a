"""The predictions of attacks, kept in files that are named by content (see `attriguard._fingerprint`).

Nothing is trained twice, and a run that was killed goes on where it stood. Files hold small arrays, never code, sealed
under their own names; a file that is damaged, or is another one's, counts as missing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attriguard.data.files import sweep
from attriguard.data.locks import used_alone
from attriguard.data.sealed import BROKEN, read_sealed, write_sealed
from attriguard.errors import DataError

PREDICTIONS, NETWORKS, GUARDS = "predictions", "networks", "guards"
HEADER = "attriguard-arrays"
Arrays = dict[str, NDArray[Any]]


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
        for part in (PREDICTIONS, NETWORKS, GUARDS):
            sweep(self.folder / part)

    @property
    def networks(self) -> Path:
        """The folder of checkpoints."""
        return self.folder / NETWORKS

    @contextmanager
    def alone(self) -> Iterator[Cache]:
        """The cache, while no other run works in its folder; `BusyError` where one does."""
        with used_alone(self.folder):
            yield self

    def load(self, key: str | None, fits: Callable[[Arrays], bool]) -> Arrays | None:
        """The arrays under a name; None where there are none that are whole and that ``fits`` takes, or no name."""
        if key is None or not self._path(key).is_file():
            return None
        try:
            found = read_sealed(HEADER, self._path(key))
            good = found.header == key and fits(found.tensors)
        except BROKEN:
            return None
        return found.tensors if good else None

    def save(self, key: str | None, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep arrays under a name; without a name (None) nothing is kept."""
        if key is not None:
            write_sealed(HEADER, key, arrays, self._path(key))

    def clear_networks(self) -> None:
        """Remove the checkpoints, unless they are to be kept, or another run is training with them."""
        if self.keep_networks:
            return
        for file in self.networks.glob("*.safetensors"):
            with suppress(DataError, OSError), used_alone(file):
                file.unlink()

    def _path(self, key: str) -> Path:
        return self.folder / PREDICTIONS / f"{key}.safetensors"


def is_of(array: NDArray[Any], shape: tuple[int, ...], dtype: Any, low: float, high: float = np.inf) -> bool:
    """Has an array from a file this shape and this type, and are all its numbers between low and high?"""
    same = array.shape == shape and array.dtype == dtype
    return same and (not array.size or bool(low <= array.min() <= array.max() <= high))
