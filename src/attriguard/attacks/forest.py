"""RF-A: a random forest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_rng
from attriguard.attacks.base import Attack


class Forest(Attack):
    """A random forest of ``n_trees`` trees, grown on all processors."""

    name = "RF-A"
    plain_name = "random forest"
    summary = "a random forest on the ratings"

    def __init__(self, *, n_trees: int = 100, random_state: int | np.random.Generator | None = None) -> None:
        self.n_trees = n_trees
        self.random_state = random_state

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        from sklearn.ensemble import RandomForestClassifier

        seed = int(check_rng(self.random_state).integers(2**31))
        self._model = RandomForestClassifier(self.n_trees, n_jobs=-1, random_state=seed).fit(X, codes)

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        return np.asarray(self._model.predict_proba(X))
