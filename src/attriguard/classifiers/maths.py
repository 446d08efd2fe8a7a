"""The softmax and its logarithm, row by row; the one place that writes them out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def softmax(scores: NDArray[Any]) -> NDArray[Any]:
    """(n, m): the shares exp(score) / Σ exp(score) of each row, in the precision of the scores."""
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))


def log_softmax(scores: NDArray[Any]) -> NDArray[Any]:
    """(n, m): the logarithm of `softmax`, which stays finite where a share underflows to 0."""
    scores = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))
