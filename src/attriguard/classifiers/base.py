"""What the guard needs of a classifier C: m decision functions, and to know whether they are linear."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.errors import ParameterError


@runtime_checkable
class Classifier(Protocol):
    """A fitted classifier: C_1 … C_m, the inferred value is the arg max (section 3.3)."""

    is_linear: bool  # then it has coef_ (m, items) and intercept_ (m,)
    is_differentiable: bool  # then gradient works

    @property
    def m(self) -> int: ...

    def decision_function(self, X: csr_array) -> NDArray[np.float64]:
        """(n, m): C_i(x) for every user and value."""

    def gradient(self, X: csr_array) -> NDArray[np.float64]:
        """(n, m, items): ∂C_i/∂x_j at every user's data."""


def infer(classifier: Classifier, X: csr_array) -> NDArray[np.int64]:
    """C(x): the index of the value each user's data points to."""
    return np.argmax(classifier.decision_function(X), axis=1).astype(np.int64)


def linear_parts(classifier: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights (items × m) and intercepts (m) of a linear classifier."""
    if not classifier.is_linear:
        raise ParameterError(
            f"this search needs a linear classifier, {type(classifier).__name__} is not; use classifier='lr'"
        )
    return (
        np.ascontiguousarray(np.asarray(classifier.coef_, dtype=np.float64).T),
        np.asarray(classifier.intercept_, dtype=np.float64),
    )
