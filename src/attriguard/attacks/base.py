"""The base of all attacks: it checks what comes in; an attack writes `_fit` and `_predict_proba`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import UNDISCLOSED, check_labels, check_matrix
from attriguard.errors import NotFittedError


class Attack(ABC):
    """A classifier that infers the private attribute from public data."""

    name: ClassVar[str]  # as in the paper
    summary: ClassVar[str]  # for tables: what it is, in a few words

    def fit(self, X: csr_array, y: ArrayLike) -> Attack:
        """Learn from users who disclose the attribute (-1: they do not, and are left out)."""
        X = check_matrix(X)
        classes, codes = check_labels(y, X.shape[0])
        disclosed = codes != UNDISCLOSED
        self.classes_: NDArray[Any] = classes
        self.n_items_ = X.shape[1]
        self._fit(X[disclosed], codes[disclosed])
        return self

    def predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        """(n, m): how sure the attack is of each of ``classes_``."""
        if not hasattr(self, "classes_"):
            raise NotFittedError(f"{self.name} has not been trained yet: call fit(X, y) first")
        sure = np.asarray(self._predict_proba(check_matrix(X, n_items=self.n_items_)), dtype=np.float64)
        return sure / sure.sum(axis=1, keepdims=True)

    def predict(self, X: csr_array) -> NDArray[Any]:
        """The value the attack infers for every user."""
        sure = self.predict_proba(X)
        return self.classes_[np.argmax(sure, axis=1)]

    @abstractmethod
    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        """Learn from codes 0 … m - 1, each of which occurs."""

    @abstractmethod
    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        """(n, m) probabilities, up to a factor a row."""
