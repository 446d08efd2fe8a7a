"""Guards on disk: one safetensors file, with everything that is not an array as JSON in its header. Never pickle.

A file holds models by name, as their classes describe themselves, so a goal with a model of its own needs no change
here. Since version 3 a digest seals it, and its publisher may sign it (see `attriguard.data.sealed`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attriguard._seen import SALT_BYTES, SeenUsers
from attriguard._version import __version__
from attriguard.classifiers.base import Classifier
from attriguard.classifiers.factory import CLASSIFIER_KINDS, KINDS
from attriguard.classifiers.network import NetworkClassifier
from attriguard.data.files import read_bytes
from attriguard.data.habits import Habits
from attriguard.data.scale import RatingScale, check_scale
from attriguard.data.sealed import BROKEN, DamagedError, Sealed, read_sealed, write_sealed
from attriguard.errors import AttriGuardError, DataError, GuardFileError
from attriguard.goals.base import Learnt
from attriguard.goals.price import Price
from attriguard.noise.base import NoiseSearch
from attriguard.noise.registry import get as get_search
from attriguard.noise.registry import search_options

FORMAT = "attriguard guard"
# Version 1 named the tensors of its models without saying which model they belong to; version 2 had no digest.
FORMAT_VERSION, UNSEALED_VERSION, OLD_VERSION = 3, 2, 1
HEADER = "attriguard"
TARGET, SEEN, HABITS = "target", "seen", "habits"
PLAIN_TYPES = (bool, int, float, str)
# More users of a value than floats count one by one.
MOST_USERS = 2**53
# Parameters of a guard that are JSON as they are; the seed is no part of a file.
PLAIN = ("policy", "budget", "step", "maxiter", "confidence", "cost", "goal", "members", "split", "budget_over")


@dataclass(frozen=True, eq=False, kw_only=True)
class GuardState:
    """A fitted guard without its class: its parameters, and what it has learnt."""

    parameters: dict[str, Any]  # of AttriGuard's constructor
    learnt: Learnt
    classes: NDArray[Any]
    values: tuple[str, ...]
    items: NDArray[Any] | None
    n_items: int
    price: Price | None = None  # of a change under a budget of everyone
    habits: Habits | None = None  # how items are rated
    seen: SeenUsers | None = None  # whom the guard learnt from
    metadata: dict[str, Any] = field(default_factory=dict)  # the attribute's name, where it was learnt, and so on


def write_state(state: GuardState, path: str | os.PathLike[str], key: bytes | None = None) -> None:
    """Write a guard, signed where there is a key; a file takes its name only when it is whole."""
    models = state.learnt.models
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "attriguard_version": __version__,
        "parameters": _plain_parameters(state.parameters),
        "learnt": {
            "goal": state.learnt.goal,
            "split": state.learnt.split,
            "counts": state.learnt.counts.tolist(),
            "models": {name: model.kind for name, model in models.items()},
        },
        "classes": state.classes.tolist(),
        "values": list(state.values),
        "items": None if state.items is None else state.items.tolist(),
        "n_items": state.n_items,
        "price": None if state.price is None else asdict(state.price),
        "seen": None if state.seen is None else state.seen.salt.hex(),
        "metadata": state.metadata,
    }
    tensors = {f"{name}.{part}": array for name, model in models.items() for part, array in model.tensors().items()}
    if not isinstance(state.parameters["target"], str):
        tensors[TARGET] = np.asarray(state.parameters["target"], dtype=np.float64)
    if state.habits is not None:
        tensors[HABITS] = state.habits.below
    if state.seen is not None:
        tensors[SEEN] = state.seen.marks
    write_sealed(HEADER, header, tensors, Path(path), key)


def read_state(path: str | os.PathLike[str], key: bytes | None = None) -> GuardState:
    """What `write_state` wrote, or an earlier version; anything else is refused.

    With a key, so is what was not signed with it.
    """
    file = Path(path)
    found = _read(file)
    if key is not None and not found.signed_with(key):
        what = "not signed" if found.signature is None else "not signed with this key, or changed since"
        raise GuardFileError(f"{file} is {what}; use a guard that you trust, and the key that it was signed with")
    header, tensors = found.header, found.tensors
    with fitting(file):
        if header["format_version"] == OLD_VERSION:
            header, tensors = _from_version_1(header, tensors)
        if key is None:
            _refuse_code(file, [*header["parameters"].values(), *header["learnt"]["models"].values()])
        return _rebuild(header, tensors)


def _refuse_code(file: Path, names: Iterable[Any]) -> None:
    """To read a guard must not load anybody's code: MODULE:CLASS is found where the module has been loaded already."""
    for name in names:
        module = name.partition(":")[0] if isinstance(name, str) and ":" in name else None
        if module is not None and module not in sys.modules:
            raise GuardFileError(f"{file} needs the module {module[:50]!r}; if you trust both, import that first")


def read_key_file(path: os.PathLike[str]) -> bytes:
    """The key in a file, without the line's end."""
    return read_bytes(Path(path)).strip()


@contextmanager
def fitting(path: str | os.PathLike[str]) -> Iterator[None]:
    """Whatever goes wrong in putting the parts of a file together is an error of the file."""
    try:
        yield
    except GuardFileError:
        raise
    except (*BROKEN, AttriGuardError) as error:
        reason = str(error) if isinstance(error, AttriGuardError) else type(error).__name__
        raise GuardFileError(
            f"{path} is damaged: its parts do not fit together ({reason}); copy it again, or make it with: "
            "attriguard fit"
        ) from error


def _read(file: Path) -> Sealed:
    try:
        found = read_sealed(HEADER, file, unsealed=True)
    except DamagedError as error:
        raise GuardFileError(f"{file} is not a guard, or is damaged; copy it again, or use: attriguard fit") from error
    header = found.header
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise GuardFileError(f"{file} is a safetensors file, but not a guard; make one with: attriguard fit")
    version = header.get("format_version")
    if version not in (OLD_VERSION, UNSEALED_VERSION, FORMAT_VERSION):
        raise GuardFileError(
            f"{file} has guard format {str(version)[:20]}, this version reads {OLD_VERSION} to {FORMAT_VERSION}; "
            "make it again with: attriguard fit"
        )
    if version == FORMAT_VERSION and found.digest is None:
        raise GuardFileError(f"{file} is damaged: it has no digest; copy it again, or make it with: attriguard fit")
    return found


def _rebuild(header: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> GuardState:
    learnt, n_items = header["learnt"], header["n_items"]
    models = {name: _model(name, kind, tensors) for name, kind in learnt["models"].items()}
    if not models or not isinstance(learnt["goal"], str):
        raise DataError("no models, or models for nothing")
    parameters = _parameters(header["parameters"], tensors, models)
    scale = parameters["scale"]
    state = GuardState(
        parameters=parameters,
        learnt=Learnt(learnt["goal"], models, np.array(learnt["counts"], dtype=np.int64), float(learnt["split"])),
        classes=np.array(header["classes"]),
        values=tuple(str(value) for value in header["values"]),
        items=None if header["items"] is None else np.array(header["items"]),
        n_items=n_items,
        price=Price.of(header.get("price")),
        habits=Habits(tensors[HABITS]).check(n_items, scale.levels) if scale and HABITS in tensors else None,
        seen=_seen(header["seen"], tensors[SEEN]) if header.get("seen") else None,
        metadata=dict(header.get("metadata") or {}),
    )
    _check(state)
    return state


def _check(state: GuardState) -> None:
    """Refuse parts of different sizes, and numbers that no guard has."""
    models, counts = state.learnt.models.values(), state.learnt.counts
    if type(state.n_items) is not int or {(model.m, model.n_items) for model in models} != {
        (state.classes.size, state.n_items)
    }:
        raise DataError("models for other values or items than the guard's")
    if not state.classes.shape == counts.shape == (len(state.values),):
        raise DataError("values, classes and counts of different sizes")
    if not (0 <= counts.min() <= counts.max() < MOST_USERS and counts.any()):
        raise DataError("counts that no users can have")
    if not 0.0 <= state.learnt.split <= 1.0:
        raise DataError("a split outside 0 to 1")
    if state.classes.dtype.kind not in "biufU" or np.unique(state.classes).size != state.classes.size:
        raise DataError("values that are no plain numbers or text, or stand twice")
    if state.items is None:
        return
    if state.items.shape != (state.n_items,) or any(type(item) not in PLAIN_TYPES for item in state.items.tolist()):
        raise DataError("items and models of different sizes, or items that are no plain numbers or text")


def _seen(salt: str, marks: NDArray[Any]) -> SeenUsers:
    found = SeenUsers(bytes.fromhex(salt), marks)
    if len(found.salt) != SALT_BYTES or marks.dtype != np.uint64 or marks.ndim != 1:
        raise DataError("hashes of users that are none")
    return found


def _model(name: str, kind: str, tensors: Mapping[str, NDArray[Any]]) -> Classifier:
    prefix = f"{name}."
    parts = {key.removeprefix(prefix): array for key, array in tensors.items() if key.startswith(prefix)}
    return CLASSIFIER_KINDS[kind].from_tensors(parts)


def _plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A guard's parameters as JSON knows them."""
    classifier, search, target = (parameters[name] for name in ("classifier", "search", "target"))
    scale = None if parameters["scale"] is None else check_scale(parameters["scale"])
    locked = parameters["locked"]
    return {
        **{name: _plain(parameters[name]) for name in PLAIN},
        "classifier": classifier if isinstance(classifier, str) else type(classifier).__name__,
        "classifier_options": _options(classifier),
        "search": search.name if isinstance(search, NoiseSearch) else search,
        "search_options": search_options(search),
        "target": target if isinstance(target, str) else None,
        "scale": None if scale is None else [scale.lowest, scale.highest, scale.step],
        "locked": None if locked is None else [_plain(item) for item in locked],
        "additions": _pairs(parameters["additions"]),
    }


def _parameters(
    given: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]], models: Mapping[str, Classifier]
) -> dict[str, Any]:
    """The same as AttriGuard's constructor takes them."""
    options, additions = given["classifier_options"], given["additions"]
    # A classifier that the file cannot describe is represented by what it had learnt.
    learnt = models.get("classifier", next(iter(models.values())))
    classifier = given["classifier"] if given["classifier"] in KINDS else learnt
    return {
        **{name: given[name] for name in PLAIN if name in given},
        "classifier": classifier if options is None else NetworkClassifier(**options),
        "search": _search(given["search"], given["search_options"]),
        "target": given["target"] or tensors[TARGET],
        "scale": None if given["scale"] is None else RatingScale(*given["scale"]),
        "locked": given["locked"],
        "additions": dict(additions) if additions and isinstance(additions[0], list) else additions,
    }


def _search(name: str, options: Mapping[str, Any] | None) -> str | NoiseSearch:
    """The search's name, or the search itself where it was given with options."""
    return get_search(name, **options) if options else name


def _options(classifier: Any) -> dict[str, Any] | None:
    """The options of a network that was given as such; a generator as a seed has no place in a file."""
    if not isinstance(classifier, NetworkClassifier):
        return None
    options = {name: _plain(value) for name, value in classifier.get_params().items()}
    return options | {"random_state": options["random_state"] if isinstance(options["random_state"], int) else None}


def _pairs(additions: Any) -> list[Any] | None:
    """JSON knows no mapping with numbers as keys."""
    if additions is None:
        return None
    if isinstance(additions, Mapping):
        return [[_plain(item), float(rating)] for item, rating in additions.items()]
    return [_plain(item) for item in additions]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _from_version_1(
    header: dict[str, Any], tensors: dict[str, NDArray[Any]]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The oldest files have a linear classifier and mislead, and say neither."""
    old = header.get("learnt") or {"goal": "mislead", "split": 0.0, "members": 0}
    kind, members = header.get("classifier_kind", "linear"), int(old["members"])
    models = {} if kind == "ensemble" else {"classifier": kind}
    parts = {"linear": ("coef", "intercept"), "network": ("W1", "b1", "W2", "b2"), "ensemble": ()}[kind]
    renamed = {f"classifier.{part}": tensors[part] for part in parts}
    if members:
        models["ensemble"] = "ensemble"
        renamed |= {f"ensemble.{key}": part for key, part in tensors.items() if key.startswith(("member", "prior"))}
    first = tensors["member0.W1" if kind == "ensemble" else "coef" if kind == "linear" else "W1"]
    parameters = header["parameters"] | {
        name: header.get(name)
        for name in ("classifier", "classifier_options", "search_options", "target", "scale", "locked", "additions")
    }
    learnt = {"goal": old["goal"], "split": old["split"], "counts": header["counts"], "models": models}
    n_items = first.shape[1] if kind == "linear" else first.shape[0]
    upgraded = header | {"parameters": parameters, "learnt": learnt, "n_items": n_items}
    return upgraded, renamed | {TARGET: tensors[TARGET]}
