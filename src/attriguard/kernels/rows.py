"""Rows of a sparse matrix, as the kernels take them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]


def rows_of(X: csr_array) -> Rows:
    """The three arrays of a checked CSR matrix: indptr, indices, data."""
    return X.indptr.astype(np.int64, copy=False), X.indices, X.data
