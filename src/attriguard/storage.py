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
from attriguard.classifiers.base import Classifier, linear_parts
from attriguard.classifiers.checkpoint import write_tensors
from attriguard.classifiers.ensemble import Ensemble
from attriguard.classifiers.factory import KINDS
from attriguard.classifiers.linear import LinearClassifier
from attriguard.classifiers.network import NetworkClassifier, Weights
from attriguard.data.files import check_file
from attriguard.data.scale import RatingScale, check_scale
from attriguard.errors import AttriGuardError, GuardFileError, ParameterError
from attriguard.goals import MISLEAD, check_goal
from attriguard.noise.base import NoiseSearch
from attriguard.noise.registry import get_search, search_options

if TYPE_CHECKING:
    from attriguard.guard import AttriGuard

FORMAT = "attriguard guard"
FORMAT_VERSION = 1
HEADER = "attriguard"
# Kinds of classifiers in a file; the oldest files do not name theirs, which is linear.
LINEAR, NETWORK, ENSEMBLE = "linear", "network", "ensemble"
# Parameters that are plain JSON as they are.
PLAIN = ("search", "policy", "budget", "step", "maxiter", "confidence", "cost")
# Those of goals; the oldest files, which mislead, have none.
GOAL_PARAMETERS = ("goal", "members", "split")
PARTS = ("W1", "b1", "W2", "b2")


def save_guard(guard: AttriGuard, path: str | os.PathLike[str], *, metadata: dict[str, Any] | None = None) -> None:
    """Write a fitted guard; ``metadata`` is kept with it (JSON)."""
    guard.check_parameters()  # what was set since fit, too: a file must be readable
    scale = None if guard.scale is None else check_scale(guard.scale)
    kind, tensors = _classifier_parts(guard.classifier_)
    members = () if guard.ensemble_ is None else guard.ensemble_.members
    tensors |= {f"member{k}.{name}": part for k, w in enumerate(members) for name, part in w.parts.items()}
    if guard.ensemble_ is not None:
        tensors["prior"] = guard.ensemble_.prior
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "attriguard_version": __version__,
        "classifier": guard.classifier if isinstance(guard.classifier, str) else type(guard.classifier).__name__,
        "classifier_kind": kind,
        "classifier_options": _options(guard.classifier),
        "parameters": {name: _plain(getattr(guard, name)) for name in (*PLAIN, *GOAL_PARAMETERS)},
        "search_options": search_options(guard.search),
        "learnt": {"goal": guard.goal_, "split": guard.split_, "members": len(members)},
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
    write_tensors({**tensors, "target": guard.target_}, Path(path), {HEADER: json.dumps(header)})


def _classifier_parts(classifier: Any) -> tuple[str, dict[str, NDArray[Any]]]:
    """The kind of a fitted classifier, and its weights."""
    if isinstance(classifier, Ensemble):
        return ENSEMBLE, {}  # its members are written anyway
    if isinstance(classifier, NetworkClassifier):
        return NETWORK, dict(classifier.weights.parts)
    if not classifier.is_linear:
        raise ParameterError(
            "a guard with a torch module of your own cannot be saved: a file holds weights, not code; "
            "save the module's state_dict, and fit the guard again with the module"
        )
    weights, intercept = linear_parts(classifier)
    return LINEAR, {"coef": np.ascontiguousarray(weights.T), "intercept": intercept}


def _options(classifier: Any) -> dict[str, Any] | None:
    """The options of a network that was given as such; a generator as a seed has no place in a file."""
    if not isinstance(classifier, NetworkClassifier):
        return None
    options = {name: _plain(value) for name, value in classifier.get_params().items()}
    return options | {"random_state": options["random_state"] if isinstance(options["random_state"], int) else None}


def load_guard(path: str | os.PathLike[str]) -> AttriGuard:
    """A guard that ``save`` wrote; anything else is refused."""
    file = check_file(Path(path))
    header, tensors = _read(file)
    try:
        return _rebuild(header, tensors)
    except (KeyError, TypeError, ValueError, IndexError, AttriGuardError) as error:
        reason = str(error) if isinstance(error, AttriGuardError) else type(error).__name__
        raise GuardFileError(f"{file} is damaged: its parts do not fit together ({reason})") from error


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
    from attriguard.guard import AttriGuard

    learnt = header.get("learnt") or {"goal": MISLEAD, "split": 0.0, "members": 0}
    ensemble = _rebuild_ensemble(int(learnt["members"]), tensors)
    classifier, m, n_items = _rebuild_classifier(header, tensors, ensemble)
    options, additions = header.get("classifier_options"), header["additions"]
    given: Any = header["classifier"] if header["classifier"] in KINDS else classifier
    guard = AttriGuard(
        given if options is None else NetworkClassifier(**options),
        target=header["target"] or tensors["target"],
        scale=None if header["scale"] is None else RatingScale(*header["scale"]),
        locked=header["locked"],
        additions=dict(additions) if additions and isinstance(additions[0], list) else additions,
        search=_rebuild_search(header),
        **{name: header["parameters"][name] for name in PLAIN if name != "search"},
        **{name: header["parameters"][name] for name in GOAL_PARAMETERS if name in header["parameters"]},
    )
    guard.classifier_ = classifier
    guard.ensemble_, guard.goal_, guard.split_ = ensemble, check_goal(learnt["goal"]), float(learnt["split"])
    guard.classes_ = np.array(header["classes"])
    guard.counts_ = np.array(header["counts"], dtype=np.int64)
    guard.values_ = tuple(str(value) for value in header["values"])
    guard.items_ = None if header["items"] is None else np.array(header["items"])
    guard.n_features_in_ = n_items
    if not (guard.classes_.shape == guard.counts_.shape == (m,) == (len(guard.values_),)):
        raise ValueError("values, classes and counts of different sizes")
    if guard.items_ is not None and guard.items_.shape != (n_items,):
        raise ValueError("items and weights of different sizes")
    if (ensemble is None) != (guard.goal_ == MISLEAD) or (ensemble and (ensemble.m, ensemble.n_items) != (m, n_items)):
        raise ValueError("the ensemble does not fit the goal or the weights")
    guard.check_parameters()
    return guard


def _rebuild_search(header: dict[str, Any]) -> str | NoiseSearch:
    """The search's name, or the search itself where it was given with options."""
    name, options = header["parameters"]["search"], header.get("search_options")
    return get_search(name, **options) if options else str(name)


def _rebuild_ensemble(members: int, tensors: dict[str, NDArray[Any]]) -> Ensemble | None:
    if not members:
        return None
    weights = [Weights(*(tensors[f"member{k}.{name}"] for name in PARTS)) for k in range(members)]
    return Ensemble(weights, tensors["prior"])


def _rebuild_classifier(
    header: dict[str, Any], tensors: dict[str, NDArray[Any]], ensemble: Ensemble | None
) -> tuple[Classifier, int, int]:
    """The classifier, and for how many values and items it is."""
    kind = header.get("classifier_kind", LINEAR)
    if kind == ENSEMBLE and ensemble is not None:
        return ensemble, ensemble.m, ensemble.n_items
    if kind == NETWORK:
        network = NetworkClassifier.from_weights(*(tensors[name] for name in PARTS))
        return network, network.m, network.n_items
    linear = LinearClassifier(tensors["coef"], tensors["intercept"])
    return linear, *linear.coef_.shape


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
