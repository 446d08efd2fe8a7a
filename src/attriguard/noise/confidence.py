"""Confidence κ: how far the value shall lead before the search is content.

Once the budget exceeds Σ p_i·cost_i, Phase II leaves the rest of it unused. ``"auto"`` spends it on transferability:
every user gets the largest κ of a ladder whose expected cost still fits. A κ that was asked for can make even the value
that C infers now cost noise; who cannot afford any value then goes without a lead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attriguard._checks import check_number
from attriguard.errors import ParameterError
from attriguard.mechanism.solver import unaffordable
from attriguard.noise.edits import Edits

AUTO = "auto"
# In units of the decision functions; the log-odds of a logistic regression.
LADDER = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)


def check_confidence(confidence: Any) -> float | None:
    """κ as a number, or None for "auto"."""
    if isinstance(confidence, str):
        if confidence != AUTO:
            raise ParameterError(f"confidence must be a number, 0 or more, or {AUTO!r}, got {confidence!r}")
        return None
    return check_number(confidence, name="confidence", low=0.0)


def affordable_noise(find: Callable[[ArrayLike], Edits], kappa: float, budget: NDArray[np.float64]) -> Edits:
    """Noise that leads by κ; for users whose cheapest would exceed their budget, noise without a lead."""
    edits = find(kappa)
    short = unaffordable(edits.costs_in_reach, budget)
    return find(np.where(short, 0.0, kappa)) if short.any() else edits


def fitting_confidence(
    find: Callable[[ArrayLike], Edits], target: NDArray[np.float64], budget: NDArray[np.float64]
) -> NDArray[np.float64]:
    """For every user the largest κ of the ladder at which all values stay within reach and Σ p_i·cost_i in budget."""
    plain = find(0.0)
    kappa = np.zeros(plain.n_users)
    climbing = np.ones(plain.n_users, dtype=np.bool_)
    for rung in LADDER:
        edits = find(np.where(climbing, rung, 0.0))
        lost = (plain.success & ~edits.success).any(axis=1)
        weight = np.where(edits.success, target, 0.0)
        expected = (weight * edits.cost).sum(axis=1) / np.maximum(weight.sum(axis=1), np.finfo(float).tiny)
        # The noise only grows with κ: who does not fit on this rung will not fit on a higher one.
        climbing &= ~lost & (expected <= budget)
        kappa[climbing] = rung
        if not climbing.any():
            break
    return kappa
