"""Confidence κ: how far the value shall lead before the search is content.

Once the budget exceeds Σ p_i·cost_i, Phase II leaves the rest of it unused. ``"auto"`` spends it on transferability:
every user gets the largest κ of a ladder whose expected cost still fits. A fixed κ can make even the value that C
infers now cost noise; a user who cannot afford any value then gets noise without a lead.
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
from attriguard.progress import Progress

AUTO = "auto"
# In units of the decision functions; the log-odds of a logistic regression.
LADDER = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)

# Phase I for a κ, one number or one a user.
Find = Callable[[ArrayLike, Progress], Edits]


def check_confidence(confidence: Any, *, otherwise: float | str = 0.0) -> float | None:
    """κ as a number, or None for "auto"; ``otherwise`` where nothing was asked for."""
    asked = otherwise if confidence is None else confidence
    if isinstance(asked, str):
        if asked != AUTO:
            raise ParameterError(f"confidence must be a number, 0 or more, or {AUTO!r}, got {asked!r}")
        return None
    return check_number(asked, name="confidence", low=0.0)


def noise_within(
    find: Find, kappa: float | None, target: NDArray[np.float64], budget: NDArray[np.float64], progress: Progress
) -> Edits:
    """Noise with a lead of κ; None: with the largest lead that the budget pays for."""
    if kappa is None:
        climbing, last = progress.parts(len(LADDER) + 1, 1)
        return find(fitting_confidence(find, target, budget, climbing), last)
    return affordable_noise(find, kappa, budget, progress) if kappa else find(0.0, progress)


def affordable_noise(find: Find, kappa: float, budget: NDArray[np.float64], progress: Progress) -> Edits:
    """Noise that leads by κ; for users whose cheapest would exceed their budget, noise without a lead."""
    first, again = progress.parts(1, 1)
    edits = find(kappa, first)
    short = unaffordable(edits.costs_in_reach, budget)
    return find(np.where(short, 0.0, kappa), again) if short.any() else edits


def fitting_confidence(
    find: Find, target: NDArray[np.float64], budget: NDArray[np.float64], progress: Progress
) -> NDArray[np.float64]:
    """For every user the largest κ of the ladder at which all values stay within reach and Σ p_i·cost_i in budget."""
    first, *rungs = progress.parts(*np.ones(len(LADDER) + 1))
    plain = find(0.0, first)
    kappa = np.zeros(plain.n_users)
    climbing = np.ones(plain.n_users, dtype=np.bool_)
    for rung, part in zip(LADDER, rungs, strict=True):
        edits = find(np.where(climbing, rung, 0.0), part)
        lost = (plain.success & ~edits.success).any(axis=1)
        weight = np.where(edits.success, target, 0.0)
        expected = (weight * edits.cost).sum(axis=1) / np.maximum(weight.sum(axis=1), np.finfo(float).tiny)
        # Noise grows with κ, so a user who exceeds the budget at this κ exceeds it at every larger κ.
        climbing &= ~lost & (expected <= budget)
        kappa[climbing] = rung
        if not climbing.any():
            break
    return kappa
