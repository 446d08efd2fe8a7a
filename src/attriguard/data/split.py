"""Stratified, seeded splits of users."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attriguard._checks import check_rng
from attriguard.errors import ParameterError


def stratified_test_mask(
    y: NDArray[np.int64], test_size: float, random_state: int | np.random.Generator | None
) -> NDArray[np.bool_]:
    """A share ``test_size`` of every value's users, as a mask (undisclosed users are a stratum of their own).

    The number of test users is round(test_size · n); strata get their share by largest remainder, so that each
    is off by less than one user.
    """
    if not 0.0 < test_size < 1.0:
        raise ParameterError(f"test_size is a share of the users, between 0 and 1, got {test_size}")
    rng = check_rng(random_state)
    strata, counts = np.unique(y, return_counts=True)
    total = round(test_size * y.size)
    exact = counts * (total / max(y.size, 1))
    quota = np.floor(exact).astype(np.int64)
    short = total - int(quota.sum())
    quota[np.argsort(quota - exact, kind="stable")[:short]] += 1
    mask = np.zeros(y.size, dtype=np.bool_)
    for stratum, size in zip(strata, quota, strict=True):
        mask[rng.choice(np.flatnonzero(y == stratum), size=size, replace=False)] = True
    return mask
