"""Guards that were learnt before, kept by content beside the predictions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from attriguard._fingerprint import fingerprint
from attriguard.classifiers.factory import NETWORK
from attriguard.errors import DataError, GuardFileError
from attriguard.evaluation.cache import GUARDS, Cache
from attriguard.goals import get as get_goal
from attriguard.guard import AttriGuard, load_guard
from attriguard.progress import Progress, ProgressLike

LEARNT = ("learnt_", "classes_", "values_", "items_", "n_features_in_", "metadata_", "price_", "habits_", "seen_")


def fit_kept(
    guard: AttriGuard, X: csr_array, y: ArrayLike, cache: Cache | None, progress: ProgressLike = None
) -> AttriGuard:
    """The guard, fitted; it takes over what an equal guard has learnt from the same users, if the cache has that."""
    progress = Progress.of(progress)
    file = None if cache is None else _file(guard, X, y, cache)
    if file is None:
        return guard.fit(X, y, progress=progress)
    try:
        known = load_guard(file)
    except (GuardFileError, DataError):  # a damaged file counts as missing
        file.parent.mkdir(parents=True, exist_ok=True)
        guard.fit(X, y, progress=progress).save(file)
        known = load_guard(file)  # read again, so that a first run and a second run give the same
    for name in LEARNT:
        setattr(guard, name, getattr(known, name))
    return guard


def _file(guard: AttriGuard, X: csr_array, y: ArrayLike, cache: Cache) -> Path | None:
    """None where the guard cannot be kept: it depends on unseeded chance, or its classifier is a network or foreign."""
    seeded = isinstance(guard.random_state, (int, np.integer)) or not get_goal(guard.goal).learns_by_chance
    if not seeded or not isinstance(guard.classifier, str) or guard.classifier == NETWORK:
        return None
    key = fingerprint("guard", guard.get_params(deep=False), X, np.asarray(y))
    return None if key is None else cache.folder / GUARDS / f"{key}.guard"
