"""A guard packed for a page: a card, which is JSON, and its weights as small integers.

Each row of a matrix (an item's weights) has one scale, and a weight is scale · integer, rounded to float32. Measured on
the twin, 16 bits this way miss a score by 0.0002 at most, a tenth of what float16 misses; 8 bits miss a posterior of
the ensemble by 0.0013 at most. `unpack` gives the guard back with exactly the weights that the page has.

Nothing goes in that a person's page does not need: no users, no counts (shares in ten-thousandths instead), and of the
metadata only what is meant for everybody.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attriguard._text import bare_name
from attriguard.classifiers.base import Classifier
from attriguard.classifiers.ensemble import Ensemble
from attriguard.classifiers.linear import LinearClassifier
from attriguard.classifiers.weights import Weights
from attriguard.data.scale import RatingScale, check_scale
from attriguard.errors import ParameterError
from attriguard.goals import GOALS, Learnt
from attriguard.goals.mislead import CLASSIFIER
from attriguard.guard import AttriGuard
from attriguard.noise.registry import get as get_search
from attriguard.noise.removals import GUESSED_SHARE, TRIED, addition_pool

FORMAT, VERSION = "attriguard page", 1
# Shares of the values are told in so many parts: no finer, since exact counts would tell about single users.
PARTS = 10_000
# Bits of a linear classifier's weights and of the ensemble's first layer, which is nearly all of it.
LINEAR_BITS, FIRST_LAYER_BITS = 16, 8
# Members of the ensemble that go into a page. Twin, goal conceal, 4 changes, four divisions of the users that had no
# part in this choice: with 4 members of 8 bits instead of 8 whole ones, a retrained LR is right about 0.20 points more
# of the users (standard error 0.20), and a retrained MLP about 0.03 points more (0.02), of about 22 % and 26 %.
MEMBERS = 4
# What a page's search does; a guard that asks for anything else is refused.
SEARCHES = ("probability", "margin")
DEFAULTS = {"step": 1.0, "maxiter": None, "confidence": None, "cost": "l0"}
# Of the metadata, what everybody may read.
PUBLIC = ("data", "users", "date", "licence", "measured")
YEAR = re.compile(r"^(.*\S)\s*\((\d{4})\)$")


@dataclass(frozen=True, eq=False)
class Packed:
    """A guard as a page holds it."""

    card: dict[str, Any]
    weights: bytes


def pack(guard: AttriGuard, *, titles: Sequence[str] | None = None, members: int = MEMBERS) -> Packed:
    """The guard's card and weights; ``titles`` are what people call the items, and may end with "(year)"."""
    check_packable(guard)
    models: dict[str, Any] = {}
    buffer = bytearray()
    for name, model in guard.learnt_.models.items():
        if isinstance(model, LinearClassifier):
            models[name] = _pack_linear(model, buffer) | {"each": guard.classifier == "lr-ova"}
        elif isinstance(model, Ensemble):
            models[name] = _pack_ensemble(model, members, buffer)
    card = {
        "format": FORMAT,
        "version": VERSION,
        "attribute": str(guard.metadata_.get("attribute", "")),
        "context": bare_name(str(guard.metadata_.get("attribute", ""))),
        "values": list(guard.values_),
        "items": _items(guard, titles),
        **_settings(guard),
        "shares": shares(guard.counts_).tolist(),
        "models": models,
        "tried": TRIED,
        "guessed": GUESSED_SHARE,
        "about": {name: _told(guard.metadata_[name]) for name in PUBLIC if name in guard.metadata_},
    }
    page_guard = unpack(card, bytes(buffer))
    card["target"] = page_guard.target_.tolist()
    ensemble = page_guard.ensemble_
    if ensemble is not None and not page_guard.planner().settings.constraints.policy.modify:
        card["pool"] = addition_pool(ensemble, page_guard.planner().settings.constraints).tolist()
    card["about"]["sha256"] = fingerprint(card, bytes(buffer))
    return Packed(card, bytes(buffer))


def fingerprint(card: Mapping[str, Any], weights: bytes) -> str:
    """SHA-256 of what a page holds, so that two pages can be told apart."""
    text = json.dumps({name: part for name, part in card.items() if name != "about"}, sort_keys=True)
    return hashlib.sha256(text.encode() + weights).hexdigest()


def unpack(card: Mapping[str, Any], weights: bytes) -> AttriGuard:
    """The page's own guard, with the very weights that its search works on."""
    models: dict[str, Classifier] = {}
    for name, parts in card["models"].items():
        models[name] = _linear(parts, weights) if name == CLASSIFIER else _ensemble(parts, weights, card["shares"])
    ids, scale = np.array(card["items"]["ids"]), card["scale"]
    ratings = None if scale is None else RatingScale(scale["low"], scale["high"], scale["step"])
    guard = AttriGuard(
        goal=card["goal"], search=card["search"], policy=card["policy"]["name"], target=card.get("target", card["aim"]),
        budget=card["budget"], scale=ratings, locked=ids[card["locked"]].tolist() or None,
        additions=_additions(card["additions"], ids, ratings), split=card["split"],
    )  # fmt: skip
    learnt = card["learnt"]
    guard.learnt_ = Learnt(learnt["goal"], models, np.array(card["shares"], dtype=np.int64), learnt["split"])
    guard.values_ = tuple(card["values"])
    guard.classes_ = np.arange(len(guard.values_))
    guard.items_, guard.n_features_in_ = ids, ids.size
    guard.seen_ = guard.habits_ = guard.price_ = None
    guard.metadata_ = {"attribute": card["attribute"], **card["about"]}
    return guard


def check_packable(guard: AttriGuard) -> None:
    """Refuse a guard whose search a page cannot do."""
    planner = guard.planner()  # refuses one that is not fitted
    classifier = guard.learnt_.models.get(CLASSIFIER)
    if classifier is not None and not isinstance(classifier, LinearClassifier):
        raise ParameterError("a page holds a linear classifier, not a network; learn the guard with classifier='lr'")
    search = planner.settings.search
    if search not in map(get_search, SEARCHES):  # one with options is another search
        asked = search if search.name in SEARCHES else repr(search.name)
        raise ParameterError(f"a page searches with {' or '.join(map(repr, SEARCHES))}, not {asked}; learn it so")
    for name, usual in DEFAULTS.items():
        if getattr(guard, name) != usual:
            raise ParameterError(f"a page knows {name}={usual!r} alone, got {getattr(guard, name)!r}; learn it so")


def shares(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """How frequent each value is, in ten-thousandths: at least one where anybody has it, and 10,000 together."""
    exact = counts / counts.sum() * PARTS
    whole = np.maximum(np.floor(exact), counts > 0).astype(np.int64)
    left = PARTS - int(whole.sum())
    if left < 0:  # many values that hardly anybody has: the most frequent one pays
        whole[np.argmax(whole)] += left
    else:
        whole[np.argsort(whole - exact, kind="stable")[:left]] += 1  # who lost most by rounding comes first
    return whole


def rounded(count: int) -> int:
    """A number of users to two digits: who is among them cannot be told from it."""
    return round(count, min(0, 2 - len(str(count))))


def measured_words(figures: Mapping[str, Any]) -> str:
    """What was measured with the guard, in a sentence."""
    return (
        f"of {figures['users']:,} users that it did not learn from, its own classifier is right about "
        f"{figures['before']:.0%} ({figures['guess']:.0%} by guessing), and about {figures['after']:.0%} after "
        f"{figures['changes']:g} changes that conceal"
    )


def _told(fact: Any) -> str:
    """A fact of the metadata as text; figures as a sentence."""
    if isinstance(fact, Mapping) and {"users", "before", "guess", "after", "changes"} <= set(fact):
        return measured_words(fact)
    return f"{fact:,}" if isinstance(fact, int) else str(fact)


def title_and_year(text: str) -> tuple[str, int | None]:
    """ "Piano, The (1993)" as its title and its year; None where it ends with none."""
    found = YEAR.match(text.strip())
    return (found.group(1), int(found.group(2))) if found else (text.strip(), None)


def _items(guard: AttriGuard, titles: Sequence[str] | None) -> dict[str, Any]:
    ids = np.arange(guard.n_features_in_) if guard.items_ is None else guard.items_
    names = ids.tolist() if titles is None else list(titles)
    if len(names) != ids.size:
        raise ParameterError(f"titles must name the guard's {ids.size:,} items, got {len(names):,}")
    split = [title_and_year(str(name)) for name in names]
    years = [year for _, year in split]
    return {
        "ids": [str(each) for each in ids.tolist()],
        "titles": [title for title, _ in split],
        "years": years if any(year is not None for year in years) else None,
    }


def _settings(guard: AttriGuard) -> dict[str, Any]:
    """What the guard was asked for, with items as columns."""
    planner = guard.planner()
    constraints, scale = planner.settings.constraints, None if guard.scale is None else check_scale(guard.scale)
    added = np.flatnonzero(constraints.upper > 0).tolist() if constraints.jump else []
    return {
        "goal": guard.goal,
        "goals": [name for name in GOALS if set(GOALS[name].needs) <= set(guard.learnt_.models)],
        "search": planner.settings.search.name,
        "policy": {name: getattr(constraints.policy, name) for name in ("name", "modify", "add")},
        "scale": None if scale is None else {"low": scale.lowest, "high": scale.highest, "step": scale.step},
        "locked": np.flatnonzero(constraints.upper < 0).tolist(),
        "additions": [[j, float(constraints.upper[j])] for j in added] if constraints.jump else None,
        "aim": guard.target if isinstance(guard.target, str) else np.asarray(guard.target, dtype=float).tolist(),
        "budget": planner.settings.budget,
        "split": guard.split,
        "learnt": {"goal": guard.goal_, "split": guard.split_},
    }


def _additions(pairs: list[list[Any]] | None, ids: NDArray[Any], scale: RatingScale | None) -> dict[str, float] | None:
    if pairs is None:
        return None
    return {str(ids[j]): float(entry if scale is None else scale.from_unit(entry)) for j, entry in pairs}


def _pack_linear(model: LinearClassifier, buffer: bytearray) -> dict[str, Any]:
    return {
        "coef": _pack_matrix(model.coef_.T, LINEAR_BITS, buffer),
        "intercept": _pack_vector(model.intercept_, buffer),
    }


def _linear(parts: Mapping[str, Any], weights: bytes) -> LinearClassifier:
    return LinearClassifier(_matrix(parts["coef"], weights).T, _vector(parts["intercept"], weights))


def _pack_ensemble(model: Ensemble, members: int, buffer: bytearray) -> dict[str, Any]:
    kept = _alike(model.fewer(members))
    return {
        "shares": _pack_vector(kept.shares, buffer),
        "ends": kept.ends.tolist(),
        "first": _pack_matrix(kept.W1, FIRST_LAYER_BITS, buffer),
        "first_bias": _pack_vector(kept.b1, buffer),
        "second": _pack_vector(kept.W2_rows.T.ravel(), buffer),
        "second_bias": _pack_vector(kept.b2.ravel(), buffer),
    }


def _ensemble(parts: Mapping[str, Any], weights: bytes, parts_of: Sequence[int]) -> Ensemble:
    ends, m = parts["ends"], len(parts_of)
    W1, b1 = _matrix(parts["first"], weights), _vector(parts["first_bias"], weights)
    W2 = _vector(parts["second"], weights).reshape(-1, m)
    b2 = _vector(parts["second_bias"], weights).reshape(-1, m)
    spans = [slice(low, high) for low, high in pairwise(ends)]
    members = [Weights(W1[:, span], b1[span], W2[span], b2[k]) for k, span in enumerate(spans)]
    return Ensemble(members, np.array(parts_of) / sum(parts_of), _vector(parts["shares"], weights))


def _alike(model: Ensemble) -> Ensemble:
    """The same with first layers that are as large in every member, since an item's weights share one scale.

    What goes into a ReLU may be divided by a number that what comes out of it is multiplied by.
    """
    sizes = [float(np.sqrt(np.square(w.W1, dtype=np.float64).mean())) or 1.0 for w in model.members]
    members = [
        Weights(w.W1 / size, w.b1 / size, w.W2 * size, w.b2) for w, size in zip(model.members, sizes, strict=True)
    ]
    return Ensemble(members, model.prior, model.shares)


def _pack_matrix(matrix: NDArray[Any], bits: int, buffer: bytearray) -> dict[str, Any]:
    """Append a scale a row and the integers; the description says where they are."""
    top = 2 ** (bits - 1) - 1
    scale = (np.abs(matrix).max(axis=1) / top).astype("<f4")
    scale[scale == 0] = 1.0
    whole = np.clip(np.rint(matrix / scale[:, None]), -top, top).astype(f"<i{bits // 8}")
    return {
        "rows": matrix.shape[0],
        "columns": matrix.shape[1],
        "bits": bits,
        "scales": _append(scale, buffer),
        "at": _append(whole, buffer),
    }


def _matrix(part: Mapping[str, Any], weights: bytes) -> NDArray[np.float32]:
    rows, columns, kind = part["rows"], part["columns"], f"<i{part['bits'] // 8}"
    scale = np.frombuffer(weights, "<f4", rows, part["scales"]).astype(np.float64)
    whole = np.frombuffer(weights, kind, rows * columns, part["at"]).reshape(rows, columns)
    return np.ascontiguousarray((whole * scale[:, None]).astype(np.float32))


def _pack_vector(vector: NDArray[Any], buffer: bytearray) -> dict[str, Any]:
    return {"size": int(vector.size), "at": _append(vector.astype("<f4"), buffer)}


def _vector(part: Mapping[str, Any], weights: bytes) -> NDArray[np.float32]:
    return np.frombuffer(weights, "<f4", part["size"], part["at"]).astype(np.float32)


def _append(array: NDArray[Any], buffer: bytearray) -> int:
    """Where the array begins: at a multiple of four bytes, as typed arrays need it."""
    buffer += bytes(-len(buffer) % 4)
    place = len(buffer)
    buffer += np.ascontiguousarray(array).tobytes()
    return place
