"""``ag.evaluate``: attackers against budgets, before and after; and the goals side by side over several seeds."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import clone

from attriguard.attacks import class_of, lineup, names
from attriguard.data.public_data import PublicData
from attriguard.errors import ParameterError
from attriguard.evaluation.accuracy import Curve, check_budgets
from attriguard.evaluation.audit import split_for_audit
from attriguard.evaluation.aware import Aware, evaluate_aware
from attriguard.evaluation.engine import evaluate as run_evaluation
from attriguard.evaluation.goals_compared import GoalsOverSeeds, goals_over_seeds
from attriguard.evaluation.measure import Measure
from attriguard.evaluation.protocol import halves
from attriguard.guard import AttriGuard
from attriguard.operations.inputs import DataLike, as_data, make_guard, split_options
from attriguard.operations.results import Result
from attriguard.operations.tidy import ACCURACY, curve_rows
from attriguard.operations.work import open_cache
from attriguard.progress import Progress, ProgressLike
from attriguard.report.evaluation import Evaluation, curves_plot, evaluation_page, record, tables
from attriguard.report.goals import goals_page, goals_table
from attriguard.report.page import Page, Table
from attriguard.report.record import versions

BUDGETS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
ALL = "all"


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
        """How much was measured, and on what."""
        found = self.found
        return f"{len(found.curves)} attackers against {len(found.budgets)} budgets on {found.source}"

    def rows(self) -> list[dict[str, Any]]:
        """One row a figure: attack, whether it was retrained on protected data, budget, accuracy, interval."""
        found, aware = self.found, self.found.aware
        rows = curve_rows(found.curves)
        if aware is not None:
            rows += curve_rows(aware.unaware) + curve_rows(aware.retrained, retrained=True)
            rows += curve_rows(aware.inversion, retrained=False)
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
        """How much was measured, and on what."""
        return goals_page(self.found, self.source).lead

    def rows(self) -> list[dict[str, Any]]:
        """One row a figure: goal, seed, attack, whether it was retrained, budget, accuracy."""
        known = self.found.record()
        rows = []
        for goal, each in known["goals"].items():
            for measured in each:
                for retrained, kind in ((False, "does_not_know"), (True, "knows")):
                    for attack, accuracies in measured[kind].items():
                        rows += [
                            {
                                "figure": ACCURACY, "attack": attack, "retrained": retrained, "goal": goal,
                                "seed": measured["seed"], "budget": float(budget), "value": float(accuracy),
                            }
                            for budget, accuracy in zip(known["budgets"], accuracies, strict=True)
                        ]  # fmt: skip
        return rows

    def record(self) -> dict[str, Any]:
        """Everything, as JSON knows it."""
        return {**self.settings, "dataset": self.source, **self.found.record(), "versions": versions()}

    def tables(self) -> list[Table]:
        """The best attacker of every goal, by budget."""
        return [goals_table(self.found)]

    def page(self) -> Page:
        """The same as a page."""
        return goals_page(self.found, self.source)


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
    same call again takes seconds and an interrupted one goes on.

    Parameters
    ----------
    data
        ``PublicData``, or ratings as a path, an Arrow table or a frame, with ``attributes`` and ``attribute``.
    attacks
        The attackers, by name, or "all".
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
    **options
        Options of `read_ratings` and of `AttriGuard`.

    Examples
    --------
    >>> import attriguard as ag
    >>> data = ag.load_dataset("twin", n_users=400, n_items=60, n_values=2)
    >>> found = ag.evaluate(data, attacks=["BA-A", "LR-A"], budgets=[1, 2], work=folder)
    >>> sorted(set(found.to_arrow()["attack"].to_pylist()))
    ['BA-A', 'LR-A']
    """
    ladder = check_budgets(budgets)
    if isinstance(attacks, str) and attacks.strip() != ALL:
        raise ParameterError(f"attacks is a list of names, or {ALL!r}; got {attacks!r}")
    wanted = names() if isinstance(attacks, str) else [name.strip() for name in attacks]
    for name in (*wanted, *knowing.retrained, *knowing.inversion):
        class_of(name)
    seeds = [random_state] if isinstance(random_state, int) else list(random_state)
    reading, own = split_options(options)
    users = as_data(data, reading)
    if goals:
        if knowing.anybody:
            raise ParameterError("goals measures every attacker unaware and retrained; leave out knowing")
        guard = make_guard(users, own, seeds[0])
        made = lineup(wanted, **(attack_options or {}))
        found = goals_over_seeds(
            users, guard, made, ladder, goals=tuple(goals), seeds=seeds,
            measure=Measure(draws=knowing.draws, cache=open_cache(work)), progress=progress,
        )  # fmt: skip
        return GoalsResult(found, users.name)
    if len(seeds) != 1:
        raise ParameterError("several seeds are for goals; name one seed")
    run = Run(users, make_guard(users, own | {"budget": ladder[-1]}, seeds[0]), ladder, seeds[0], attack_options or {})
    paper, aware = Progress.of(progress).parts(1, 1 if knowing.anybody else 0)
    measure = Measure(seed=seeds[0], draws=knowing.draws, cache=open_cache(work))
    curves, sizes = run.as_in_the_paper(wanted, measure, paper)
    return EvaluationResult(
        Evaluation(
            source=users.name,
            attribute=users.attribute,
            m=users.m,
            budgets=ladder,
            curves=tuple(curves),
            aware=run.with_knowing(knowing, measure, aware) if knowing.anybody else None,
            settings={"seed": seeds[0], "guard": run.described, **dict(attack_options or {}), **sizes},
        )
    )


@dataclass(frozen=True, eq=False)
class Run:
    """One evaluation: users, an unfitted guard, budgets and a seed."""

    users: PublicData
    guard: AttriGuard
    ladder: tuple[float, ...]
    seed: int
    options: Mapping[str, Any]

    def as_in_the_paper(
        self, wanted: Sequence[str], measure: Measure, progress: Progress
    ) -> tuple[list[Curve], dict[str, int]]:
        """Attackers and guard learn from the same training users."""
        train, test = split_for_audit(self.users, self.seed)
        learning, attacking = progress.parts(1, 4)
        guard = clone(self.guard).fit(train.X, train.y, progress=learning)
        attacks = lineup(wanted, random_state=self.seed, guard=guard, **self.options)
        plan = guard.plan(test.X)
        curves = run_evaluation(
            plan, attacks, test.y, self.ladder, train=(train.X, train.y), measure=measure, progress=attacking
        )
        return curves, {"training_users": train.n_users, "test_users": test.n_users}

    def with_knowing(self, knowing: Knowing, measure: Measure, progress: Progress) -> Aware:
        """Three groups that share nobody: the guard's users, the attacker's users, the test users."""
        groups = halves(*split_for_audit(self.users, self.seed), self.seed)
        retrained, inversion = (
            lineup(each, random_state=self.seed, **self.options) for each in (knowing.retrained, knowing.inversion)
        )
        return evaluate_aware(
            groups,
            clone(self.guard),
            retrained,
            self.ladder,
            inversion=inversion,
            detector=knowing.detector,
            measure=measure,
            progress=progress,
        )

    @property
    def described(self) -> dict[str, str]:
        """The guard's options that decide the figures."""
        return {name: str(getattr(self.guard, name)) for name in ("goal", "classifier", "search", "policy", "target")}
