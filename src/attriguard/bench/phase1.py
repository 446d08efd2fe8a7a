"""Phase I against ART's SaliencyMapMethod, on the same logistic regression and users."""

from __future__ import annotations

from typing import Any

import numpy as np

from attriguard.bench.art import saliency_maps
from attriguard.bench.measure import Figure, best_of
from attriguard.data.public_data import PublicData
from attriguard.progress import Progress, ProgressLike

# How many times faster, at least.
FLOORS = {"probability": 2000.0, "margin": 2000.0, "panda": 2000.0}


def run(data: PublicData, *, users: int = 40, progress: ProgressLike = None) -> list[Figure]:
    """Speed, noise and success of the greedy searches on all test users; ART works on ``users`` of them."""
    from sklearn.linear_model import LogisticRegression

    from attriguard.classifiers.linear import INVERSE_REGULARISATION, MAX_ITERATIONS, as_linear
    from attriguard.noise.constraints import make_constraints
    from attriguard.noise.policy import POLICIES
    from attriguard.noise.registry import get as get_search

    train, test = data.split()
    model = LogisticRegression(C=INVERSE_REGULARISATION, max_iter=MAX_ITERATIONS).fit(train.X, train.y)
    sample = np.linspace(0, test.n_users - 1, users).astype(np.int64)
    first, second = Progress.of(progress).parts(9, 1)  # nearly all of the time is ART's
    first.tell("ART")
    theirs = saliency_maps(model, test.X[sample].toarray(), data.m)
    figures: list[Figure] = []
    for (name, floor), _ in second.each(FLOORS.items(), lambda each: each[0]):
        search = get_search(name)

        def whole(search: Any = search) -> Any:
            # A new model every time, so that sorting its lists of candidates is timed too.
            classifier = as_linear(model, m=data.m)
            return search.find(classifier, test.X, make_constraints(POLICIES["modify_add"], data.n_items))

        edits = whole()
        ours = best_of(whole, 7) / test.n_users
        details = {
            "seconds_a_user": ours,
            "seconds_a_user_art": theirs["seconds_a_user"],
            "users": test.n_users,
            "users_art": users,
            "values": data.m,
            "mean_l0_same_users": float(edits.cost[sample].mean()),
            "mean_l0_art": theirs["mean_l0"],
            "mean_l0": float(edits.cost.mean()),
            "success": float(edits.success.mean()),
            "success_art": theirs["success"],
        }
        figures += _figures(name, floor, details)
    return figures


def _figures(name: str, floor: float, found: dict[str, Any]) -> list[Figure]:
    """Speed, noise and success of one search; ``found`` is what was measured of it and of ART."""
    faster = found["seconds_a_user_art"] / found["seconds_a_user"]
    less = found["mean_l0_same_users"] / found["mean_l0_art"]
    return [
        Figure(f"Phase I {name} against ART", faster, "times faster", floor, None, found),
        Figure(f"Phase I {name}: noise against ART's", less, "of its mean L0", None, 1.0),
        Figure(f"Phase I {name}: success under modify_add", found["success"], "of all pairs", 1.0),
    ]
