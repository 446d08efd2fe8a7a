"""Phase I in blocks of users, each block in a file of its own: an interrupted run goes on with the next block.

A file is sealed together with the name of its folder and its own, and checked before any kernel sees what it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.data.sealed import BROKEN, read_sealed, write_sealed
from attriguard.evaluation.cache import is_of
from attriguard.noise.edits import Edits
from attriguard.progress import Progress, ProgressLike

HEADER = "attriguard-edits"
PARTS = ("indptr", "items", "values", "cost", "success", "extended")


@dataclass(frozen=True, eq=False)
class NoiseBlock:
    """What Phase I found for some users, what C infers of them untouched, and how long it took."""

    edits: Edits
    inferred: NDArray[np.int64]
    seconds: float

    def infer(self, X: csr_array) -> NDArray[np.int64]:
        """What was inferred of them; ``X`` are their rows."""
        return self.inferred


def find_in_blocks(
    find: Callable[[slice], NoiseBlock],
    n_users: int,
    *,
    n_items: int,
    m: int,
    size: int,
    folder: Path,
    progress: ProgressLike = None,
) -> NoiseBlock:
    """All users' noise on n_items for m values; ``folder`` is named after everything it depends on."""
    folder.mkdir(parents=True, exist_ok=True)
    parts, count = [], Progress.of(progress).counter(n_users, "Phase I")
    for start in range(0, n_users, size):
        users = slice(start, min(start + size, n_users))
        file = folder / f"edits-{users.start:06d}-{users.stop:06d}.safetensors"
        found = load_block(file, users.stop - users.start, m, n_items)
        if found is None:
            found = find(users)
            save_block(found, file)
        count(users.stop - users.start)
        parts.append(found)
    return joined(parts)


def save_block(found: NoiseBlock, file: Path) -> None:
    """Write a block; the file takes its name only when it is whole."""
    tensors = {name: getattr(found.edits, name) for name in PARTS} | {"inferred": found.inferred}
    if found.edits.bound is not None:
        tensors["bound"] = found.edits.bound
    write_sealed(HEADER, {"of": _name(file), "seconds": found.seconds}, tensors, file)


def load_block(file: Path, n_users: int, m: int, n_items: int) -> NoiseBlock | None:
    """The block in a file; None where the file is missing or damaged, so that the block is found anew."""
    if not file.is_file():
        return None
    try:
        found = read_sealed(HEADER, file)
        edits = Edits(**{name: part for name, part in found.tensors.items() if name != "inferred"})
        inferred, seconds = found.tensors["inferred"], float(found.header["seconds"])
        good = found.header["of"] == _name(file) and 0.0 <= seconds < np.inf
        if good and is_of(inferred, (n_users,), np.int64, 0, m - 1) and _fit(edits, (n_users, m), n_items):
            return NoiseBlock(edits, inferred, seconds)
    except BROKEN:
        pass
    return None


def _name(file: Path) -> str:
    """What a block belongs to; the work folder as a whole may be moved."""
    return f"{file.parent.name}/{file.name}"


def _fit(edits: Edits, shape: tuple[int, int], n_items: int) -> bool:
    """Are these edits that kernels can follow: every index within its bounds, every number one that noise can have?"""
    ends, size, finite = edits.indptr, edits.items.size, np.finfo(np.float64).max
    if not (
        is_of(ends, (shape[0] * shape[1] + 1,), np.int64, 0, size)
        and is_of(edits.items, (size,), np.int32, 0, n_items - 1)
        and is_of(edits.values, (size,), np.float32, 0.0, 1.0)
        and is_of(edits.cost, shape, np.float64, 0.0, finite)
        and is_of(edits.success, shape, np.bool_, False, True)
        and is_of(edits.extended, shape, np.bool_, False, True)
        and (edits.bound is None or is_of(edits.bound, shape, np.float64, -np.inf))
    ):
        return False
    if ends[0] != 0 or ends[-1] != size or (np.diff(ends) < 0).any():
        return False
    first = np.zeros(size + 1, dtype=np.bool_)
    first[ends] = True  # the items of each pair rise from its first one on
    return bool((np.diff(edits.items) > 0)[~first[1:-1]].all()) if size else True


def joined(parts: Sequence[NoiseBlock]) -> NoiseBlock:
    """Blocks of users, one after another."""
    return NoiseBlock(
        Edits.joined([part.edits for part in parts]),
        np.concatenate([part.inferred for part in parts]),
        sum(part.seconds for part in parts),
    )


def emptied(edits: Edits) -> Edits:
    """The edits without their entries: only cost and success are left."""
    return replace(edits, indptr=np.zeros_like(edits.indptr), items=edits.items[:0], values=edits.values[:0])
