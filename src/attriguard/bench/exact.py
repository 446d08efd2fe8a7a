"""How far the greedy searches are from the smallest noise there is."""

from __future__ import annotations

import numpy as np

from attriguard.bench.measure import Figure
from attriguard.data.public_data import PublicData
from attriguard.progress import Progress, ProgressLike

TIME_LIMIT = 10.0  # seconds a (user, value)
# How many times the smallest noise, at most.
CEILINGS = {"probability": 1.02, "margin": 1.25, "panda": 1.25}


def run(data: PublicData, *, users: int = 4, seed: int = 0, progress: ProgressLike = None) -> list[Figure]:
    """Mean L0 of the greedy searches as a share of the exact minimum's, on all values of a few random users."""
    from attriguard.guard import AttriGuard
    from attriguard.noise.exact import Exact

    train, test = data.split()
    guard = AttriGuard(scale=data.scale).fit(train.X, train.y)
    X = test.X[np.sort(np.random.default_rng(seed).choice(test.n_users, users, replace=False))]
    Progress.of(progress).tell("the smallest noise")
    exact = guard.set_params(search=Exact(TIME_LIMIT)).plan(X)
    proven = exact.edits.bound == exact.cost if exact.edits.bound is not None else np.zeros_like(exact.success)
    figures = []
    for name, ceiling in CEILINGS.items():
        cost = guard.set_params(search=name).plan(X).cost
        details = {
            "mean_l0": float(cost.mean()),
            "mean_l0_exact": float(exact.cost.mean()),
            "pairs": int(cost.size),
            "proven_optimal": float(proven.mean()),
        }
        figures.append(
            Figure(
                f"noise of {name} against the smallest",
                details["mean_l0"] / details["mean_l0_exact"],
                "of its mean L0",
                None,
                ceiling,
                details,
            )
        )
    return figures
