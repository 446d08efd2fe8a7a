"""BlurMe (Weinsberg et al., RecSys 2012), for m values as the AttriGuard paper describes it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.classifiers.linear import fit_linear
from attriguard.defenses.lists import Lists


class BlurMe(Lists):
    """Adds the items with the lowest weights for the user's value in a one-vs-rest logistic regression.

    With two values this is the original's greedy strategy: evidence against one value is evidence for the other.
    """

    name = "BlurMe"
    plain_name = "additions by logistic regression"
    summary = "adds items that a logistic regression holds for other values"
    ladder = (1, 2, 3, 4, 6, 10, 20, 50)

    def _scores(self, X: csr_array, codes: NDArray[np.int64], m: int) -> NDArray[np.float64]:
        self._progress.tell("BlurMe learns")
        return -fit_linear("lr-ova", X, codes).coef_
