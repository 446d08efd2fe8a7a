"""The goal "conceal": finding the ratings to remove, against predicting again with the same ensemble in torch."""

from __future__ import annotations

import time

import numpy as np
from scipy.sparse import csr_array

from attriguard.bench.measure import Figure, best_of
from attriguard.classifiers.ensemble import MEMBERS, Ensemble, fit_ensemble
from attriguard.classifiers.torch_extra import load_torch
from attriguard.data.public_data import PublicData
from attriguard.kernels.threads import n_threads
from attriguard.noise.removals import GUESSED_SHARE
from attriguard.progress import Progress, ProgressLike

TIMES_FASTER = 20.0
REMOVALS = 8


def run(
    data: PublicData,
    *,
    users: int = 400,
    torch_users: int = 6,
    members: int = MEMBERS,
    progress: ProgressLike = None,
) -> list[Figure]:
    """Seconds a user of both; ours and torch use the same number of threads (`n_threads`)."""
    from attriguard._checks import check_rng
    from attriguard.noise.constraints import make_constraints
    from attriguard.noise.policy import POLICIES
    from attriguard.noise.removals import find_changes

    load_torch()
    learning, ours_part, torch_part = Progress.of(progress).parts(2, 1, 2)
    learning.tell("learning the ensemble")
    train, test = data.split()
    known = train.take(train.disclosed)
    ensemble = fit_ensemble(known.X, known.y, members=members, chance=check_rng(0))
    rules, X = make_constraints(POLICIES["modify_exist"], data.n_items), test.X[:users]
    ours_part.tell("searching")
    found = find_changes(ensemble, X, rules, REMOVALS)
    ours = best_of(lambda: find_changes(ensemble, X, rules, REMOVALS), 3) / X.shape[0]
    few = min(torch_users, X.shape[0])
    torch_part.tell("predicting in torch")
    theirs, removed = _in_torch(ensemble, X[:few].toarray())
    left = [_leakage(ensemble, X[:few], items) for items in (removed, [row.tolist() for row in found.items[:few]])]
    details = {
        "members": members,
        "hidden": int(np.diff(ensemble.ends).max()),
        "removals": REMOVALS,
        "threads": n_threads(),
        "users": X.shape[0],
        "users_torch": few,
        "seconds_a_user": ours,
        "seconds_a_user_torch": theirs,
        "leakage_left_torch": left[0],
        "leakage_left": left[1],
    }
    name = f"conceal, {REMOVALS} removals, against predicting again in torch"
    return [Figure(name, theirs / ours, "times faster", TIMES_FASTER, None, details)]


def _leakage(ensemble: Ensemble, X: csr_array, removed: list[list[int]]) -> float:
    """What users' ratings say without some of their items, as the search counts it, in nats, on average."""
    rows = X.toarray()
    for row, items in zip(rows, removed, strict=True):
        row[items] = 0.0
    said = np.log(ensemble.predict_proba(csr_array(rows)) / (GUESSED_SHARE * ensemble.prior))
    return float((ensemble.predict_proba(X) * np.maximum(said, 0.0)).sum(axis=1).mean())


def _in_torch(ensemble: Ensemble, rows: np.ndarray) -> tuple[float, list[list[int]]]:
    """Remove ratings one by one; each step predicts a batch of the user's row without each of its ratings in turn.

    Gives seconds a user, and the items removed from each row.
    """
    import torch

    torch.set_num_threads(n_threads())
    layers = [tuple(torch.from_numpy(part) for part in w.parts.values()) for w in ensemble.members]
    target = GUESSED_SHARE * torch.from_numpy(ensemble.prior)

    def posterior(x: torch.Tensor) -> torch.Tensor:
        mean = torch.zeros((x.shape[0], ensemble.m))
        for share, (W1, b1, W2, b2) in zip(ensemble.shares.tolist(), layers, strict=True):
            mean += share * torch.softmax(torch.addmm(b2, torch.relu(torch.addmm(b1, x, W1)), W2), dim=1)
        return mean

    def leakage(x: torch.Tensor, belief: torch.Tensor) -> torch.Tensor:
        return torch.clamp(torch.log(posterior(x) / target), min=0.0) @ belief

    removed: list[list[int]] = []
    with torch.no_grad():
        posterior(torch.from_numpy(rows[:1]))
        start = time.perf_counter()
        for row in rows:
            x, gone = torch.from_numpy(row.copy()), []
            belief = posterior(x[None])[0]
            for _ in range(REMOVALS):
                own = torch.nonzero(x).ravel()
                if not own.numel():
                    break
                trials = x.repeat(own.numel(), 1)
                trials[torch.arange(own.numel()), own] = 0.0
                j = int(own[leakage(trials, belief).argmin()])
                x[j] = 0.0
                gone.append(j)
            removed.append(gone)
        seconds = time.perf_counter() - start
    return seconds / len(rows), removed
