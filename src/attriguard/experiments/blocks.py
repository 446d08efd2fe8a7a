"""Phase I in blocks of users, each block in a file of its own: an interrupted run goes on with the next block."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from attriguard.classifiers.checkpoint import write_tensors
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


def find_in_blocks(
    find: Callable[[slice], NoiseBlock],
    n_users: int,
    *,
    size: int,
    folder: Path,
    progress: ProgressLike = None,
) -> NoiseBlock:
    """All users' noise; ``folder`` is named after everything it depends on."""
    folder.mkdir(parents=True, exist_ok=True)
    parts, count = [], Progress.of(progress).counter(n_users, "Phase I")
    for start in range(0, n_users, size):
        users = slice(start, min(start + size, n_users))
        file = folder / f"edits-{users.start:06d}-{users.stop:06d}.safetensors"
        found = load_block(file)
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
    write_tensors(tensors, file, {HEADER: json.dumps({"seconds": found.seconds})})


def load_block(file: Path) -> NoiseBlock | None:
    """The block in a file; None where the file is missing or damaged, so that the block is found anew."""
    from safetensors import SafetensorError, safe_open

    if not file.is_file():
        return None
    try:
        with safe_open(file, framework="numpy") as opened:
            seconds = float(json.loads((opened.metadata() or {})[HEADER])["seconds"])
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
        return NoiseBlock(Edits(**{k: v for k, v in tensors.items() if k != "inferred"}), tensors["inferred"], seconds)
    except (SafetensorError, OSError, ValueError, KeyError, TypeError):
        return None


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
