"""BA-A: always the most frequent value. No noise changes it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.attacks.base import Attack


class Baseline(Attack):
    """Gives every user the training users' shares of the values, so it infers the most frequent value for everyone."""

    name = "BA-A"
    plain_name = "always the most frequent value"
    summary = "always guesses the most frequent value"
    is_baseline = True

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        counts = np.bincount(codes, minlength=self.classes_.size)
        self._share = counts / counts.sum()

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        return np.tile(self._share, (X.shape[0], 1))
