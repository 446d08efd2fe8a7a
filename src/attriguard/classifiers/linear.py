"""Linear classifiers: the paper's LR-D, and whatever linear model of scikit-learn a user brings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_choice
from attriguard.classifiers.base import Classifier
from attriguard.classifiers.weights import tensor_of
from attriguard.errors import DataError, ParameterError

KINDS = ("lr", "lr-ova")
# The defaults would stop before convergence on data like the paper's.
MAX_ITERATIONS = 1000
# Stronger than scikit-learn's default of 1: the noise found transfers better to other classifiers (docs/findings.md).
INVERSE_REGULARISATION = 0.5
# scikit-learn's default, since the paper gives none for its one-vs-all regression.
ONE_VS_ALL = 1.0


class LinearClassifier(Classifier):
    """C_i(x) = coef_[i] · x + intercept_[i]."""

    is_linear = True
    kind: ClassVar[str] = "linear"

    def __init__(self, coef: ArrayLike, intercept: ArrayLike) -> None:
        self.coef_ = np.ascontiguousarray(coef, dtype=np.float64)
        self.intercept_ = np.ascontiguousarray(intercept, dtype=np.float64)
        if self.coef_.ndim != 2 or self.intercept_.shape != self.coef_.shape[:1]:
            raise ParameterError(
                f"a linear classifier has weights (m, items) and intercepts (m,), got {self.coef_.shape} and "
                f"{self.intercept_.shape}"
            )
        if not (np.isfinite(self.coef_).all() and np.isfinite(self.intercept_).all()):
            raise DataError("the classifier's weights are not finite; did its training converge?")

    @property
    def m(self) -> int:
        """The number of values: one row of weights each."""
        return self.coef_.shape[0]

    @property
    def n_items(self) -> int:
        """The number of items: one column of weights each."""
        return self.coef_.shape[1]

    def decision_function(self, X: csr_array) -> NDArray[np.float64]:
        """(n, m): X coef_ᵀ + intercept_; for a logistic regression the log-odds, or the softmax's outputs."""
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def tensors(self) -> dict[str, NDArray[Any]]:
        """The weights ("coef") and the intercepts ("intercept")."""
        return {"coef": self.coef_, "intercept": self.intercept_}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, NDArray[Any]]) -> Self:
        """The classifier of a guard file; shapes and finiteness are checked."""
        return cls(tensor_of(tensors, "coef"), tensor_of(tensors, "intercept"))


def fit_linear(estimator: Any, X: csr_array, y: NDArray[np.int64]) -> LinearClassifier:
    """Learn from codes 0 … m - 1, each of which occurs.

    ``estimator``: "lr" (multinomial logistic regression), "lr-ova" (one-vs-all, as in the paper), or a linear
    classifier of scikit-learn, which is cloned, not changed.
    """
    from sklearn.base import clone

    model = make_estimator(estimator) if isinstance(estimator, str) else clone(estimator)
    model.fit(X, y)
    return as_linear(model, m=int(y.max()) + 1)


def make_estimator(kind: str, strength: float | None = None) -> Any:
    """scikit-learn's estimator behind "lr" or "lr-ova", not fitted yet; ``strength`` is its C, if not the default."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    check_choice(kind, KINDS, name="classifier")
    if kind == "lr-ova":
        return OneVsRestClassifier(
            LogisticRegression(C=strength or ONE_VS_ALL, solver="liblinear", max_iter=MAX_ITERATIONS)
        )
    return LogisticRegression(C=strength or INVERSE_REGULARISATION, max_iter=MAX_ITERATIONS)


def as_linear(model: Any, *, m: int) -> LinearClassifier:
    """The weights of a fitted linear model; for two values C_1 = -C_2, as the paper says."""
    if hasattr(model, "estimators_") and not hasattr(model, "coef_"):
        parts = model.estimators_
        if not all(hasattr(part, "coef_") for part in parts):
            raise ParameterError(f"{type(model).__name__} is not made of linear classifiers")
        coef = np.vstack([part.coef_ for part in parts])
        intercept = np.concatenate([np.atleast_1d(part.intercept_) for part in parts])
    elif hasattr(model, "coef_") and hasattr(model, "intercept_"):
        coef, intercept = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    else:
        raise ParameterError(
            "classifier must be 'lr', 'lr-ova', 'nn', a NetworkClassifier, a torch.nn.Module or a linear classifier of "
            f"scikit-learn (with coef_ and intercept_), got {type(model).__name__}"
        )
    coef = coef.toarray() if hasattr(coef, "toarray") else coef
    if m == 2 and coef.shape[0] == 1:
        coef, intercept = np.vstack([-coef, coef]), np.concatenate([-intercept, intercept])
    if coef.shape[0] != m:
        raise ParameterError(
            f"the classifier has {coef.shape[0]} decision functions for {m} values; one a value is needed"
        )
    return LinearClassifier(coef, intercept)
