"""Phase I in blocks of users, each block's edits in a file of its own: an interrupted run goes on with the next one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from attriguard.classifiers.checkpoint import write_tensors
from attriguard.errors import DataError, ParameterError
from attriguard.noise.edits import Edits

HEADER = "attriguard-edits"
PARTS = ("indptr", "items", "values", "cost", "success", "extended")


def edits_in_blocks(
    find: Callable[[slice], Edits],
    n_users: int,
    *,
    size: int,
    folder: Path,
    mark: str,
    progress: Callable[[str, int], None] | None = None,
) -> Edits:
    """All users' edits; ``mark`` says what they depend on, so that files of another run are not mixed in."""
    parts = []
    for start in range(0, n_users, size):
        users = slice(start, min(start + size, n_users))
        file = folder / f"edits-{users.start:06d}-{users.stop:06d}.safetensors"
        if file.exists():
            parts.append(load_edits(file, mark))
            if progress is not None:
                progress("Phase I", users.stop - users.start)
        else:
            parts.append(find(users))
            save_edits(parts[-1], file, mark)
    return joined(parts)


def save_edits(edits: Edits, file: Path, mark: str) -> None:
    write_tensors({name: getattr(edits, name) for name in PARTS}, file, {HEADER: json.dumps({"mark": mark})})


def load_edits(file: Path, mark: str) -> Edits:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="numpy") as opened:
            found = json.loads((opened.metadata() or {})[HEADER])["mark"]
            edits = Edits(**{name: opened.get_tensor(name) for name in PARTS})
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{file} is damaged; remove it, and it is made again") from error
    if found != mark:
        raise ParameterError(f"{file} belongs to another run; name another folder with --work, or empty this one")
    return edits


def joined(parts: Sequence[Edits]) -> Edits:
    """Blocks of users, one after another."""
    lengths = np.concatenate([np.diff(part.indptr) for part in parts])
    return Edits(
        indptr=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        **{
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("items", "values", "cost", "success", "extended")
        },
    )
