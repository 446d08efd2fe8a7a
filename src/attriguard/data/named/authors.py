"""The authors' format: a line of ``item:rating`` pairs a user, and a line with the label a user."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from attriguard.data.files import read_bytes, written_beside
from attriguard.data.public_data import PublicData
from attriguard.data.ratings import ScaleLike
from attriguard.data.scale import GRID_TOLERANCE, RatingScale, check_scale
from attriguard.errors import DataError

PARTS = ("train", "test")
_PAIR = r"^(?P<item>[0-9]{1,9}):(?P<rating>[0-9]*[.]?[0-9]+)$"


@dataclass(frozen=True, eq=False)
class _Part:
    """The users of one file: pairs end to end, and how many each line has."""

    name: str
    counts: NDArray[np.int64]
    item: NDArray[np.int64]
    rating: NDArray[np.float64]
    label: NDArray[np.int64]

    def line(self, pair: int) -> int:
        """The line of the file, from 1, that holds a pair of item and rating."""
        return int(np.searchsorted(np.cumsum(self.counts), pair, side="right")) + 1


def read_authors_format(
    folder: str | os.PathLike[str],
    *,
    attribute: str = "city",
    scale: ScaleLike = (1, 5, 1),
    n_items: int | None = None,
) -> PublicData:
    """Read ``train_user.txt``, ``train_label.txt``, ``test_user.txt`` and ``test_label.txt`` of a folder.

    Line k of a user file is user k: ``item:rating`` pairs with ratings scaled to [0, 1]; line k of the label
    file is that user's value (-1: undisclosed). Users are numbered, the training users first, and the files'
    split is kept. ``folder`` may also be what stands before ``_train_user.txt`` in the files' names.
    ``n_items`` defaults to the largest item + 1.
    """
    scale = check_scale(scale)
    base = Path(folder)
    _refuse_missing(base)
    parts = [_read_part(base, part, scale) for part in PARTS]
    width = 1 + max(int(part.item.max(initial=-1)) for part in parts)
    if n_items is not None:
        for part in parts:
            _refuse(part, part.item >= n_items, f"an item must be below n_items, {n_items:,}")
        width = n_items
    y = np.concatenate([part.label for part in parts])
    if np.unique(y[y >= 0]).size < 2:
        raise DataError(f"{base}: the labels must have at least two values, or there is nothing to infer")
    return PublicData(
        X=vstack([_matrix(part, width, scale) for part in parts], format="csr"),
        users=np.arange(y.size),
        items=np.arange(width),
        scale=scale,
        attribute=attribute,
        y=y,
        values=tuple(str(code) for code in range(int(y.max()) + 1)),
        test_mask=np.repeat([False, True], [part.label.size for part in parts]),
    )


def _file(base: Path, name: str) -> Path:
    return base / name if base.is_dir() else base.with_name(f"{base.name}_{name}")


def _refuse_missing(base: Path) -> None:
    files = [_file(base, f"{part}_{kind}.txt") for part in PARTS for kind in ("user", "label")]
    missing = [file.name for file in files if not file.is_file()]
    if missing:
        raise DataError(f"{base} must be a folder with {', '.join(missing)}, but there is no such file in it")


def _read_part(base: Path, part: str, scale: RatingScale) -> _Part:
    user_file, label_file = (_file(base, f"{part}_{kind}.txt") for kind in ("user", "label"))
    lines = _lines(user_file)
    label = _labels(label_file)
    if len(lines) != label.size:
        raise DataError(
            f"{user_file.name} has {len(lines):,} lines and {label_file.name} {label.size:,}; both must have "
            f"one line a user: was one of them cut?"
        )
    counts = np.array([line.count(b":") for line in lines], dtype=np.int64)
    tokens = b" ".join(lines).split()
    pairs = pc.extract_regex(pa.array(tokens, pa.binary()).cast(pa.string(), safe=False), _PAIR)
    if pairs.null_count or counts.sum() != len(tokens):
        raise DataError(_first_bad_line(user_file.name, lines))
    item, rating = pairs.flatten()
    result = _Part(
        name=user_file.name,
        counts=counts,
        item=item.cast(pa.int64()).to_numpy(),
        rating=rating.cast(pa.float64()).to_numpy(),
        label=label,
    )
    level = result.rating * scale.levels
    off = (np.abs(level - np.rint(level)) > GRID_TOLERANCE) | (np.rint(level) < 1) | (result.rating > 1.0)
    _refuse(result, off, f"a rating must be one of the {scale.levels} levels above 0 up to 1")
    return result


def _lines(path: Path) -> list[bytes]:
    lines = read_bytes(path).split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def _labels(path: Path) -> NDArray[np.int64]:
    text = pa.array([line.strip() for line in _lines(path)], pa.binary()).cast(pa.string(), safe=False)
    good = pc.match_substring_regex(text, "^(-1|[0-9]{1,6})$").to_numpy(zero_copy_only=False)
    if not good.all():
        line = int(np.flatnonzero(~good)[0]) + 1
        raise DataError(f"{path.name}, line {line:,}: a label must be a whole number from 0, or -1 (undisclosed)")
    return text.cast(pa.int64()).to_numpy()


def _first_bad_line(name: str, lines: list[bytes]) -> str:
    for number, line in enumerate(lines, start=1):
        text = pa.array(line.split(), pa.binary()).cast(pa.string(), safe=False)
        if pc.any(pc.invert(pc.match_substring_regex(text, _PAIR))).as_py():
            return f"{name}, line {number:,}: pairs item:rating split by blanks were expected, such as 12:0.8"
    return f"{name}: pairs item:rating split by blanks were expected, such as 12:0.8"


def _refuse(part: _Part, bad: NDArray[np.bool_], rule: str) -> None:
    if bad.any():
        pair = int(np.argmax(bad))
        got = f"{part.item[pair]}:{part.rating[pair]:g}"
        raise DataError(f"{part.name}, line {part.line(pair):,}: {rule}, got {got}; correct the line")


def _matrix(part: _Part, width: int, scale: RatingScale) -> csr_array:
    user = np.repeat(np.arange(part.counts.size), part.counts)
    X = csr_array((scale.snap(part.rating), (user, part.item)), shape=(part.counts.size, width))
    if X.nnz < part.item.size:
        keys = user * width + part.item
        order = np.argsort(keys, kind="stable")
        again = np.zeros(keys.size, dtype=np.bool_)
        again[order[1:][np.diff(keys[order]) == 0]] = True
        _refuse(part, again, "a user rates an item once")
    return X


def write_authors_format(data: PublicData, folder: str | os.PathLike[str]) -> None:
    """Write the four files of the format; ids and names are lost: items and values become numbers.

    Data without a split of its own goes into the training files; the test files are then empty.
    """
    base = Path(folder)
    base.mkdir(parents=True, exist_ok=True)
    in_test = np.zeros(data.n_users, dtype=np.bool_) if data.test_mask is None else data.test_mask
    for part, mask in zip(PARTS, (~in_test, in_test), strict=True):
        users = np.flatnonzero(mask)
        with written_beside(base / f"{part}_user.txt") as file:
            file.writelines(_user_lines(data.X[users], data.scale))
        with written_beside(base / f"{part}_label.txt") as file:
            file.writelines(f"{code}\n".encode() for code in data.y[users].tolist())


def _user_lines(X: csr_array, scale: RatingScale) -> Iterator[bytes]:
    level_text = [repr(round(level / scale.levels, 9)) for level in range(scale.levels + 1)]
    levels = np.rint(X.data.astype(np.float64) * scale.levels).astype(np.int64)
    entries = zip(X.indices.tolist(), levels.tolist(), strict=True)
    pairs = [f"{item}:{level_text[level]}" for item, level in entries]
    for start, end in zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True):
        yield (" ".join(pairs[start:end]) + "\n").encode()
