"""The audit: how well attackers infer the attribute now, which items give it away, and what each budget buys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from attriguard.attacks.base import Attack
from attriguard.data.public_data import PublicData
from attriguard.errors import DataError, ParameterError
from attriguard.evaluation.accuracy import check_budgets
from attriguard.evaluation.exposure import Exposure, expose, is_baseline
from attriguard.evaluation.goals_compared import GoalOutcome, PrecisionTest, measure_goals
from attriguard.evaluation.inference import FEWEST_PER_VALUE, check_values, strongest
from attriguard.evaluation.kept import Kept
from attriguard.evaluation.measure import PLAIN, Measure
from attriguard.evaluation.protection import DRAWS, Protection, protection
from attriguard.evaluation.protocol import Groups, halves
from attriguard.evaluation.revealing import RevealingItem, revealing_items
from attriguard.evaluation.verdict import Verdict
from attriguard.guard import AttriGuard
from attriguard.progress import Progress, ProgressLike

# The guard's half and the attacker's half of the training users must have two users of each value.
FEWEST_TO_HALVE = 2 * FEWEST_PER_VALUE
# The share of users that are protected and attacked: of few users, and of `MANY_USERS` or more.
MANY_USERS = 5000
ATTACKED, ATTACKED_OF_MANY = 0.3, 0.1
# About how long the parts of an audit take: attacks now, a guard's trial, all goals.
NOW_SHARE, TRIAL_SHARE, GOALS_SHARE = 4.0, 3.0, 16.0


@dataclass(frozen=True)
class About:
    """What the audited table is, without anybody's ratings."""

    source: str  # the data set's name, or the file's
    attribute: str
    values: tuple[str, ...]
    n_users: int
    n_items: int
    n_ratings: int
    scale: str
    items: Mapping[int, str]  # names, or ids where they have none, of the columns that give most away

    @property
    def m(self) -> int:
        """The number of values."""
        return len(self.values)


@dataclass(frozen=True, eq=False)
class Audit:
    """What ratings give away, before and after protection."""

    about: About
    now: Exposure
    revealing: tuple[RevealingItem, ...]
    guard: AttriGuard  # its options; it has learnt nothing
    trial: Protection | None  # None where a value has too few users for three groups
    goals: tuple[GoalOutcome, ...] = ()  # all of them, side by side, where that was asked for
    kept: Kept | None = None  # what those infer who kept the releases of a ledger

    @property
    def verdict(self) -> Verdict:
        """Is it given away?"""
        return self.now.verdict

    @property
    def figure(self) -> str:
        """What the audit speaks of: "accuracy", or "auc" where accuracy is misleading.

        With two values an accuracy below guessing only means that answers are to be turned round; and where one value
        is frequent, who is right no more often than a guesser may still tell users apart.
        """
        best = strongest(self.now.found, "accuracy").accuracy
        return "accuracy" if self.about.m > 2 and best.value - best.margin > self.now.guessing else "auc"

    @property
    def guessing(self) -> float:
        """What guessing gives, in terms of `figure`."""
        return self.now.guessing if self.figure == "accuracy" else 0.5


def audit(
    data: PublicData,
    *,
    guard: AttriGuard,
    attacks: Sequence[Attack],
    budgets: Sequence[float],
    retrained: Sequence[Attack] = (),
    all_goals: bool = False,
    measure: Measure = PLAIN,
    progress: ProgressLike = None,
) -> Audit:
    """Attack all users as they are, by cross-validation; and users that a guard has not seen, as it would release them.

    Parameters
    ----------
    guard, attacks
        Unfitted. At least one of the attacks must learn from the data; the others guess.
    budgets
        Rising numbers; 0, no protection, is always among them.
    retrained
        Attackers who know the guard and retrain.
    all_goals
        Measure the same for every goal that a guard can have.
    """
    ladder = tuple(sorted({0.0, *check_budgets(budgets)}))
    learning = [attack for attack in attacks if not is_baseline(attack)]
    if not learning:
        raise ParameterError("these attackers only guess; name one that learns from the ratings, such as LR-A")
    if all_goals and not retrained:
        raise ParameterError("to compare the goals, name attackers who know the guard and retrain: retrained=")
    check_values(data.y, data.values, data.attribute)
    seed, known = measure.seed or 0, data.take(data.disclosed)
    groups = audit_groups(known, seed)
    work = (NOW_SHARE, TRIAL_SHARE * (groups is not None), GOALS_SHARE * all_goals)
    attacking, trying, comparing = Progress.of(progress).parts(*work)
    revealing = tuple(revealing_items(known.X, known.y, known.m))
    own = clone(guard)
    return Audit(
        about=_about(data, revealing),
        now=expose(known.X, known.y, attacks, seed, attacking),
        revealing=revealing,
        guard=guard,
        trial=groups and protection(groups, own, learning, retrained, ladder, seed=seed, progress=trying),
        goals=_goals(groups, guard, retrained, ladder, measure, comparing) if all_goals else (),
    )


def audit_groups(known: PublicData, seed: int) -> Groups | None:
    """The guard's users, the attackers' and those who are attacked; None where a value has too few users for all."""
    train, test = known.split(test_size=ATTACKED if known.n_users < MANY_USERS else ATTACKED_OF_MANY, random_state=seed)
    enough = np.bincount(train.y, minlength=known.m).min() >= FEWEST_TO_HALVE
    return halves(train, test, seed) if enough and np.bincount(test.y, minlength=known.m).all() else None


def _about(data: PublicData, revealing: Sequence[RevealingItem]) -> About:
    names = data.items if data.item_names is None else data.item_names
    return About(
        source=data.name,
        attribute=data.attribute,
        values=data.values,
        n_users=data.n_users,
        n_items=data.n_items,
        n_ratings=int(data.X.nnz),
        scale=str(data.scale),
        items={item.column: str(names[item.column]) for item in revealing},
    )


def _goals(
    groups: Groups | None,
    guard: AttriGuard,
    retrained: Sequence[Attack],
    ladder: tuple[float, ...],
    measure: Measure,
    progress: Progress,
) -> tuple[GoalOutcome, ...]:
    if groups is None:
        raise DataError(
            "some values have too few users to compare the goals; merge or drop the rare ones with min_users "
            "(--min-users)"
        )
    budgets = goal_budgets(ladder)
    precision = PrecisionTest(budgets[len(budgets) // 2])
    how = Measure(measure.seed or 0, measure.draws_or(DRAWS), measure.cache)
    return tuple(measure_goals(groups, guard, retrained, budgets, precision=precision, measure=how, progress=progress))


def goal_budgets(ladder: Sequence[float]) -> list[float]:
    """Three of the budgets: the largest, and those nearest to a half and a quarter of it."""
    known = [budget for budget in ladder if budget > 0]
    return sorted({min(known, key=lambda b: abs(b - known[-1] * share)) for share in (0.25, 0.5, 1.0) if known})


def split_for_audit(data: PublicData, seed: int | None) -> tuple[PublicData, PublicData]:
    """Users who disclose the attribute, in two groups: one to learn from, one to attack."""
    check_values(data.y, data.values, data.attribute)
    if data.test_mask is not None:
        train, test = data.split()
        return train.take(train.disclosed), test.take(test.disclosed)
    known = data.take(data.disclosed)
    share = ATTACKED_OF_MANY if known.n_users >= MANY_USERS else ATTACKED
    train, test = known.split(test_size=share, random_state=0 if seed is None else seed)
    if np.unique(train.y).size < data.m or not test.n_users:
        raise DataError(
            f"{known.n_users} users are too few to learn from some and to test on others; merge or "
            "drop rare values with min_users (--min-users)"
        )
    return train, test
