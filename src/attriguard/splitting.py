"""How the goal "both" shares the budget: tried out on users of the guard's own, never on those it will protect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from sklearn.base import clone

from attriguard._checks import check_rng
from attriguard._progress import Progress
from attriguard.classifiers.small import Recipe, small_proba, train_small
from attriguard.data.split import stratified_test_mask

if TYPE_CHECKING:
    from attriguard.classifiers.network import Weights
    from attriguard.guard import AttriGuard

# Finer ones are not told apart by so few users.
SHARES = (0.0, 0.5, 1.0)
# Without enough users to try it out.
DEFAULT_SHARE = 0.5
# Users of the rarest value that three groups need.
FEWEST_PER_VALUE = 8
# Of the users: who a guard for the trial learns from; of the others: who the trial's attackers are tried on.
GUARD_SHARE, TEST_SHARE = 0.4, 0.35
# How often a user of the trial is protected and attacked.
DRAWS = 4
MEMBERS = 4
# How well one who knows must be held, between taking away nothing and taking away all.
HELD = 1 / 3


def find_split(
    guard: AttriGuard,
    X: csr_array,
    codes: NDArray[np.int64],
    items: NDArray[Any] | None,
    progress: Progress | None = None,
) -> float:
    """Two attackers are tried, one who knows the guard and retrains and one who does not know it: of the shares that
    hold the first well, the one that leaves least to the second."""
    if np.bincount(codes).min() < FEWEST_PER_VALUE:
        return DEFAULT_SHARE
    chance = check_rng(guard.random_state)
    theirs, own, test = _groups(codes, chance)
    seed = int(chance.integers(2**31))
    trial = clone(guard).set_params(split=DEFAULT_SHARE, members=min(MEMBERS, guard.members), random_state=seed)
    trial.fit(X[theirs], codes[theirs], items=items, progress=_quiet(progress))
    unaware = _attacker(X[own], codes[own], chance)
    truth = np.tile(codes[test], DRAWS)
    left = []
    for share in SHARES:
        if progress is not None:
            progress(f"trying a split of {share:g}", 0)
        trial.set_params(split=share)
        knows = _attacker(trial.plan(X[own]).release(chance), codes[own], chance)
        released = _released(trial, X[test], chance)
        left.append([_accuracy(attacker, released, truth) for attacker in (knows, unaware)])
    return SHARES[best_share(np.array(left))]


def best_share(left: NDArray[np.float64]) -> int:
    """``left``: what each share, a row, leaves to the one who knows and to the one who does not; of equals, the last.

    One who knows is left less the more is taken away, and always more than the other: to minimise the worse of the two
    would be to conceal and nothing else, which is a goal of its own. So it is asked that he is held at least `HELD`
    times as well as by taking away all, compared with taking away nothing.
    """
    knows, unaware = left.T
    held = knows <= knows[0] - HELD * (knows[0] - knows[-1])
    held[-1] = True
    found = np.where(held, unaware, np.inf)
    return int(found.size - 1 - np.argmin(found[::-1]))


def _quiet(progress: Progress | None) -> Progress | None:
    """What the trial does is told, but no step of it counted."""
    return None if progress is None else lambda what, _: progress(f"the trial: {what}", 0)


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
