"""Non-negative matrix factorisation of sparse rows: X ≈ U V, by multiplicative updates (Lee and Seung)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

# Keeps a quotient of zeros a zero.
TINY = np.float32(1e-9)
# Rows whose factors are found at a time.
BLOCK = 4096


def factorise(
    X: csr_array, rank: int, *, iterations: int, chance: np.random.Generator, count: Callable[[int], None] | None = None
) -> NDArray[np.float32]:
    """V (rank, items) of the rows. Nothing of the size of a dense X is made; ``count`` is called every iteration."""
    n, n_items = X.shape
    scale = np.float32(np.sqrt(X.data.sum() / (n * n_items) / rank))
    U = scale * chance.random((n, rank), dtype=np.float32) + TINY
    V = scale * chance.random((rank, n_items), dtype=np.float32) + TINY
    columns = csr_array(X.T)
    for _ in range(iterations):
        U *= (X @ V.T) / (U @ (V @ V.T) + TINY)
        _to_zero(U)
        V *= (columns @ U).T / ((U.T @ U) @ V + TINY)
        _to_zero(V)
        if count is not None:
            count(1)
    return V


def factors_of(X: csr_array, V: NDArray[np.float32], *, iterations: int) -> NDArray[np.float32]:
    """U (n, rank) for a given V; a row does not depend on the others, since every row starts from the same point."""
    gram = V @ V.T
    parts = []
    for start in range(0, X.shape[0], BLOCK):
        image = X[start : start + BLOCK] @ V.T
        U = np.ones_like(image)
        for _ in range(iterations):
            U *= image / (U @ gram + TINY)
            _to_zero(U)
        parts.append(U)
    return np.concatenate(parts) if parts else np.empty((0, V.shape[0]), dtype=np.float32)


def _to_zero(factor: NDArray[np.float32]) -> None:
    """Entries that the updates only ever shrink become 0: denormal numbers would slow every product down."""
    factor[factor < TINY] = 0.0
