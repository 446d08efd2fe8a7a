"""``ag.cache_info`` and ``ag.clear_cache``: what this machine keeps between runs, and getting rid of it.

Only files that the package writes are counted and removed, by their places and names. No link is followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attriguard._checks import check_choice
from attriguard.data.named.datasets import cache_folder
from attriguard.data.named.registry import DATASETS
from attriguard.errors import DataError
from attriguard.evaluation.cache import NETWORKS, PREDICTIONS
from attriguard.kernels.compiled import compiled_folder
from attriguard.operations.work import EVALUATIONS

DATA, COMPILED = "data", "compiled"
MEANINGS = {
    DATA: "data sets that were downloaded",
    PREDICTIONS: "what attacks predicted (evaluate)",
    NETWORKS: "networks that are being trained (evaluate)",
    COMPILED: "code that was compiled for this machine",
}
# Whole ones, and those whose writing was cut off, by this version and by earlier ones.
TENSORS = ("*.safetensors", f".attriguard-{'[0-9a-f]' * 32}.part", ".*.safetensors.*.part")


@dataclass(frozen=True)
class CachePart:
    """One kind of thing that is kept: its folder, its files, and the bytes that they take."""

    name: str
    folder: Path
    files: tuple[Path, ...] = field(repr=False)
    size: int

    @property
    def meaning(self) -> str:
        """What it is."""
        return MEANINGS[self.name]


@dataclass(frozen=True)
class CacheInfo:
    """What is kept between runs, part by part."""

    folder: Path
    parts: tuple[CachePart, ...]

    @property
    def size(self) -> int:
        """The bytes of all parts."""
        return sum(part.size for part in self.parts)

    def record(self) -> dict[str, Any]:
        """The counts, as JSON knows them."""
        parts = {
            part.name: {"folder": str(part.folder), "files": len(part.files), "bytes": part.size} for part in self.parts
        }
        return {"folder": str(self.folder), "bytes": self.size, "parts": parts}


def cache_info(parts: Iterable[str] = ()) -> CacheInfo:
    """What is kept between runs: ``data``, ``predictions``, ``networks`` and ``compiled`` code, or some of these.

    ``$ATTRIGUARD_CACHE`` moves the first three, ``$NUMBA_CACHE_DIR`` the last.
    """
    wanted = [check_choice(name, MEANINGS, name="part of the cache") for name in parts] or list(MEANINGS)
    return CacheInfo(cache_folder(), tuple(_part(name) for name in MEANINGS if name in wanted))


def clear_cache(parts: Iterable[str] = ()) -> CacheInfo:
    """Remove what is kept between runs, or some ``parts`` of it; returns what was removed.

    Nothing is lost but time: data is downloaded again, predictions are made again, code is compiled again.
    """
    found = cache_info(parts)
    files = [path for part in found.parts for path in part.files]
    try:
        for path in files:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"{error.filename} cannot be removed: {error.strerror}") from error
    for folder in {path.parent for path in files}:
        with suppress(OSError):  # it holds something else
            folder.rmdir()
    return found


def _part(name: str) -> CachePart:
    root, patterns = _place(name)
    files = tuple(sorted(path for inner, names in patterns.items() for path in _files(root, inner, names)))
    inner = next(iter(patterns)) if len(patterns) == 1 else ""
    return CachePart(name, root / inner, files, sum(path.stat().st_size for path in files))


def _place(name: str) -> tuple[Path, dict[str, tuple[str, ...]]]:
    """Where a part is kept: a root, the folders in it, and how the files in each are named."""
    if name == COMPILED:
        return compiled_folder(), {"": ("*.nbi", "*.nbc")}
    if name == DATA:
        return cache_folder(), {each.name: each.file_names for each in DATASETS.values() if not each.embedded}
    return cache_folder(), {f"{EVALUATIONS}/{name}": TENSORS}


def _files(root: Path, inner: str, names: tuple[str, ...]) -> Iterator[Path]:
    """The plain files of a folder; where a link leads elsewhere, nothing there is ours."""
    folder = root / inner
    if not folder.is_dir() or folder.resolve() != root.resolve() / inner:
        return
    for path in folder.iterdir():
        if path.is_file() and not path.is_symlink() and any(path.match(name) for name in names):
            yield path
