"""LR-A: multi-class logistic regression."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.attacks.base import Attack

MAX_ITERATIONS = 1000


class Logistic(Attack):
    """Multinomial logistic regression on the entries; ``C`` is the inverse of the strength of its L2 penalty."""

    name = "LR-A"
    plain_name = "logistic regression"
    summary = "multinomial logistic regression on the ratings"

    def __init__(self, *, C: float = 1.0) -> None:
        self.C = C

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        from sklearn.linear_model import LogisticRegression

        self._model = LogisticRegression(C=self.C, max_iter=MAX_ITERATIONS).fit(X, codes)

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        return np.asarray(self._model.predict_proba(X))
