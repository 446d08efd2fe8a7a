"""Types of arrays, and rows of a sparse matrix in forms that need no cleverness."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]


def dense(indptr: Ints, indices: Ints, data: Floats, n_items: int) -> NDArray[np.float64]:
    """The whole matrix, zeros included."""
    X = np.zeros((indptr.size - 1, n_items))
    for u in range(X.shape[0]):
        X[u, indices[indptr[u] : indptr[u + 1]]] = data[indptr[u] : indptr[u + 1]]
    return X


def entries(indptr: Ints, indices: Ints, data: Floats, row: int) -> dict[int, Any]:
    """One row as item → entry."""
    span = slice(int(indptr[row]), int(indptr[row + 1]))
    return dict(zip(indices[span].tolist(), data[span], strict=True))
