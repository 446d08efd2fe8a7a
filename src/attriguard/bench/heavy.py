"""The goal "conceal" for a user with thousands of ratings, against trying out every rating before each removal."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from scipy.sparse import csr_array

from attriguard.bench.measure import Figure, best_of
from attriguard.data.public_data import PublicData
from attriguard.progress import Progress, ProgressLike

RATINGS, REMOVALS = 5_000, 20
TIMES_FASTER = 20.0
# Users that the ensemble learns from: enough for weights as a guard has them.
USERS = 2_000


def run(data: PublicData, *, progress: ProgressLike = None) -> list[Figure]:
    """Seconds of both for one user, and how much of the leakage each leaves."""
    from attriguard._checks import check_matrix, check_rng
    from attriguard.classifiers.ensemble import MEMBERS, fit_ensemble
    from attriguard.noise import removals
    from attriguard.noise.constraints import make_constraints
    from attriguard.noise.policy import POLICIES

    learning, searching = Progress.of(progress).parts(2, 1)
    learning.tell("learning the ensemble")
    chance = check_rng(0)
    some = chance.permutation(np.flatnonzero(data.disclosed))[:USERS]
    ensemble = fit_ensemble(data.X[some], data.y[some], members=MEMBERS, chance=chance)
    rated = np.sort(chance.choice(data.n_items, min(RATINGS, data.n_items), replace=False))
    entries = chance.choice(data.X.data, rated.size)
    X = check_matrix(csr_array((entries, rated, [0, rated.size]), shape=(1, data.n_items)))
    rules = make_constraints(POLICIES["modify_exist"], data.n_items)
    searching.tell("searching")

    def search() -> removals.ChangeSequences:
        return removals.find_changes(ensemble, X, rules, REMOVALS)

    before, *_, left = search().leakage[0].tolist()
    ours = best_of(search, 3)
    with patch.object(removals, "TRIED", rated.size):
        every, left_every = best_of(search, 1), float(search().leakage[0, -1])
    details = {
        "seconds": ours,
        "seconds_every": every,
        "leakage": before,
        "leakage_left": left,
        "leakage_left_every": left_every,
    }
    name = f"conceal, {REMOVALS} of {rated.size:,} ratings removed, against trying out every rating"
    return [Figure(name, every / ours, "times faster", TIMES_FASTER, None, details)]
