"""Guards on disk: one safetensors file, with everything that is not an array as JSON in its header. Never pickle."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attriguard import __version__
from attriguard.classifiers.base import linear_parts
from attriguard.classifiers.linear import LinearClassifier
from attriguard.data.files import check_file, written_beside
from attriguard.data.scale import RatingScale
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

    from attriguard.guard import check_scale

    scale = check_scale(guard.scale)
    rules = guard.rules_
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
        "n_train_users": guard.n_train_users_,
        "additions": rules.jump,
        "metadata": metadata or {},
    }
    tensors = {
        "coef": np.ascontiguousarray(weights.T),
        "intercept": intercept,
        "target": guard.target_,
        "upper": rules.upper,
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
    from attriguard._checks import check_distribution
    from attriguard.classifiers.linear import KINDS
    from attriguard.guard import AttriGuard
    from attriguard.noise.base import LOCKED, make_rules
    from attriguard.noise.policy import check_policy
    from attriguard.noise.registry import get_search

    classifier = LinearClassifier(tensors["coef"], tensors["intercept"])
    upper = np.asarray(tensors["upper"], dtype=np.float64)
    m, n_items = classifier.coef_.shape
    scale = None if header["scale"] is None else RatingScale(*header["scale"])
    locked = np.flatnonzero(upper == LOCKED)
    target = check_distribution(tensors["target"], m)
    guard = AttriGuard(
        header["classifier"] if header["classifier"] in KINDS else classifier,
        target=header["target"] or target,
        scale=scale,
        **{name: header["parameters"][name] for name in PLAIN},
    )
    guard.classifier_ = classifier
    guard.target_ = target
    guard.classes_ = np.array(header["classes"])
    guard.values_ = tuple(str(value) for value in header["values"])
    guard.items_ = None if header["items"] is None else np.array(header["items"])
    guard.n_features_in_ = n_items
    guard.n_train_users_ = int(header["n_train_users"])
    names = guard.items_ if guard.items_ is not None else np.arange(n_items)
    guard.locked = names[locked].tolist() or None
    guard.additions = None
    guard.rules_ = make_rules(
        check_policy(guard.policy),
        n_items,
        step=guard.step,
        levels=0 if scale is None else scale.levels,
        maxiter=guard.maxiter,
        locked=locked,
        additions=np.where(upper == LOCKED, 0.0, upper) if header["additions"] else None,
    )
    guard._search = get_search(guard.search)
    fits = {
        "classes": guard.classes_.shape == (m,),
        "values": len(guard.values_) == m,
        "items": guard.items_ is None or guard.items_.shape == (n_items,),
        "upper": upper.shape == (n_items,) and bool(np.isfinite(upper).all()) and bool((upper <= 1).all()),
    }
    if not all(fits.values()):
        raise ValueError("parts of different sizes")
    return guard


def _plain(value: Any) -> Any:
    if isinstance(value, NoiseSearch):
        return value.name
    return value.item() if isinstance(value, np.generic) else value
