"""The audit: how well an attacker infers the attribute now, which items give it away, and what each budget buys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from attriguard.attacks.base import Attack
from attriguard.data.public_data import PublicData
from attriguard.errors import DataError, ParameterError
from attriguard.evaluation.accuracy import Curve, accuracy_over_budgets, check_budgets
from attriguard.evaluation.aware import Aware, aware_steps, evaluate_aware
from attriguard.evaluation.goals import GoalOutcome, measure_goals
from attriguard.evaluation.protocol import halves
from attriguard.evaluation.telling import TellingItem, telling_items
from attriguard.goals import GOALS, candidates_of, follows_budget
from attriguard.guard import AttriGuard
from attriguard.plan import Plan

# With fewer users of a value, neither an attack nor a guard has anything to learn from.
FEWEST_PER_VALUE = 2
# The guard's half and the attacker's half of the training users must have that many.
FEWEST_TO_HALVE = 2 * FEWEST_PER_VALUE
# How often an attacker who retrains protects each of his users: more is slower and hardly stronger.
DRAWS = 2


@dataclass(frozen=True)
class Change:
    """One edit of one user, in words."""

    item: str
    before: str
    after: str


@dataclass(frozen=True)
class Example:
    """What the guard would do to one user: for some candidates, the changes they make."""

    rated: int
    inferred: str
    rows: tuple[tuple[str, float, tuple[Change, ...]], ...]  # candidate, probability, changes


@dataclass(frozen=True)
class Audit:
    data: PublicData
    n_train: int
    n_test: int
    budgets: tuple[float, ...]
    curves: tuple[Curve, ...]
    telling: tuple[TellingItem, ...]
    plan: Plan
    guard: AttriGuard
    example: Example
    aware: Aware | None = None  # one who knows the guard, at the largest budget
    goals: tuple[GoalOutcome, ...] = ()  # all of them, side by side, where that was asked for

    def item_name(self, column: int) -> str:
        return item_name(self.data, column)

    @property
    def worst_now(self) -> Curve:
        """The attack that infers most without protection; guessing is none."""
        learnt = [curve for curve in self.curves if curve.attack != "BA-A"] or self.curves
        return max(learnt, key=lambda curve: curve.accuracy[0])


def audit(
    data: PublicData,
    *,
    guard: AttriGuard,
    attacks: Sequence[Attack],
    budgets: Sequence[float],
    knowing: Attack | None = None,
    all_goals: bool = False,
    seed: int | None = None,
    progress: Callable[[str, float], None] = lambda _what, _steps: None,
) -> Audit:
    """Attack users that neither the attacks nor the guard have learnt from, before and after protection.

    ``budgets`` rise; 0, no protection, is always among them. The guard and the attacks are trained here, on the
    training users. ``knowing`` is also shown as an attacker who knows the guard and retrains, at the largest budget;
    for that the training users are halved: one half for the guard, one for the attacker. With ``all_goals`` the same
    is measured for every goal a guard can have.
    """
    ladder = check_budgets(budgets)
    ladder = ladder if ladder[0] == 0 else (0.0, *ladder)
    train, test = split_for_audit(data, seed)
    progress("the guard learns", 0)
    guard.fit(train.X, train.y, items=data.items, values=data.values)
    progress("the guard plans", 1)
    plan = guard.plan(test.X, users=test.users, budget=ladder[-1])
    curves = []
    for attack in attacks:
        progress(f"{attack.name} learns", 0)
        attack.fit(train.X, train.y)
        progress(f"{attack.name} attacks", 1)
        curves.append(_curve(plan, attack, test, ladder, progress))
    return Audit(
        data=data,
        n_train=train.n_users,
        n_test=test.n_users,
        budgets=ladder,
        curves=tuple(curves),
        telling=tuple(telling_items(train.X, train.y, data.m)),
        plan=plan,
        guard=guard,
        example=_example(data, guard, plan),
        aware=_aware(guard, knowing, train, test, ladder[-1], seed, progress),
        goals=_goals(guard, knowing, train, test, ladder, seed, progress) if all_goals else (),
    )


def _aware(
    guard: AttriGuard,
    knowing: Attack | None,
    train: PublicData,
    test: PublicData,
    budget: float,
    seed: int | None,
    progress: Callable[[str, float], None],
) -> Aware | None:
    """None where nobody was asked for, or where a value has too few users to halve."""
    if knowing is None or np.bincount(train.y, minlength=train.m).min() < FEWEST_TO_HALVE:
        return None
    start = 0 if seed is None else seed
    groups = halves(train, test, start)
    return evaluate_aware(groups, clone(guard), [knowing], [budget], draws=DRAWS, seed=start, progress=progress)


def _goals(
    guard: AttriGuard,
    knowing: Attack | None,
    train: PublicData,
    test: PublicData,
    ladder: tuple[float, ...],
    seed: int | None,
    progress: Callable[[str, float], None],
) -> tuple[GoalOutcome, ...]:
    if knowing is None:
        raise ParameterError("to compare the goals, name an attacker who knows and retrains: knowing=")
    start = 0 if seed is None else seed
    budgets = goal_budgets(ladder)
    return tuple(
        measure_goals(
            halves(train, test, start), guard, [knowing], budgets, precision_budget=budgets[len(budgets) // 2],
            draws=DRAWS, seed=start, progress=progress,
        )
    )  # fmt: skip


def goal_budgets(ladder: Sequence[float]) -> list[float]:
    """Three of the budgets: the largest, and those nearest to a half and a quarter of it."""
    known = [budget for budget in ladder if budget > 0]
    return sorted({min(known, key=lambda b: abs(b - known[-1] * share)) for share in (0.25, 0.5, 1.0)})


def steps_of(
    data: PublicData,
    guard: AttriGuard,
    attacks: Sequence[Attack],
    budgets: Sequence[float],
    knowing: Attack | None,
    all_goals: bool = False,
) -> int:
    """How many steps `audit` reports to its progress callback."""
    candidates = candidates_of(guard.goal, data.m, max(budgets))
    # Where every budget has candidates of its own, each of them is attacked.
    planned = len({0.0, *budgets}) if follows_budget(guard) else 1
    steps = 1 + len(attacks) * (1 + planned * candidates) + (0 if knowing is None else aware_steps(1, 0, 1, candidates))
    if all_goals:
        steps += sum(aware_steps(1, 0, 3, candidates_of(goal, data.m, max(budgets))) for goal in GOALS)
    return steps


def _curve(
    plan: Plan,
    attack: Attack,
    test: PublicData,
    ladder: tuple[float, ...],
    progress: Callable[[str, float], None],
) -> Curve:
    def step(_: int) -> None:
        progress(f"{attack.name} attacks", 1)

    return accuracy_over_budgets(plan, attack, test.y, ladder, progress=step)


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
    share = 0.1 if known.n_users >= 5000 else 0.3
    train, test = known.split(test_size=share, random_state=0 if seed is None else seed)
    if np.unique(train.y).size < data.m or not test.n_users:
        raise DataError(f"{known.n_users} users are too few to learn from some and to test on others")
    return train, test


def item_name(data: PublicData, column: int) -> str:
    return str(data.items[column] if data.item_names is None else data.item_names[column])


def _example(data: PublicData, guard: AttriGuard, plan: Plan) -> Example:
    """A typical user: the one whose expected cost is the median."""
    user = int(np.argsort(plan.expected_cost, kind="stable")[plan.X.shape[0] // 2])
    row = plan.X[[user]]
    had = dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))

    def shown(entry: float) -> str:
        if entry == 0:
            return "–"
        return "like" if data.scale.is_likes else f"{float(data.scale.from_unit(entry)):g}"

    rows, names = [], plan.names(guard.values_)
    for i in np.argsort(-plan.probabilities[user], kind="stable")[:6]:
        items, values = plan.edits.of(user, int(i))
        changes = tuple(
            Change(item_name(data, int(j)), shown(had.get(int(j), 0.0)), shown(float(v)))
            for j, v in zip(items, values, strict=True)
        )
        rows.append((names[i], float(plan.probabilities[user, i]), changes))
    return Example(rated=len(had), inferred=guard.values_[plan.inferred[user]], rows=tuple(rows))
