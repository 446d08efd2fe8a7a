"""The error of an estimator that is used before ``fit``: of attriguard's family of errors and of scikit-learn's."""

from __future__ import annotations

from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from attriguard.errors import NotFittedError


class EstimatorNotFittedError(NotFittedError, SklearnNotFittedError):
    """A guard, an attack or a defense was used before ``fit``."""
