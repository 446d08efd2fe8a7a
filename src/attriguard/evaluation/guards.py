"""Guards that were learnt before, kept by content beside the predictions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from attriguard._progress import Progress
from attriguard.classifiers.factory import NETWORK
from attriguard.errors import DataError, GuardFileError
from attriguard.evaluation.cache import Cache, key_of
from attriguard.goals import MISLEAD
from attriguard.guard import AttriGuard
from attriguard.storage import load_guard

LEARNT = ("classifier_", "ensemble_", "split_", "goal_", "classes_", "counts_", "values_", "items_", "n_features_in_")


def fit_kept(
    guard: AttriGuard, X: csr_array, y: ArrayLike, cache: Cache | None, progress: Progress | None = None
) -> AttriGuard:
    """The guard, fitted: by what the same guard learnt from the same users before, if that is in the cache."""
    file = None if cache is None else _file(guard, X, y, cache)
    if file is None:
        return guard.fit(X, y, progress=progress)
    try:
        known = load_guard(file)
    except (GuardFileError, DataError):  # a damaged one counts as missing
        file.parent.mkdir(parents=True, exist_ok=True)
        guard.fit(X, y, progress=progress).save(file)
        known = load_guard(file)  # as it is read again, so that a first run and a second one are alike
    for name in LEARNT:
        setattr(guard, name, getattr(known, name))
    return guard


def _file(guard: AttriGuard, X: csr_array, y: ArrayLike, cache: Cache) -> Path | None:
    """None for a guard that unseeded chance has a part in, or whose classifier is too large to keep, or foreign."""
    seeded = guard.goal == MISLEAD or isinstance(guard.random_state, (int, np.integer))
    if not seeded or not isinstance(guard.classifier, str) or guard.classifier == NETWORK:
        return None
    key = key_of("guard", guard.get_params(deep=False), X, np.asarray(y))
    return None if key is None else cache.folder / "guards" / f"{key}.guard"
