"""Target distributions p (section 5.1.3): what the attacker shall be left with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from attriguard._checks import check_choice, check_distribution

TARGETS = ("train", "uniform")


def make_target(target: Any, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """``"uniform"`` p_u, ``"train"`` p_t from the number of training users of each value, or an array.

    With a joint attribute the values are combinations, so p_t is the joint distribution of the attributes.
    """
    m = counts.size
    if not isinstance(target, str):
        return check_distribution(target, m)
    check_choice(target, TARGETS, name="target")
    return np.full(m, 1.0 / m) if target == "uniform" else counts / counts.sum()
