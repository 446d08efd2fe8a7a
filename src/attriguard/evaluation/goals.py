"""The guard's goals side by side: what attackers infer who know it and who do not, how far protected users can be told
from others, and what the same budget costs a recommender."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack
from sklearn.base import clone

from attriguard._progress import Progress
from attriguard.attacks.base import Attack
from attriguard.evaluation.aware import Aware, evaluate_aware
from attriguard.evaluation.cache import Cache
from attriguard.evaluation.protocol import Groups
from attriguard.goals import BOTH, GOALS
from attriguard.guard import AttriGuard
from attriguard.utility.norms import norms
from attriguard.utility.recommendation import RecommendationTest
from attriguard.utility.recommenders import PureSVD

# Recommended items at which precision is compared.
N = 10


@dataclass(frozen=True)
class GoalOutcome:
    """One goal. Precision is PureSVD's for the protected users, ``N`` items recommended, at one budget."""

    goal: str
    split: float  # the share of the budget that takes away
    aware: Aware
    precision_budget: float
    precision_changes: float
    precision_before: float
    precision_after: float

    @property
    def precision_lost(self) -> float | None:
        """The relative loss; None where nothing was found before."""
        return 1.0 - self.precision_after / self.precision_before if self.precision_before else None


def measure_goals(
    groups: Groups,
    guard: AttriGuard,
    attacks: Sequence[Attack],
    budgets: Sequence[float],
    *,
    precision_budget: float,
    split: float | None = None,
    draws: int = 2,
    holdouts: int = 2,
    seed: int = 0,
    cache: Cache | None = None,
    progress: Progress | None = None,
) -> list[GoalOutcome]:
    """``guard``: its options, but for the goal; a guard of each goal is learnt from the guard's users."""
    found = []
    for goal in GOALS:
        own = clone(guard).set_params(goal=goal, random_state=seed)
        if goal == BOTH:
            own.set_params(split=split)
        aware = evaluate_aware(
            groups, own, attacks, budgets, draws=draws, detector=True, seed=seed, cache=cache, progress=progress
        )
        found.append(
            GoalOutcome(goal, float(own.split_), aware, precision_budget, *_precision(
                groups, own, precision_budget, holdouts, seed
            ))
        )  # fmt: skip
    return found


def _precision(
    groups: Groups, guard: AttriGuard, budget: float, holdouts: int, seed: int
) -> tuple[float, float, float]:
    """Changes made, precision before and after, averaged over draws of the held-out items."""
    everybody = csr_array(vstack([group.X for group in groups], format="csr"))
    rows = np.arange(everybody.shape[0] - groups.test_users.n_users, everybody.shape[0])
    runs = []
    for each in range(seed, seed + holdouts):
        n = min(N, everybody.shape[1])
        trial = RecommendationTest(everybody, rows, PureSVD(random_state=each), ns=[n], random_state=each)
        release = guard.plan(trial.X_protected, budget=budget).release(each)
        loss = trial.loss(release)
        runs.append((norms(trial.X_protected, release).mean_l0, loss.before_protected[0], loss.after_protected[0]))
    changes, before, after = np.mean(runs, axis=0)
    return float(changes), float(before), float(after)
