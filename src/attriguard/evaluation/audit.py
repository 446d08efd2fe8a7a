"""The audit: how well an attacker infers the attribute now, which items give it away, and what each budget buys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from attriguard.attacks.base import Attack
from attriguard.data.public_data import PublicData
from attriguard.errors import DataError, ParameterError
from attriguard.evaluation.accuracy import Curve, check_budgets
from attriguard.evaluation.aware import Aware, evaluate_aware
from attriguard.evaluation.engine import exact_curve, name_of
from attriguard.evaluation.goals_compared import GoalOutcome, PrecisionTest, measure_goals
from attriguard.evaluation.job import Job
from attriguard.evaluation.measure import PLAIN, Measure
from attriguard.evaluation.protocol import halves
from attriguard.evaluation.revealing import RevealingItem, revealing_items
from attriguard.guard import AttriGuard
from attriguard.plan import Plan
from attriguard.progress import Progress, ProgressLike

# With fewer users of a value, neither an attack nor a guard has anything to learn from.
FEWEST_PER_VALUE = 2
# The guard's half and the attacker's half of the training users must have that many.
FEWEST_TO_HALVE = 2 * FEWEST_PER_VALUE
# How often an attacker who retrains protects each of his users: more is slower and hardly stronger.
DRAWS = 2
# So many changes of a user are counted together with more.
MANY_CHANGES = 10
# With at least this many users a tenth of them are attacked, otherwise three tenths.
MANY_USERS = 5000
# About how long the parts of an audit take: the guard, an attack, an attacker who knows the guard, all goals.
GUARD_SHARE, ATTACK_SHARE, KNOWING_SHARE, GOALS_SHARE = 2.0, 1.0, 3.0, 12.0


@dataclass(frozen=True)
class Spread:
    """How the guard's changes are spread over users, in expectation over the draw; nothing about a single user."""

    sizes: tuple[tuple[str, float], ...]  # "2 changes", and the share of users who get as many
    added: float  # changes of each kind a user, on average
    removed: float
    rated_anew: float


@dataclass(frozen=True)
class Audit:
    """What ratings give away, before and after protection."""

    data: PublicData
    n_train: int
    n_test: int
    budgets: tuple[float, ...]
    curves: tuple[Curve, ...]
    revealing: tuple[RevealingItem, ...]
    plan: Plan
    guard: AttriGuard
    spread: Spread
    aware: Aware | None = None  # an attacker who knows the guard, at the largest budget
    goals: tuple[GoalOutcome, ...] = ()  # all of them, side by side, where that was asked for
    baselines: tuple[str, ...] = ()  # attacks that guess without looking at the data

    def item_name(self, column: int) -> str:
        """The item's name, or its id where it has none."""
        return item_name(self.data, column)

    @property
    def learnt(self) -> tuple[Curve, ...]:
        """The attacks that learn from the data."""
        return tuple(curve for curve in self.curves if curve.attack not in self.baselines)

    @property
    def guessing(self) -> float:
        """The share of users for whom the best guess is right: a baseline's, or that of the most frequent value."""
        known = self.data.y[self.data.disclosed]
        most_frequent = float(np.bincount(known).max() / known.size)
        return next((c.accuracy[0] for c in self.curves if c.attack in self.baselines), most_frequent)

    @property
    def worst_now(self) -> Curve:
        """The attack that infers most without protection; guessing does not count."""
        return max(self.learnt or self.curves, key=lambda curve: curve.accuracy[0])


def audit(
    data: PublicData,
    *,
    guard: AttriGuard,
    attacks: Sequence[Attack],
    budgets: Sequence[float],
    knowing: Attack | None = None,
    all_goals: bool = False,
    measure: Measure = PLAIN,
    progress: ProgressLike = None,
) -> Audit:
    """Attack users that neither the attacks nor the guard have learnt from, before and after protection.

    Parameters
    ----------
    guard, attacks
        Unfitted. The guard and copies of the attacks learn from the training users.
    budgets
        Rising numbers; 0, no protection, is always among them.
    knowing
        An attacker who also knows the guard and retrains, at the largest budget; the guard and the attacker then learn
        from different halves of the training users.
    all_goals
        Measure the same for every goal that a guard can have.
    measure
        An attacker who retrains protects each of his users ``draws`` times (2).
    """
    ladder = tuple(sorted({0.0, *check_budgets(budgets)}))
    start = Measure(measure.seed or 0, measure.draws_or(DRAWS), measure.cache)
    learning, attacking, retraining, comparing = Progress.of(progress).parts(
        GUARD_SHARE, ATTACK_SHARE * len(attacks), KNOWING_SHARE * (knowing is not None), GOALS_SHARE * all_goals
    )
    split = train, test = split_for_audit(data, measure.seed)
    fitting, planning = learning.named("the guard").parts(4, 1)
    guard.fit(train.X, train.y, items=data.items, values=data.values, progress=fitting)
    plan = guard.plan(test.X, users=test.users, budget=ladder[-1], progress=planning)
    return Audit(
        data=data,
        n_train=train.n_users,
        n_test=test.n_users,
        budgets=ladder,
        curves=_curves(plan, attacks, split, ladder, start, attacking),
        revealing=tuple(revealing_items(train.X, train.y, data.m)),
        plan=plan,
        guard=guard,
        spread=spread_of(plan),
        aware=_aware(guard, knowing, split, ladder[-1], start, retraining),
        goals=_goals(guard, knowing, split, ladder, start, comparing) if all_goals else (),
        baselines=tuple(attack.name for attack in attacks if is_baseline(attack)),
    )


def is_baseline(attack: Attack) -> bool:
    """Does the attack guess without looking at the data?"""
    return bool(getattr(attack, "is_baseline", attack.name == "BA-A"))


def _curves(
    plan: Plan,
    attacks: Sequence[Attack],
    split: tuple[PublicData, PublicData],
    ladder: tuple[float, ...],
    measure: Measure,
    progress: Progress,
) -> tuple[Curve, ...]:
    train, test = split
    job = Job(test.y, (train.X, train.y), measure.cache)
    try:
        return tuple(exact_curve(job, plan, attack, ladder, part) for attack, part in progress.each(attacks, name_of))
    finally:
        job.finish()


def _aware(
    guard: AttriGuard,
    knowing: Attack | None,
    split: tuple[PublicData, PublicData],
    budget: float,
    measure: Measure,
    progress: Progress,
) -> Aware | None:
    """None where no attacker was asked for, or where a value has too few users to halve."""
    train = split[0]
    if knowing is None or np.bincount(train.y, minlength=train.m).min() < FEWEST_TO_HALVE:
        return None
    groups = halves(*split, measure.seed)
    return evaluate_aware(groups, clone(guard), [knowing], [budget], measure=measure, progress=progress)


def _goals(
    guard: AttriGuard,
    knowing: Attack | None,
    split: tuple[PublicData, PublicData],
    ladder: tuple[float, ...],
    measure: Measure,
    progress: Progress,
) -> tuple[GoalOutcome, ...]:
    if knowing is None:
        raise ParameterError("to compare the goals, name an attacker who knows the guard and retrains: knowing=")
    budgets = goal_budgets(ladder)
    precision = PrecisionTest(budgets[len(budgets) // 2])
    groups = halves(*split, measure.seed)
    return tuple(
        measure_goals(groups, guard, [knowing], budgets, precision=precision, measure=measure, progress=progress)
    )


def goal_budgets(ladder: Sequence[float]) -> list[float]:
    """Three of the budgets: the largest, and those nearest to a half and a quarter of it."""
    known = [budget for budget in ladder if budget > 0]
    return sorted({min(known, key=lambda b: abs(b - known[-1] * share)) for share in (0.25, 0.5, 1.0)})


def split_for_audit(data: PublicData, seed: int | None) -> tuple[PublicData, PublicData]:
    """Users who disclose the attribute, in two groups: one to learn from, one to attack."""
    counts = np.bincount(data.y[data.disclosed], minlength=data.m)
    rare = counts < FEWEST_PER_VALUE
    if data.m < 2 or rare.any():
        raise DataError(
            f"{int(rare.sum())} of the {data.m} values of {data.attribute!r} have fewer than {FEWEST_PER_VALUE} users; "
            "merge or drop the rare ones before auditing"
        )
    if data.test_mask is not None:
        train, test = data.split()
        return train.take(train.disclosed), test.take(test.disclosed)
    known = data.take(data.disclosed)
    share = 0.1 if known.n_users >= MANY_USERS else 0.3
    train, test = known.split(test_size=share, random_state=0 if seed is None else seed)
    if np.unique(train.y).size < data.m or not test.n_users:
        raise DataError(f"{known.n_users} users are too few to learn from some and to test on others")
    return train, test


def item_name(data: PublicData, column: int) -> str:
    """The name of a column's item, or its id where it has none."""
    return str(data.items[column] if data.item_names is None else data.item_names[column])


def spread_of(plan: Plan) -> Spread:
    """How many changes users get, and of which kind."""
    n, m = plan.probabilities.shape
    sizes = np.diff(plan.edits.indptr).reshape(n, m)
    shares = np.bincount(np.minimum(sizes, MANY_CHANGES).ravel(), plan.probabilities.ravel(), MANY_CHANGES + 1) / n
    pair = np.repeat(np.arange(n * m), sizes.ravel())
    user, weight = pair // m, plan.probabilities.ravel()[pair] / n
    had = np.asarray(plan.X[user, plan.edits.items]).ravel() > 0
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
