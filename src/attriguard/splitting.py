"""How the goal "both" shares the budget: tried out on users of the guard's own, never on those it will protect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from sklearn.base import clone

from attriguard._checks import check_rng
from attriguard.classifiers.small import Recipe, small_proba, train_small
from attriguard.data.split import stratified_test_mask
from attriguard.noise.base import Progress

if TYPE_CHECKING:
    from attriguard.classifiers.network import Weights
    from attriguard.guard import AttriGuard

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
# Without enough users to try it out.
DEFAULT_SHARE = 0.5
# Users of the rarest value that three groups need.
FEWEST_PER_VALUE = 8
# Of the users: who a guard for the trial learns from; of the others: who the trial's attackers are tried on.
GUARD_SHARE, TEST_SHARE = 0.4, 0.35
# How often an attacker's user is protected for him to learn from, and a test user to be attacked.
DRAWS = 2
MEMBERS = 4


def find_split(
    guard: AttriGuard,
    X: csr_array,
    codes: NDArray[np.int64],
    items: NDArray[Any] | None,
    progress: Progress | None = None,
) -> float:
    """The share with the smallest worst regret.

    One attacker knows the guard and retrains, one does not know. Taking everything away is best against the first, and
    pointing elsewhere against the second, who always infers less; so each is measured by how much more he infers than
    with the share that is best against him, and the worse of these two factors counts.
    """
    if np.bincount(codes).min() < FEWEST_PER_VALUE:
        return DEFAULT_SHARE
    chance = check_rng(guard.random_state)
    theirs, own, test = _groups(codes, chance)
    seed = int(chance.integers(2**31))
    trial = clone(guard).set_params(split=DEFAULT_SHARE, members=min(MEMBERS, guard.members), random_state=seed)
    trial.fit(X[theirs], codes[theirs], items=items)
    unaware = _attacker(X[own], codes[own], chance)
    found = []
    for share in SHARES:
        if progress is not None:
            progress(f"trying a split of {share:g}", 0)
        trial.set_params(split=share)
        learnt, attacked = (_released(trial, X[rows], chance) for rows in (own, test))
        aware = _attacker(learnt, np.tile(codes[own], DRAWS), chance)
        truth = np.tile(codes[test], DRAWS)
        found.append([_accuracy(attacker, attacked, truth) for attacker in (aware, unaware)])
    accuracy = np.maximum(np.array(found), 1.0 / codes.size)
    return SHARES[int(np.argmin((accuracy / accuracy.min(axis=0)).max(axis=1)))]


def _groups(codes: NDArray[np.int64], chance: np.random.Generator) -> list[NDArray[np.int64]]:
    """The trial's guard's, attacker's and test users."""
    rest = stratified_test_mask(codes, 1.0 - GUARD_SHARE, chance)
    others = np.flatnonzero(rest)
    test = stratified_test_mask(codes[others], TEST_SHARE, chance)
    return [np.flatnonzero(~rest), others[~test], others[test]]


def _released(trial: AttriGuard, X: csr_array, chance: np.random.Generator) -> csr_array:
    plan = trial.plan(X)
    return csr_array(vstack([plan.release(chance) for _ in range(DRAWS)], format="csr"))


def _attacker(X: csr_array, codes: NDArray[np.int64], chance: np.random.Generator) -> Weights:
    return train_small(Recipe(), X, codes, chance=chance)


def _accuracy(attacker: Weights, X: csr_array, truth: NDArray[np.int64]) -> float:
    return float((small_proba(attacker, X).argmax(axis=1) == truth).mean())
