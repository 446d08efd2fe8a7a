"""Small domains for the game of appendix A: their points, the joint distribution in data, a guard's channel."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import UNDISCLOSED, check_count, check_labels, check_matrix
from attriguard.defenses.game_size import MAX_VARIABLES, check_size
from attriguard.errors import DataError, ParameterError
from attriguard.plan import Plan


def grid_points(
    n_items: int, levels: int, *, n_values: int = 2, max_variables: int = MAX_VARIABLES
) -> NDArray[np.float32]:
    """All vectors of n_items entries 0, 1/levels, … 1, the last entry changing fastest: (levels + 1) ** n_items rows.

    Refused where the program for ``n_values`` values of the attribute would have more than ``max_variables`` variables.
    """
    n_items = check_count(n_items, name="n_items")
    levels = check_count(levels, name="levels")
    check_size((levels + 1) ** n_items, n_values, max_variables)
    return np.array(list(product(np.arange(levels + 1), repeat=n_items)), dtype=np.float32) / np.float32(levels)


def separating_items(X: csr_array, y: ArrayLike, n_items: int) -> NDArray[np.int64]:
    """The columns that separate the values of the attribute best by chi-square, the best first."""
    from sklearn.feature_selection import chi2

    X = check_matrix(X)
    n_items = check_count(n_items, name="n_items", high=X.shape[1])
    _, codes = check_labels(y, X.shape[0])
    disclosed, rated = codes != UNDISCLOSED, np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))
    scores = np.full(X.shape[1], -1.0)  # an item that nobody rated has no score
    scores[rated] = np.nan_to_num(chi2(X[disclosed][:, rated], codes[disclosed])[0])
    return np.argsort(-scores, kind="stable")[:n_items]


def empirical_joint(X: csr_array, y: ArrayLike, points: ArrayLike) -> NDArray[np.float64]:
    """(m, points): the share of users with each value at each point; the columns of X are those of the points.

    Users who do not disclose the attribute are left out.
    """
    X = check_matrix(X)
    domain = np.asarray(points, dtype=np.float32)
    classes, codes = check_labels(y, X.shape[0])
    disclosed = codes != UNDISCLOSED
    at = locate(X[disclosed], domain)
    joint = np.zeros((classes.size, domain.shape[0]))
    np.add.at(joint, (codes[disclosed], at), 1.0)
    return joint / joint.sum()


def plan_channel(plan: Plan, points: ArrayLike) -> NDArray[np.float64]:
    """(points, points): f(x'|x) of a guard, from its plan over all points: ``guard.plan(csr_array(points))``."""
    domain = np.asarray(points, dtype=np.float32)
    n = domain.shape[0]
    if plan.X.shape != domain.shape or (locate(plan.X, domain) != np.arange(n)).any():
        raise ParameterError(
            f"the plan must be one for the {n:,} points, in their order: guard.plan(csr_array(points))"
        )
    channel = np.zeros((n, n))
    for value in range(plan.edits.m):
        drawn = plan.probabilities[:, value]
        channel[np.arange(n), locate(plan.candidate(value), domain)] += drawn
    return channel


def locate(X: csr_array, points: NDArray[np.float32]) -> NDArray[np.int64]:
    """Every row's number among the points."""
    if points.ndim != 2 or X.shape[1] != points.shape[1]:
        raise DataError(f"the points must have {X.shape[1]:,} columns, one an item, got shape {points.shape}")
    known = {_key(point): row for row, point in enumerate(points)}
    at = [known.get(_key(row), -1) for row in X.toarray()]
    missing = at.count(-1)
    if missing:
        raise DataError(
            f"{missing:,} of {len(at):,} rows lie outside the domain; take the points of the data's grid, and give the "
            "guard the same scale"
        )
    return np.array(at, dtype=np.int64)


def _key(point: NDArray[np.float32]) -> bytes:
    """Entries to a ten-thousandth: the same level may have been rounded in different ways."""
    return np.rint(np.asarray(point, dtype=np.float64) * 10_000).astype(np.int32).tobytes()
