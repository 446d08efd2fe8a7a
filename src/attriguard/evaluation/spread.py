"""How a guard's changes are spread over users."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attriguard.plan import Plan

# So many changes of a user are counted together with more.
MANY_CHANGES = 10


@dataclass(frozen=True)
class Spread:
    """How the guard's changes are spread over users, in expectation over the draw; nothing about a single user."""

    sizes: tuple[tuple[str, float], ...]  # "2 changes", and the share of users who get as many
    added: float  # changes of each kind a user, on average
    removed: float
    rated_anew: float


def spread_of(plan: Plan) -> Spread:
    """How many changes users get, and of which kind."""
    n, m = plan.probabilities.shape
    sizes = np.diff(plan.edits.indptr).reshape(n, m)
    shares = np.bincount(np.minimum(sizes, MANY_CHANGES).ravel(), plan.probabilities.ravel(), MANY_CHANGES + 1) / n
    pair = np.repeat(np.arange(n * m), sizes.ravel())
    user, weight = pair // m, plan.probabilities.ravel()[pair] / n
    # Without any edit, scipy's empty selection is sparse, and no array.
    had = np.asarray(plan.X[user, plan.edits.items]).ravel() > 0 if user.size else np.zeros(0, dtype=np.bool_)
    gone = plan.edits.values == 0
    return Spread(
        sizes=tuple((_changes(k), float(share)) for k, share in enumerate(shares)),
        added=float(weight[~had].sum()),
        removed=float(weight[had & gone].sum()),
        rated_anew=float(weight[had & ~gone].sum()),
    )


def _changes(k: int) -> str:
    if k == MANY_CHANGES:
        return f"{k} changes or more"
    return "no change" if k == 0 else f"{k} change{'s' * (k > 1)}"
