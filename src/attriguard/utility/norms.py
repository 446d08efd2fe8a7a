"""How much a release differs from the data: the L0 and L2 norm of the noise, user by user."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_matrix
from attriguard.errors import DataError


@dataclass(frozen=True, eq=False, kw_only=True)
class Norms:
    """The norms of every user's noise."""

    l0: NDArray[np.int64]  # how many entries changed
    l2: NDArray[np.float64]  # the Euclidean norm of the changes

    @property
    def mean_l0(self) -> float:
        """Entries changed per user, on average."""
        return float(self.l0.mean())

    @property
    def mean_l2(self) -> float:
        """The Euclidean norm of a user's noise, on average."""
        return float(self.l2.mean())


def norms(X: csr_array, release: csr_array) -> Norms:
    """The norms of every user's noise, ``release - X``.

    Parameters
    ----------
    X
        The ratings before protection: users × items, entries in [0, 1].
    release
        The ratings after it, of the same shape.
    """
    X, release = check_matrix(X), check_matrix(release, name="the release")
    if X.shape != release.shape:
        raise DataError(f"the release must have the shape of X, {X.shape}, got {release.shape}")
    if not X.shape[0]:
        raise DataError("there are no users: X and the release are empty")
    # In double precision a difference of two single ones is exact enough not to vanish.
    noise = csr_array(release.astype(np.float64) - X.astype(np.float64))
    noise.eliminate_zeros()
    squares = csr_array((noise.data**2, noise.indices, noise.indptr), shape=noise.shape)
    l0 = np.diff(noise.indptr).astype(np.int64)
    return Norms(l0=l0, l2=np.sqrt(np.asarray(squares.sum(axis=1)).ravel()))
