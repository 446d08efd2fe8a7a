"""Guards on disk: one safetensors file, with everything that is not an array as JSON in its header. Never pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attriguard import __version__
from attriguard.classifiers.base import linear_parts
from attriguard.classifiers.linear import LinearClassifier
from attriguard.data.files import check_file, written_beside
from attriguard.data.scale import RatingScale, check_scale
from attriguard.errors import AttriGuardError, GuardFileError
from attriguard.noise.base import NoiseSearch

if TYPE_CHECKING:
    from attriguard.guard import AttriGuard

FORMAT = "attriguard guard"
FORMAT_VERSION = 1
HEADER = "attriguard"
# Parameters that are plain JSON as they are.
PLAIN = ("search", "policy", "budget", "step", "maxiter", "confidence", "cost")


def save_guard(guard: AttriGuard, path: str | os.PathLike[str], *, metadata: dict[str, Any] | None = None) -> None:
    """Write a fitted guard; ``metadata`` is kept with it (JSON)."""
    from safetensors.numpy import save

    scale = None if guard.scale is None else check_scale(guard.scale)
    weights, intercept = linear_parts(guard.classifier_)
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "attriguard_version": __version__,
        "classifier": guard.classifier if isinstance(guard.classifier, str) else type(guard.classifier).__name__,
        "parameters": {name: _plain(getattr(guard, name)) for name in PLAIN},
        "scale": None if scale is None else [scale.lowest, scale.highest, scale.step],
        "target": guard.target if isinstance(guard.target, str) else None,
        "classes": guard.classes_.tolist(),
        "values": list(guard.values_),
        "items": None if guard.items_ is None else guard.items_.tolist(),
        "counts": guard.counts_.tolist(),
        "locked": None if guard.locked is None else [_plain(item) for item in guard.locked],
        "additions": _pairs(guard.additions),
        "metadata": metadata or {},
    }
    tensors = {
        "coef": np.ascontiguousarray(weights.T),
        "intercept": intercept,
        "target": guard.target_,
    }
    content = save(tensors, metadata={HEADER: json.dumps(header)})
    with written_beside(Path(path)) as file:
        file.write(content)


def load_guard(path: str | os.PathLike[str]) -> AttriGuard:
    """A guard that ``save`` wrote; anything else is refused."""
    file = check_file(Path(path))
    header, tensors = _read(file)
    try:
        return _rebuild(header, tensors)
    except (KeyError, TypeError, ValueError, IndexError, AttriGuardError) as error:
        raise GuardFileError(f"{file} is damaged: its parts do not fit together ({type(error).__name__})") from error


def guard_metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What was saved with a guard besides itself: the attribute's name, where it was learnt, and so on."""
    return dict(_read(check_file(Path(path)))[0].get("metadata") or {})


def _read(file: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="numpy") as opened:
            header = json.loads((opened.metadata() or {}).get(HEADER, "null"))
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, TypeError) as error:
        raise GuardFileError(f"{file} is not a guard, or is damaged; make one with: attriguard fit") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise GuardFileError(f"{file} is a safetensors file, but not a guard; make one with: attriguard fit")
    if header.get("format_version") != FORMAT_VERSION:
        raise GuardFileError(
            f"{file} has guard format {header.get('format_version')!r}, this version reads {FORMAT_VERSION}; "
            "make it again with: attriguard fit"
        )
    return header, tensors


def _rebuild(header: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> AttriGuard:
    from attriguard.classifiers.linear import KINDS
    from attriguard.guard import AttriGuard

    classifier = LinearClassifier(tensors["coef"], tensors["intercept"])
    m, n_items = classifier.coef_.shape
    additions = header["additions"]
    guard = AttriGuard(
        header["classifier"] if header["classifier"] in KINDS else classifier,
        target=header["target"] or tensors["target"],
        scale=None if header["scale"] is None else RatingScale(*header["scale"]),
        locked=header["locked"],
        additions=dict(additions) if additions and isinstance(additions[0], list) else additions,
        **{name: header["parameters"][name] for name in PLAIN},
    )
    guard.classifier_ = classifier
    guard.classes_ = np.array(header["classes"])
    guard.counts_ = np.array(header["counts"], dtype=np.int64)
    guard.values_ = tuple(str(value) for value in header["values"])
    guard.items_ = None if header["items"] is None else np.array(header["items"])
    guard.n_features_in_ = n_items
    if not (guard.classes_.shape == guard.counts_.shape == (m,) == (len(guard.values_),)):
        raise ValueError("values, classes and counts of different sizes")
    if guard.items_ is not None and guard.items_.shape != (n_items,):
        raise ValueError("items and weights of different sizes")
    guard.check_parameters()
    return guard


def _pairs(additions: Any) -> list[Any] | None:
    """JSON knows no mapping with numbers as keys."""
    if additions is None:
        return None
    if isinstance(additions, Mapping):
        return [[_plain(item), float(rating)] for item, rating in additions.items()]
    return [_plain(item) for item in additions]


def _plain(value: Any) -> Any:
    if isinstance(value, NoiseSearch):
        return value.name
    return value.item() if isinstance(value, np.generic) else value
