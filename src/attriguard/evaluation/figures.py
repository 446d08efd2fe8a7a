"""How figures and their intervals are written."""

from __future__ import annotations

import numpy as np


def rounded(value: float, digits: int = 4) -> float:
    """A plain number with as many digits as a record keeps."""
    return round(float(value), digits)


def interval(figures: np.ndarray) -> np.ndarray:
    """Half the width of Student's 95 % interval of the mean over rows; 0 for a single one."""
    from scipy.stats import t

    n = figures.shape[0]
    if n < 2:
        return np.zeros(figures.shape[1])
    return np.asarray(t.ppf(0.975, n - 1) * figures.std(axis=0, ddof=1) / np.sqrt(n))
