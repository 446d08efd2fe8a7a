"""Curves as tidy rows: one row a figure, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attriguard.evaluation.accuracy import Z95, Curve

ACCURACY = "accuracy"


def half_width(share: float, n_users: int) -> float:
    """Half the width of the 95 % interval of a share of users."""
    return float(Z95 * np.sqrt(share * (1 - share) / n_users))


def curve_rows(
    curves: Sequence[Curve], *, retrained: bool = False, own_users: bool = False, **where: Any
) -> list[dict[str, Any]]:
    """Every point of every curve. ``where``: columns that are the same in all rows, such as the goal.

    Budget 0 is the data as it is. ``interval`` is half the width of a 95 % interval over users. ``own_users``: the
    attacker learnt from other users than the guard; the same attack may have been measured in both ways.
    """
    rows = []
    for curve in curves:
        points = list(zip(curve.budgets, curve.accuracy, curve.expected_cost, curve.margin(), strict=True))
        if curve.before is not None and curve.budgets[0] != 0:
            points.insert(0, (0.0, curve.before, 0.0, half_width(curve.before, curve.n_users)))
        for budget, accuracy, changes, interval in points:
            rows.append(
                {
                    "figure": ACCURACY,
                    "attack": curve.attack,
                    "retrained": retrained,
                    "own_users": own_users,
                    **where,
                    "budget": float(budget),
                    "changes": float(changes),
                    "value": float(accuracy),
                    "interval": float(interval),
                    "users": curve.n_users,
                }
            )
    return rows
