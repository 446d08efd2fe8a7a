"""The guard's goals side by side, once or over several seeds.

Measured are the accuracies of attackers who know the guard and of attackers who do not, how well protected users are
told from untouched ones, and what the same budget costs a recommender.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from sklearn.base import clone

from attriguard._registry import options_of
from attriguard.attacks.base import Attack
from attriguard.data.public_data import PublicData
from attriguard.evaluation.aware import Aware, evaluate_aware
from attriguard.evaluation.figures import interval, rounded
from attriguard.evaluation.measure import PLAIN, Measure
from attriguard.evaluation.protocol import Groups, three_groups
from attriguard.goals import GOALS
from attriguard.guard import AttriGuard
from attriguard.progress import Progress, ProgressLike
from attriguard.utility.norms import norms
from attriguard.utility.recommendation import RecommendationTest
from attriguard.utility.recommenders import PureSVD

# Recommended items at which precision is compared.
N = 10
# How often an attacker who retrains protects each of his users, for one seed.
DRAWS = 2
# The measurement over seeds behind the figures of docs/findings.md: attackers, budgets, seeds, and draws (two draws
# weaken MLP-A).
ATTACKS = ("LR-A", "RF-A", "MLP-A", "NN-A")
BUDGETS = (2.0, 4.0, 8.0)
SEEDS = (0, 1, 2)
DRAWS_OVER_SEEDS = 1
KNOWS, UNAWARE = "knows", "does_not_know"


@dataclass(frozen=True)
class PrecisionTest:
    """At which budget a recommender's precision is compared, and how often its test items are drawn."""

    budget: float
    holdouts: int = 2


@dataclass(frozen=True)
class GoalOutcome:
    """One goal. Precision is PureSVD's for the protected users, ``N`` items recommended, at one budget."""

    goal: str
    split: float  # the share of the budget that removes ratings
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
    precision: PrecisionTest,
    measure: Measure = PLAIN,
    progress: ProgressLike = None,
) -> list[GoalOutcome]:
    """Every goal with the same options: a guard of each goal is learnt from the guard's users.

    Parameters
    ----------
    guard
        The options of the guards, but for the goal and the seed. Its ``split`` only counts for the goal "both".
    measure
        An attacker who retrains protects each of his users ``draws`` times (2).
    """
    measure = Measure(measure.seed or 0, measure.draws_or(DRAWS), measure.cache)
    found = []
    for goal, part in Progress.of(progress).each(GOALS, str):
        own = _with_goal(guard, goal, measure.seed)
        attacking, recommending = part.parts(9, 1)
        aware = evaluate_aware(groups, own, attacks, budgets, detector=True, measure=measure, progress=attacking)
        recommending.tell("recommending")
        lost = _precision(groups, own, precision, measure.seed or 0)
        found.append(GoalOutcome(goal, float(own.split_), aware, precision.budget, *lost))
    return found


def _with_goal(guard: AttriGuard, goal: str, seed: int | None) -> AttriGuard:
    return clone(guard).set_params(
        goal=goal, random_state=seed, split=guard.split if "split" in GOALS[goal].options else None
    )


def _precision(groups: Groups, guard: AttriGuard, precision: PrecisionTest, seed: int) -> tuple[float, float, float]:
    """Changes made, precision before and after, averaged over draws of the held-out items."""
    everybody = csr_array(vstack([group.X for group in groups], format="csr"))
    rows = np.arange(everybody.shape[0] - groups.test_users.n_users, everybody.shape[0])
    runs = []
    for each in range(seed, seed + precision.holdouts):
        n = min(N, everybody.shape[1])
        trial = RecommendationTest(everybody, rows, PureSVD(random_state=each), ns=[n], random_state=each)
        release = guard.plan(trial.X_protected, budget=precision.budget).release(each)
        loss = trial.loss(release)
        runs.append((norms(trial.X_protected, release).mean_l0, loss.before_protected[0], loss.after_protected[0]))
    changes, before, after = np.mean(runs, axis=0)
    return float(changes), float(before), float(after)


@dataclass(frozen=True)
class SeedOutcome:
    """One goal with one seed."""

    seed: int
    split: float
    aware: Aware

    def record(self) -> dict[str, Any]:
        """The figures as JSON knows them: by attack, one number a budget."""
        aware = self.aware
        first = aware.unaware[0]
        return {
            "seed": self.seed,
            "split": self.split,
            "users": {"guard": aware.n_guard, "attacker": aware.n_attacker, "test": first.n_users},
            "changes": [rounded(cost) for cost in first.expected_cost],
            "no_guard": {curve.attack: rounded(curve.before or 0.0) for curve in aware.unaware},
            UNAWARE: {curve.attack: [rounded(a) for a in curve.accuracy] for curve in aware.unaware},
            KNOWS: {
                plain.attack: [rounded(a) for a in curve.accuracy]
                for plain, curve in zip(aware.unaware, aware.retrained, strict=True)
            }
            | {curve.attack: [rounded(a) for a in curve.accuracy] for curve in aware.inversion},
            "detection": [rounded(auc) for auc in aware.detection],
        }


@dataclass(frozen=True)
class GoalsOverSeeds:
    """Every goal over several seeds."""

    budgets: tuple[float, ...]
    attacks: tuple[str, ...]
    hidden: int | None  # hidden units of the paper's networks among the attacks
    draws: int
    outcomes: dict[str, tuple[SeedOutcome, ...]]  # by goal

    def best(self, goal: str, who: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For every budget the best attacker's accuracy: the mean over seeds, and half of its 95 % interval.

        ``who``: "knows" (the attacker knows the guard and retrains) or "does_not_know".
        """
        records = [outcome.record()[who] for outcome in self.outcomes[goal]]
        best = np.array([np.max(list(record.values()), axis=0) for record in records])
        return best.mean(axis=0), interval(best)

    def record(self) -> dict[str, Any]:
        """Figures of every goal, attack, budget and seed; and of every goal the best attacker, with an interval."""
        best: dict[str, Any] = {goal: {} for goal in self.outcomes}
        for goal in self.outcomes:
            for who in (KNOWS, UNAWARE):
                mean, half = self.best(goal, who)
                best[goal][who] = {"mean": [rounded(a) for a in mean], "interval": [rounded(a) for a in half]}
        return {
            "budgets": list(self.budgets),
            "attacks": list(self.attacks),
            "hidden": self.hidden,
            "draws": self.draws,
            "best_attacker": best,
            "goals": {goal: [outcome.record() for outcome in found] for goal, found in self.outcomes.items()},
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class Compared:
    """What is compared: goals, over seeds; ``inversion`` are attackers who also undo what the guard does."""

    goals: Sequence[str] = tuple(GOALS)
    seeds: Sequence[int] = SEEDS
    inversion: Sequence[Attack] = ()


EVERY_GOAL = Compared()


def goals_over_seeds(
    data: PublicData,
    guard: AttriGuard,
    attacks: Sequence[Attack],
    budgets: Sequence[float] = BUDGETS,
    *,
    compared: Compared = EVERY_GOAL,
    measure: Measure = PLAIN,
    progress: ProgressLike = None,
) -> GoalsOverSeeds:
    """Accuracy over budgets of attackers who know the guard and who do not, for every goal and seed.

    A seed decides which training users are the guard's and which the attacker's, and everything that is learnt.

    Parameters
    ----------
    guard
        The options of the guards, but for the goal, the budget (the median of ``budgets``) and the seed. Its ``split``
        only counts for the goal "both".
    attacks
        The attackers; every seed has copies of its own.
    measure
        Its seed is not used. An attacker who retrains protects each of his users ``draws`` times (1).
    """
    draws = measure.draws_or(DRAWS_OVER_SEEDS)
    options = clone(guard).set_params(budget=float(np.median(budgets)))
    found: dict[str, list[SeedOutcome]] = {goal: [] for goal in compared.goals}
    for seed, seeded in Progress.of(progress).each(compared.seeds, lambda seed: f"seed {seed}"):
        groups = three_groups(data, seed)
        for goal, part in seeded.each(compared.goals, str):
            own = _with_goal(options, goal, seed)
            lineup = [_seeded(attack, seed) for attack in attacks]
            how = Measure(seed, draws, measure.cache)
            undoing = [_seeded(attack, seed) for attack in compared.inversion]
            aware = evaluate_aware(
                groups, own, lineup, budgets, inversion=undoing, detector=True, measure=how, progress=part
            )
            found[goal].append(SeedOutcome(seed, own.split_, aware))
    return GoalsOverSeeds(
        budgets=tuple(budgets),
        attacks=tuple(attack.name for attack in attacks),
        hidden=_papers_hidden(attacks),
        draws=draws,
        outcomes={goal: tuple(outcomes) for goal, outcomes in found.items()},
    )


def _seeded(attack: Attack, seed: int) -> Attack:
    return attack.untrained(**({"random_state": seed} if "random_state" in options_of(type(attack)) else {}))


def _papers_hidden(attacks: Sequence[Any]) -> int | None:
    """The hidden units of the paper's networks among the attacks; a small network keeps its own number."""
    for attack in attacks:
        cls = type(attack)
        if "hidden" in options_of(cls) and "hidden" not in getattr(cls, "own_options", ()):
            return int(attack.hidden)
    return None
