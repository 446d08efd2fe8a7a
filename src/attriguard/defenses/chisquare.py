"""ChiSquare (Chen et al., PETS 2014): items chosen by the chi-square statistic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.defenses.lists import Lists


class ChiSquare(Lists):
    """Adds the items that users of the same value rate less often than others do, the largest chi-square first."""

    name = "ChiSquare"
    plain_name = "additions by chi-square"
    summary = "adds items that chi-square scores hold for other values"
    ladder = (1, 2, 3, 4, 6, 10, 20, 50)

    def _scores(self, X: csr_array, codes: NDArray[np.int64], m: int) -> NDArray[np.float64]:
        return -signed_chi_square(X, codes, m)


def signed_chi_square(X: csr_array, codes: NDArray[np.int64], m: int) -> NDArray[np.float64]:
    """(m, items): the statistic of the 2 × 2 table "has value i" × "has rated the item".

    It is negative where the users of value i rate the item less often than others do, and 0 for an item that nobody or
    everybody has rated.
    """
    n = X.shape[0]
    raters = np.zeros((m, X.shape[1]))
    np.add.at(raters, (np.repeat(codes, np.diff(X.indptr)), X.indices), 1.0)
    users, rated = np.bincount(codes, minlength=m).astype(np.float64)[:, None], raters.sum(axis=0)
    excess = raters - users * rated / n  # observed minus expected: the same in all four cells, up to its sign
    spread = users * (n - users) * rated * (n - rated) / n**3
    return np.sign(excess) * np.divide(excess**2, spread, out=np.zeros_like(excess), where=spread > 0)
