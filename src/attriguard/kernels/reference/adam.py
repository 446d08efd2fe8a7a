"""Twin of the step of Adam."""

from __future__ import annotations

import numpy as np

from attriguard.kernels.adam import BETA1, BETA2, EPSILON
from attriguard.kernels.reference.arrays import Floats


def adam_step(
    gradient: Floats, rate: float, decay: float, steps: int,
    weights: Floats, first: Floats, second: Floats,
    start: int, stop: int,
) -> None:  # fmt: skip
    """Algorithm 1 of Kingma and Ba in double precision, with the weight decay added to the gradient."""
    span = slice(start, stop)
    g = gradient[span].astype(np.float64) + decay * weights[span]
    mean = BETA1 * first[span] + (1 - BETA1) * g
    square = BETA2 * second[span] + (1 - BETA2) * g**2
    unbiased_mean, unbiased_square = mean / (1 - BETA1**steps), square / (1 - BETA2**steps)
    weights[span] -= rate * unbiased_mean / (np.sqrt(unbiased_square) + EPSILON)
    first[span], second[span] = mean, square
