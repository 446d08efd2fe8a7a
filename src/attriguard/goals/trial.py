"""How the goal "both" shares the budget: tried out on the guard's own users, never on those it will protect."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from attriguard._checks import check_rng
from attriguard.classifiers.small import Recipe, small_proba, train_small
from attriguard.classifiers.weights import Weights
from attriguard.data.split import stratified_test_mask
from attriguard.goals.base import Goal, Planner, Settings, Training
from attriguard.plan import Plan
from attriguard.progress import Progress

# The shares that are tried; finer ones cannot be told apart with so few users.
SHARES = (0.0, 0.5, 1.0)
# The share where there are too few users to try it out.
DEFAULT_SHARE = 0.5
# Users of the rarest value that three groups need.
FEWEST_PER_VALUE = 8
# The share of users that the trial's guard learns from; of the others, the share that is attacked.
GUARD_SHARE, TEST_SHARE = 0.4, 0.35
# How often each of the attacked users is protected.
DRAWS = 4
# Members of the trial's ensemble, at most.
MEMBERS = 4
# The share of `conceal`'s protection that `both` must keep against a retrained attacker (0: none, 1: all).
HELD = 1 / 3


class Groups(NamedTuple):
    """Row numbers of the trial's three groups of users, which share nobody."""

    guard_users: NDArray[np.int64]
    attacker_users: NDArray[np.int64]
    test_users: NDArray[np.int64]


def find_split(goal: Goal, settings: Settings, users: Training, progress: Progress) -> float:
    """The share of the budget that removes ratings, chosen by two attackers: one retrained, one trained on plain data.

    Of the shares that hold the retrained attacker well, the one that leaves least to the other is taken.
    """
    X, codes = users.X, users.codes
    if users.counts.min() < FEWEST_PER_VALUE:
        return DEFAULT_SHARE
    learning, trying = progress.named("trial of the split").parts(1, 1)
    chance = check_rng(settings.random_state)
    groups = _groups(codes, chance)
    seed = int(chance.integers(2**31))
    trial = replace(settings, split=DEFAULT_SHARE, members=min(MEMBERS, settings.members), random_state=seed)
    learnt = goal.learn(trial, Training(X[groups.guard_users], codes[groups.guard_users]), learning)
    attacker_X, attacker_codes = X[groups.attacker_users], codes[groups.attacker_users]
    unaware = _attacker(attacker_X, attacker_codes, chance)
    truth = np.tile(codes[groups.test_users], DRAWS)
    left = []
    for share, part in trying.each(SHARES, lambda share: f"share {share:g}"):
        planner = Planner(goal, replace(trial, split=share), learnt)
        retrained = _attacker(planner.plan(attacker_X, progress=part).release(chance), attacker_codes, chance)
        released = _released(planner.plan(X[groups.test_users]), chance)
        left.append([_accuracy(attacker, released, truth) for attacker in (retrained, unaware)])
    return SHARES[best_share(np.array(left))]


def best_share(left: NDArray[np.float64]) -> int:
    """Which share to take; ``left`` has a row a share: the accuracy of the retrained attacker and of the unaware one.

    The retrained attacker is always the stronger one, and the weaker the more is removed: to minimise the larger of the
    two accuracies would be to conceal and nothing else, which is a goal of its own. So the retrained attacker must be
    held at least `HELD` times as well as by removing with the whole budget. Of equal shares the last one is taken.
    """
    retrained, unaware = left.T
    held = retrained <= retrained[0] - HELD * (retrained[0] - retrained[-1])
    held[-1] = True
    found = np.where(held, unaware, np.inf)
    return int(found.size - 1 - np.argmin(found[::-1]))


def _groups(codes: NDArray[np.int64], chance: np.random.Generator) -> Groups:
    rest = stratified_test_mask(codes, 1.0 - GUARD_SHARE, chance)
    others = np.flatnonzero(rest)
    test = stratified_test_mask(codes[others], TEST_SHARE, chance)
    return Groups(np.flatnonzero(~rest), others[~test], others[test])


def _released(plan: Plan, chance: np.random.Generator) -> csr_array:
    return csr_array(vstack([plan.release(chance) for _ in range(DRAWS)], format="csr"))


def _attacker(X: csr_array, codes: NDArray[np.int64], chance: np.random.Generator) -> Weights:
    return train_small(Recipe(), X, codes, chance=chance)


def _accuracy(attacker: Weights, X: csr_array, truth: NDArray[np.int64]) -> float:
    return float((small_proba(attacker, X).argmax(axis=1) == truth).mean())
