"""BlurMe (Weinsberg et al., RecSys 2012), for m values as the AttriGuard paper describes it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.classifiers.linear import fit_linear
from attriguard.defenses.lists import Lists


class BlurMe(Lists):
    """Adds the items that speak most against the user's own value in a logistic regression, value against the rest.

    With two values that is the original's greedy strategy: what speaks against one value speaks for the other.
    """

    name = "BlurMe"
    summary = "adds items that a logistic regression holds for other values"
    ladder = (1, 2, 3, 4, 6, 10, 20, 50)

    def _scores(self, X: csr_array, codes: NDArray[np.int64], m: int) -> NDArray[np.float64]:
        self._report("BlurMe learns", 0)
        return -fit_linear("lr-ova", X, codes).coef_
