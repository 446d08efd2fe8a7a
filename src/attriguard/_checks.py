"""The one place that validates what comes in from outside; every function returns the checked value."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from attriguard.errors import DataError, ParameterError

# The code of a user who does not disclose the attribute.
UNDISCLOSED = -1


def check_matrix(X: Any, *, name: str = "X", n_items: int | None = None) -> csr_array:
    """Public data as a canonical float32 ``csr_array`` with entries in [0, 1]; never changes the caller's matrix.

    ``X`` is a sparse matrix, or anything that NumPy takes for a matrix (an array, a frame, a list of lists).
    """
    X = X if issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise DataError(f"{name} must have two dimensions (users × items), got shape {X.shape}")
    if n_items is not None and X.shape[1] != n_items:
        raise DataError(f"{name} must have {n_items:,} columns (items), as in fit, but has {X.shape[1]:,}")
    if X.dtype.kind not in "fiub":
        raise DataError(f"{name} must hold real numbers, got dtype {X.dtype}")
    matrix = csr_array(X)
    if not (matrix.has_canonical_format and matrix.has_sorted_indices):
        matrix = matrix.copy()
        stored = matrix.nnz
        matrix.sum_duplicates()
        if matrix.nnz != stored:
            raise DataError(f"{name} stores {stored - matrix.nnz} entries twice; one entry a (user, item)")
    data = matrix.data
    if data.size:
        low, high = data.min(), data.max()
        if not (np.isfinite(low) and np.isfinite(high)):
            raise DataError(f"{name} holds NaN or infinite entries; every entry lies in [0, 1]")
        if low < 0 or high > 1:
            negative = "Negative values in data: " if low < 0 else ""  # the words that scikit-learn's checks look for
            raise DataError(
                f"{negative}{name} must have entries in [0, 1], got {low:g} to {high:g}; "
                "a RatingScale maps raw ratings there"
            )
    matrix = csr_array(
        (data.astype(np.float32, copy=False), _as_int32(matrix.indices), _as_index(matrix.indptr)),
        shape=matrix.shape,
    )
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    if matrix.data.size and not matrix.data.all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return matrix


def check_features(estimator: Any, X: Any, *, reset: bool = False) -> csr_array:
    """``check_matrix`` for a scikit-learn estimator, which remembers how many items, and which, it was fitted on.

    Dense data goes through scikit-learn's own checks, so that its errors and conventions are the usual ones.
    """
    from sklearn.utils.validation import validate_data

    try:
        if issparse(X):  # `check_matrix` looks at its entries; here only its columns are compared with those of fit
            validate_data(estimator, X, reset=reset, skip_check_array=True)
        else:
            X = validate_data(estimator, X, reset=reset, dtype="numeric")
    except ValueError as error:
        raise DataError(str(error)) from error
    return check_matrix(X)


def check_fit(estimator: Any, X: Any, y: Any, *, name: str) -> tuple[csr_array, NDArray[Any], NDArray[np.int64]]:
    """What ``fit`` of a scikit-learn estimator gets: X, the values that occur in y, and every user's code among them.

    ``name`` is what errors call the estimator. A column of values is taken, with scikit-learn's warning.
    """
    from sklearn.utils.validation import column_or_1d

    if y is None:
        raise DataError(f"{name} requires y to be passed, but the target y is None")
    rows = check_features(estimator, X, reset=True)
    labels = np.asarray(y)
    is_column = labels.ndim == 2 and labels.shape[1] == 1
    return rows, *check_labels(column_or_1d(labels, warn=True) if is_column else labels, rows.shape[0])


def _as_int32(indices: NDArray[Any]) -> NDArray[np.int32]:
    return indices.astype(np.int32, copy=False)


def _as_index(indptr: NDArray[Any]) -> NDArray[Any]:
    """Row pointers: int32 while they fit (scikit-learn wants that), int64 beyond."""
    return indptr.astype(np.int32 if indptr[-1] < 2**31 else np.int64, copy=False)


def check_choice(value: Any, choices: Iterable[str], *, name: str) -> str:
    """One of the known names."""
    known = list(choices)
    if not isinstance(value, str) or value not in known:
        raise ParameterError(f"unknown {name} {value!r}; known: {', '.join(known)}")
    return value


def check_number(value: Any, *, name: str, low: float, high: float = np.inf, open_low: bool = False) -> float:
    """A finite number in [low, high], or in (low, high] with ``open_low``."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be a number, got {value!r}") from None
    inside = (number > low if open_low else number >= low) and number <= high
    if inside and np.isfinite(number):
        return number
    if high == np.inf:
        allowed = f"be a finite number, {f'above {low:g}' if open_low else f'{low:g} or more'}"
    else:
        allowed = f"lie in {'(' if open_low else '['}{low:g}, {high:g}]"
    raise ParameterError(f"{name} must {allowed}, got {value!r}")


def check_count(value: Any, *, name: str, low: int = 1, high: float = np.inf) -> int:
    """A whole number in [low, high]."""
    number = check_number(value, name=name, low=low, high=high)
    if number != int(number):
        raise ParameterError(f"{name} must be a whole number, got {value!r}")
    return int(number)


def check_budget(budget: ArrayLike, n_users: int) -> NDArray[np.float64]:
    """One budget for everybody, or one a user, as an array of one a user."""
    try:
        values = np.asarray(budget, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"budget must be a number, or one number a user, got {budget!r}") from None
    if values.ndim > 1 or (values.ndim == 1 and values.shape != (n_users,)):
        raise ParameterError(f"budget must be a number or {n_users:,} numbers, one a user, got shape {values.shape}")
    if np.isnan(values).any() or (values < 0).any():
        raise ParameterError("budget must not be negative or NaN: it is the expected cost a user accepts")
    return np.array(np.broadcast_to(values, (n_users,)))


def check_ids(users: ArrayLike, n_users: int) -> NDArray[Any]:
    """Ids of users, one a row."""
    ids = np.asarray(users)
    if ids.shape != (n_users,):
        raise DataError(f"users must have one id a row of X, {n_users:,}, got {ids.size:,}")
    return ids


def check_labels(y: ArrayLike, n_users: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The values that occur, and every user's code among them (-1: undisclosed)."""
    labels = np.asarray(y)
    if labels.shape != (n_users,):
        raise DataError(f"y must have one value a user, {n_users:,}, got shape {labels.shape}")
    if labels.dtype.kind in "OU":  # among names a -1 may be a number, a text, or nothing at all
        labels = np.array([str(UNDISCLOSED) if name is None or name != name else str(name) for name in labels.tolist()])
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all() or (labels != np.rint(labels)).any():
            raise DataError(
                "y must hold value codes (whole numbers, -1 for undisclosed) or names, got fractions or NaN "
                "(a continuous target)"
            )
        labels = labels.astype(np.int64)
    disclosed = labels != (str(UNDISCLOSED) if labels.dtype.kind == "U" else UNDISCLOSED)
    classes = np.unique(labels[disclosed])
    if classes.size < 2:
        raise DataError(
            "the attribute needs at least two values among the users who disclose it, got "
            f"{classes.size} {'class' if classes.size == 1 else 'classes'}; "
            "there is nothing to infer otherwise"
        )
    codes = np.full(n_users, UNDISCLOSED, dtype=np.int64)
    codes[disclosed] = np.searchsorted(classes, labels[disclosed])
    return classes, codes


# How far the entries of a distribution given from outside may sum from 1.
SUM_TOLERANCE = 1e-6


def check_distribution(p: ArrayLike, m: int | None = None) -> NDArray[np.float64]:
    """A target distribution over the m values, summing to 1."""
    try:
        values = np.asarray(p, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("the target distribution p must be an array of numbers") from None
    if values.ndim != 1 or (m is not None and values.shape != (m,)):
        expected = "one number a value" if m is None else f"{m} numbers, one a value"
        raise ParameterError(f"the target distribution p must have {expected}, got shape {values.shape}")
    if not np.isfinite(values).all() or (values < 0).any():
        raise ParameterError("the target distribution p must be finite, with no negative entry")
    total = float(values.sum())
    if abs(total - 1.0) > SUM_TOLERANCE:
        raise ParameterError(f"the target distribution p must sum to 1, but sums to {total:.6g}")
    return values / total


def check_rng(random_state: int | np.random.Generator | None) -> np.random.Generator:
    """A generator: the one given, a seeded one, or one seeded by the operating system's entropy."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None:
        return np.random.Generator(np.random.PCG64DXSM(secrets.randbits(128)))
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool) and random_state >= 0:
        return np.random.Generator(np.random.PCG64DXSM(int(random_state)))
    raise ParameterError(
        f"random_state must be None, a non-negative whole number or a numpy Generator, got {random_state!r}"
    )
