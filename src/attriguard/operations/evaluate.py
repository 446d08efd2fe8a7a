"""``ag.evaluate``: attackers against budgets, before and after; and the goals side by side over several seeds."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from attriguard._checks import check_count
from attriguard._registry import options_of
from attriguard.attacks import class_of, lineup, names, taken_apart
from attriguard.data.public_data import PublicData
from attriguard.errors import ParameterError
from attriguard.evaluation.accuracy import Curve, check_budgets
from attriguard.evaluation.audit import split_for_audit
from attriguard.evaluation.aware import Aware, evaluate_aware
from attriguard.evaluation.engine import evaluate as run_evaluation
from attriguard.evaluation.goals_compared import KNOWS, UNAWARE, Compared, GoalsOverSeeds, goals_over_seeds
from attriguard.evaluation.measure import Measure
from attriguard.evaluation.protocol import halves
from attriguard.guard import AttriGuard
from attriguard.operations.inputs import DataLike, as_data, make_guard, split_options
from attriguard.operations.results import Result
from attriguard.operations.tidy import ACCURACY, curve_rows
from attriguard.operations.work import open_cache
from attriguard.progress import Progress, ProgressLike
from attriguard.report.evaluation import Evaluation, curves_plot, evaluation_page, record, tables, verdict
from attriguard.report.goals import goals_page, goals_table, seeds_of
from attriguard.report.goals import verdict as goals_verdict
from attriguard.report.page import Page, Table
from attriguard.report.record import versions

BUDGETS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
ALL = "all"
BEST_ACCURACY = "best_accuracy"
# The guard's options that decide the figures.
DESCRIBED = ("goal", "classifier", "search", "policy", "target", "confidence", "split")
Split = tuple[PublicData, PublicData]  # training users, test users
# The keys of a record over seeds, and whether their attackers were retrained.
KEYS = {UNAWARE: False, KNOWS: True}


@dataclass(frozen=True)
class Knowing:
    """Attackers who know the guard, measured on three groups of users that share nobody.

    Parameters
    ----------
    retrained
        Attacks that protect users of their own with that guard and learn from those.
    inversion
        Attacks that undo the guard's changes first.
    detector
        Also measure how well protected users are told from untouched ones.
    draws
        How often a retrained attacker protects each of his users.
    """

    retrained: Sequence[str] = ()
    inversion: Sequence[str] = ()
    detector: bool = False
    draws: int = 4

    @property
    def anybody(self) -> bool:
        """Whether there is anything to measure."""
        return bool(self.retrained or self.inversion or self.detector)


NOBODY = Knowing()


@dataclass(frozen=True, eq=False, repr=False)
class EvaluationResult(Result):
    """What each attacker infers, for every budget."""

    found: Evaluation

    @property
    def headline(self) -> str:
        """What the strongest attackers infer, without the guard and with it."""
        return verdict(self.found)

    def rows(self) -> list[dict[str, Any]]:
        """One row a figure: attack, whether it was retrained on protected data, budget, accuracy, interval."""
        found, aware = self.found, self.found.aware
        rows = curve_rows(found.curves)
        if aware is not None:
            rows += curve_rows(aware.unaware, own_users=True)
            rows += curve_rows(aware.retrained, own_users=True, retrained=True)
            rows += curve_rows(aware.inversion, own_users=True)
            rows += [
                {"figure": "detection_auc", "budget": float(budget), "value": float(auc)}
                for budget, auc in zip(found.budgets, aware.detection, strict=False)
            ]
        return rows

    def record(self) -> dict[str, Any]:
        """Everything, as JSON knows it."""
        return record(self.found)

    def tables(self) -> list[Table]:
        """Attackers by budget."""
        return tables(self.found)

    def page(self) -> Page:
        """The tables, and the curves drawn."""
        return evaluation_page(self.found)

    @property
    def drawing(self) -> str:
        """The curves."""
        return curves_plot(self.found)


@dataclass(frozen=True, eq=False, repr=False)
class GoalsResult(Result):
    """The goals side by side over several seeds: the best attacker of each, with its interval."""

    found: GoalsOverSeeds
    source: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def headline(self) -> str:
        """Which goal leaves the best attacker least."""
        return goals_verdict(self.found)

    def rows(self) -> list[dict[str, Any]]:
        """One row a figure: goal, seed, attack, whether it was retrained, budget, accuracy.

        Rows without attack and seed are the best attacker's: the mean over seeds, with its interval.
        """
        known = self.found.record()
        rows = self._best_rows()
        for goal, seeds in known["goals"].items():
            for measured in seeds:
                rows += _seed_rows(goal, measured, known["budgets"])
        return rows

    def _best_rows(self) -> list[dict[str, Any]]:
        several = seeds_of(self.found) > 1
        return [
            {
                "figure": BEST_ACCURACY, "attack": None, "retrained": retrained, "goal": goal, "seed": None,
                "budget": float(budget), "value": float(mean), "interval": float(half) if several else None,
            }
            for goal in self.found.outcomes
            for kind, retrained in KEYS.items()
            for budget, mean, half in zip(self.found.budgets, *self.found.best(goal, kind), strict=True)
        ]  # fmt: skip

    def record(self) -> dict[str, Any]:
        """Everything, as JSON knows it."""
        return {**self.settings, "dataset": self.source, **self.found.record(), "versions": versions()}

    def tables(self) -> list[Table]:
        """The best attacker of every goal, by budget."""
        return [goals_table(self.found)]

    def page(self) -> Page:
        """The same as a page."""
        return goals_page(self.found, self.source)


def _seed_rows(goal: str, measured: Mapping[str, Any], budgets: Sequence[float]) -> list[dict[str, Any]]:
    """What every attack inferred with one seed."""
    return [
        _goal_row(
            goal, budget, value, figure=ACCURACY, attack=attack, retrained=retrained, seed=measured["seed"],
            changes=changes,
        )
        for key, retrained in KEYS.items()
        for attack, accuracies in measured[key].items()
        for budget, value, changes in zip(budgets, accuracies, measured["changes"], strict=True)
    ]  # fmt: skip


def _goal_row(goal: str, budget: float, value: float, *, figure: str, **rest: Any) -> dict[str, Any]:
    return {"figure": figure, "goal": goal, "budget": float(budget), "value": float(value), **rest}


def evaluate(
    data: DataLike,
    *,
    attacks: Sequence[str] | str = ALL,
    budgets: Sequence[float] = BUDGETS,
    knowing: Knowing = NOBODY,
    goals: Sequence[str] = (),
    attack_options: Mapping[str, Any] | None = None,
    work: str | os.PathLike[str] | None = None,
    random_state: int | Sequence[int] = 0,
    progress: ProgressLike = None,
    **options: Any,
) -> EvaluationResult | GoalsResult:
    """How much do attackers infer before and after protection, for each budget?

    Attackers and guard learn from the same training users, as in the paper. What was predicted is kept, so that the
    same call again takes seconds and an interrupted one goes on. ``options`` are those of `read_ratings` and of
    `AttriGuard`.

    Parameters
    ----------
    data
        ``PublicData``, or ratings as a path, an Arrow table or a frame, with ``attributes`` and ``attribute``.
    attacks
        The attackers, by name or as "module:Class", or "all".
    budgets
        How many ratings may change a user, on average; rising.
    knowing
        Attackers who know the guard.
    goals
        Measure these goals side by side instead: each attacker unaware and retrained, for every seed.
    attack_options
        Options of attacks, such as ``{"hidden": 500}``; each attack takes those that it has.
    work
        A folder for what was learnt; the user's cache if not given.
    random_state
        The seed; with ``goals``, one or several.
    progress
        Where to report progress (see `Progress`).
    """
    seeds = [check_count(seed, name="random_state", low=0) for seed in np.atleast_1d(random_state)]
    reading, own = split_options(options)
    wanted = _attackers(attacks, knowing, attack_options or {})
    run = Run(wanted, check_budgets(budgets), own, attack_options or {}, work)
    if goals:
        return run.goals(as_data(data, reading), goals, seeds, knowing, Progress.of(progress))
    if len(seeds) != 1:
        raise ParameterError("several seeds are for goals; name one seed")
    return run.evaluation(as_data(data, reading), knowing, seeds[0], Progress.of(progress))


def _attackers(attacks: Sequence[str] | str, knowing: Knowing, options: Mapping[str, Any]) -> list[str]:
    """The attackers' names; an unknown one, or a wrong option, is told before anything is read."""
    if isinstance(attacks, str) and attacks.strip() != ALL:
        raise ParameterError(f"attacks is a list of names, or {ALL!r}; got {attacks!r}")
    wanted = names() if isinstance(attacks, str) else [name.strip() for name in attacks]
    for name in wanted:
        way, inner = taken_apart(name)
        if way is not None and "guard" in class_of(name).needs:
            raise ParameterError(
                f"{name} knows the guard and is measured on users that the guard has not learnt from: name {inner} "
                "among those who know the guard (retrained, inversion)"
            )
    # The others get the guard when it is learnt.
    known = [name for name in wanted if "guard" not in options_of(class_of(name))]
    for attack in lineup([*known, *knowing.retrained, *knowing.inversion], **options):
        attack.check_options()
    return wanted


def described(guard: AttriGuard) -> dict[str, str]:
    """The options that decide the figures, for a record; one that was not given is left out."""
    given = {name: getattr(guard, name) for name in DESCRIBED}
    return {name: str(value) for name, value in given.items() if value is not None}


@dataclass(frozen=True, eq=False)
class Run:
    """One evaluation: attackers, budgets, the options of guard and attacks, and where to keep what was learnt."""

    wanted: Sequence[str]
    ladder: tuple[float, ...]
    guard_options: Mapping[str, Any]
    attack_options: Mapping[str, Any]
    work: str | os.PathLike[str] | None

    def goals(
        self, users: PublicData, goals: Sequence[str], seeds: Sequence[int], knowing: Knowing, progress: Progress
    ) -> GoalsResult:
        """Goals side by side: every attacker unaware and retrained, for every seed."""
        if knowing.retrained or knowing.detector:
            raise ParameterError("goals measures every attacker unaware and retrained, and detects: name no others")
        guard = make_guard(users, self.guard_options, seeds[0])
        with open_cache(self.work) as cache:
            found = goals_over_seeds(
                users,
                guard,
                lineup(self.wanted, **self.attack_options),
                self.ladder,
                compared=Compared(
                    goals=tuple(goals), seeds=seeds, inversion=lineup(knowing.inversion, **self.attack_options)
                ),
                measure=Measure(draws=knowing.draws, cache=cache),
                progress=progress,
            )
        options = {name: value for name, value in described(guard).items() if name != "goal"}
        return GoalsResult(found, users.name, {"attribute": users.attribute, "guard": options})

    def evaluation(self, users: PublicData, knowing: Knowing, seed: int, progress: Progress) -> EvaluationResult:
        """Attackers against budgets, and those who know the guard."""
        guard = make_guard(users, {**self.guard_options, "budget": self.ladder[-1]}, seed)
        first, second = progress.parts(1, 1 if knowing.anybody else 0)
        split = split_for_audit(users, seed)
        with open_cache(self.work) as cache:
            measure = Measure(seed=seed, draws=knowing.draws, cache=cache)
            curves = self.as_in_the_paper(guard, split, measure, first)
            aware = self.with_knowing(guard, split, knowing, measure, second) if knowing.anybody else None
        sizes = {"training_users": split[0].n_users, "test_users": split[1].n_users}
        return EvaluationResult(
            Evaluation(
                source=users.name,
                attribute=users.attribute,
                m=users.m,
                budgets=self.ladder,
                curves=tuple(curves),
                aware=aware,
                settings={"seed": seed, "guard": described(guard), **self.attack_options, **sizes},
            )
        )

    def as_in_the_paper(self, unfitted: AttriGuard, split: Split, measure: Measure, progress: Progress) -> list[Curve]:
        """Attackers and guard learn from the same training users."""
        train, test = split
        learning, attacking = progress.parts(1, 4)
        guard = clone(unfitted).fit(train.X, train.y, progress=learning)
        attacks = lineup(self.wanted, random_state=measure.seed, guard=guard, **self.attack_options)
        return run_evaluation(
            guard.plan(test.X),
            attacks,
            test.y,
            self.ladder,
            train=(train.X, train.y),
            measure=measure,
            progress=attacking,
        )

    def with_knowing(
        self, guard: AttriGuard, split: Split, knowing: Knowing, measure: Measure, progress: Progress
    ) -> Aware:
        """Three groups that share nobody: the guard's users, the attacker's users, the test users."""
        retrained, inversion = (
            lineup(each, random_state=measure.seed, **self.attack_options)
            for each in (knowing.retrained, knowing.inversion)
        )
        return evaluate_aware(
            halves(*split, measure.seed),
            clone(guard),
            retrained,
            self.ladder,
            inversion=inversion,
            detector=knowing.detector,
            measure=measure,
            progress=progress,
        )
