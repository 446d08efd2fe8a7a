"""Rows of a sparse matrix, as the kernels take them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.kernels.threads import over_users

Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]
# In place of a level: an entry that is as it was, and one that is not there.
SAME, ABSENT = -1, -2


def rows_of(X: csr_array) -> Rows:
    """The three arrays of a checked CSR matrix: indptr, indices, data."""
    return X.indptr.astype(np.int64, copy=False), X.indices, X.data


def merged(X: csr_array, edits: Rows, chosen: NDArray[np.int64]) -> csr_array:
    """The rows of a matrix with edits put in, each with the row of edits chosen for it; a 0 takes an entry out."""
    from attriguard.kernels.edits import merge_rows, merged_lengths

    n, given = X.shape[0], (*rows_of(X), *edits, chosen)
    lengths, indptr = np.empty(n, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    over_users(n, lambda start, stop: merged_lengths(*given, start, stop, lengths))
    np.cumsum(lengths, out=indptr[1:])
    indices, data = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1], dtype=np.float32)
    over_users(n, lambda start, stop: merge_rows(*given, start, stop, indptr, indices, data))
    narrow = indptr.astype(np.int32) if indptr[-1] < 2**31 else indptr
    result = csr_array((data, indices, narrow), shape=X.shape)
    result.has_sorted_indices = result.has_canonical_format = True
    return result
