"""``ag.compare``: defenses side by side: what each costs a user, and what attackers still infer."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from attriguard._checks import check_choice, check_number
from attriguard.attacks import class_of, lineup
from attriguard.attacks.base import Attack
from attriguard.data.public_data import PublicData
from attriguard.defenses import lineup as defense_lineup
from attriguard.defenses import names as defense_names
from attriguard.defenses.base import Defense
from attriguard.errors import ParameterError
from attriguard.evaluation.audit import split_for_audit
from attriguard.evaluation.comparison import Tradeoff
from attriguard.evaluation.comparison import compare as run_comparison
from attriguard.evaluation.measure import Measure
from attriguard.evaluation.precision import RecommenderSetup, common_level, precision_losses, strengths_at
from attriguard.operations.inputs import DataLike, as_data, split_options
from attriguard.operations.results import Result
from attriguard.operations.tidy import curve_rows
from attriguard.operations.work import open_cache
from attriguard.progress import Progress, ProgressLike
from attriguard.report.comparison import Comparison, Costs, comparison_page, record, tables, tradeoff_plot, verdict
from attriguard.report.page import Page, Table
from attriguard.report.plots import draw
from attriguard.utility import get as get_recommender
from attriguard.utility.holdout import HELD_OUT
from attriguard.utility.recommenders import load_extra

ATTACKS = ("NN-A", "LR-A")
# Levels that are looked for where none are named: so much of the way from guessing to what is inferred now.
REACH = (0.8, 0.6, 0.4, 0.2, 0.1)
ALL = "all"


@dataclass(frozen=True)
class RecommenderTest:
    """What defenses cost a recommender where the first attacker infers equally little after each.

    Parameters
    ----------
    recommender
        "SVD", "ALS" or "PureSVD".
    at
        That attacker's accuracy; None: the lowest that all defenses reach.
    holdouts
        How often the recommender's test items are drawn anew.
    """

    recommender: str = "PureSVD"
    at: float | None = None
    holdouts: int = 3


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonResult(Result):
    """What each defense costs a user, and what attackers still infer after it."""

    found: Comparison

    @property
    def headline(self) -> str:
        """Which defense is best at what."""
        return verdict(self.found)

    @property
    def remarks(self) -> Sequence[str]:
        """Which defenses are told every user's true value, and who could not be tested."""
        return self.found.remarks

    def rows(self) -> list[dict[str, Any]]:
        """One row a figure: defense, strength, attack, changes a user, accuracy, interval."""
        rows = []
        for tradeoff in self.found.tradeoffs:
            for row in curve_rows(tradeoff.curves, defense=tradeoff.defense):
                strength = row.pop("budget")
                rows.append({**row, "strength": strength})
        return rows

    def record(self) -> dict[str, Any]:
        """Everything, as JSON knows it."""
        return record(self.found)

    def tables(self) -> list[Table]:
        """Every point, what each defense needs for each accuracy, and what a recommender loses."""
        return tables(self.found)

    def page(self) -> Page:
        """The tables, and the trade-offs drawn."""
        return comparison_page(self.found)

    @property
    def drawing(self) -> str:
        """The trade-offs for the first attacker."""
        return draw(tradeoff_plot(self.found, self.found.attacks[0])).svg


def compare(
    data: DataLike,
    *,
    defenses: Sequence[str] | str = ALL,
    attacks: Sequence[str] = ATTACKS,
    strengths: Mapping[str, Sequence[float]] | None = None,
    reach: Sequence[float] | None = None,
    cost: RecommenderTest | None = None,
    draws: int = 4,
    attack_options: Mapping[str, Any] | None = None,
    work: str | os.PathLike[str] | None = None,
    random_state: int = 0,
    progress: ProgressLike = None,
    **options: Any,
) -> ComparisonResult:
    """Put defenses side by side. Attackers and defenses learn from the same training users, as in the paper.

    ``data``, ``attack_options``, ``work``, ``random_state`` and ``progress`` are those of `evaluate`. ``options`` are
    those of `read_ratings`, and of `AttriGuard` for the defense of that name.

    Parameters
    ----------
    defenses
        By name or as "module:Class", or "all".
    attacks
        The attackers, by name or as "module:Class".
    strengths
        A defense's own strengths instead of its usual ones: ``{"BlurMe": [1, 10, 100]}``.
    reach
        Accuracies; the result says what each defense needs to bring the attackers down to them. None: 80, 60, 40, 20
        and 10 % of the way from guessing to what the strongest attacker infers now.
    cost
        Also measure what the defenses cost a recommender.
    draws
        How often a defense that leaves something to chance is drawn.
    """
    reading, own = split_options(options)
    levels = None if reach is None else _levels(reach)
    learner = None if cost is None else _recommender(cost.recommender, random_state)
    attackers = _attackers(attacks, random_state, attack_options or {})
    users = as_data(data, reading)
    rivals = _defenses(defenses, users, own, random_state)
    given = _strengths(strengths or {}, [defense.name for defense in rivals])
    comparing, costing = Progress.of(progress).parts(4, 0 if cost is None else 1)
    with open_cache(work) as cache:
        run = Run(split_for_audit(users, random_state), rivals, attackers, Measure(random_state, draws, cache))
        tradeoffs = run.tradeoffs(given, comparing)
        costs = None if cost is None else run.costs(cost, learner, tradeoffs, costing)
    named = {name: str(value) for name, value in own.items() if value is not None}
    return ComparisonResult(run.comparison(users, tradeoffs, levels, costs, {"guard": named, **(attack_options or {})}))


@dataclass(frozen=True, eq=False)
class Run:
    """One comparison: users to learn from and users to attack, defenses, attackers, and how it is measured."""

    split: tuple[PublicData, PublicData]
    defenses: Sequence[Defense]
    attacks: Sequence[Attack]
    measure: Measure

    def tradeoffs(self, strengths: Mapping[str, Sequence[float]], progress: Progress) -> list[Tradeoff]:
        """What each defense costs at each strength, and what the attackers infer then."""
        train, test = self.split
        return run_comparison(
            self.defenses,
            self.attacks,
            test.X,
            test.y,
            train=(train.X, train.y),
            strengths=strengths,
            measure=self.measure,
            progress=progress,
        )

    def costs(self, cost: RecommenderTest, learner: Any, tradeoffs: Sequence[Tradeoff], progress: Progress) -> Costs:
        """What each defense costs the recommender at the strength that brings the first attacker to one accuracy."""
        train, test = self.split
        first = self.attacks[0].name
        level = common_level(tradeoffs, first) if cost.at is None else check_number(cost.at, name="at", low=0.0, high=1)
        chosen = strengths_at(tradeoffs, self.defenses, first, level)
        everybody = csr_array(vstack([train.X, test.X], format="csr"))
        protected = np.arange(train.n_users, everybody.shape[0])
        setup = RecommenderSetup(everybody, protected, learner, holdouts=cost.holdouts)
        learning, recommending = progress.parts(1, cost.holdouts)
        for defense, part in learning.each(self.defenses, lambda each: each.name):
            defense.fit(train.X, train.y, progress=part)
        losses = precision_losses(setup, self.defenses, chosen, test.y, measure=self.measure, progress=recommending)
        few = int((np.diff(everybody.indptr) <= HELD_OUT).sum())
        return Costs(learner.name, first, level, cost.holdouts, few, tuple(losses))

    def comparison(
        self,
        users: PublicData,
        tradeoffs: Sequence[Tradeoff],
        levels: tuple[float, ...] | None,
        costs: Costs | None,
        settings: Mapping[str, Any],
    ) -> Comparison:
        """Everything that was measured, with what is needed to measure it again."""
        train, test = self.split
        most_frequent = np.bincount(train.y, minlength=users.m).argmax()
        guessing = float(np.mean(test.y == most_frequent))
        return Comparison(
            source=users.name,
            attribute=users.attribute,
            tradeoffs=tuple(tradeoffs),
            levels=usual_levels(tradeoffs, guessing) if levels is None else levels,
            costs=costs,
            guessing=guessing,
            settings={
                "seed": self.measure.seed,
                **settings,
                "draws": self.measure.draws,
                "training_users": train.n_users,
                "test_users": test.n_users,
            },
            summaries={defense.name: f"A defense: {defense.summary}." for defense in self.defenses},
        )


def _attackers(wanted: Sequence[str], seed: int, options: Mapping[str, Any]) -> list[Attack]:
    for name in wanted:
        if "guard" in class_of(name.strip()).needs:
            raise ParameterError(f"{name} adapts to AttriGuard alone; leave it out when comparing defenses")
    attackers = lineup(wanted, random_state=seed, **options)
    for attack in attackers:
        attack.check_options()
    return attackers


def _defenses(wanted: Sequence[str] | str, users: PublicData, guard: Mapping[str, Any], seed: int) -> list[Defense]:
    """By name; AttriGuard with the options that were given for it."""
    if isinstance(wanted, str) and wanted.strip() != ALL:
        raise ParameterError(f"defenses is a list of names, or {ALL!r}; got {wanted!r}")
    asked = defense_names() if isinstance(wanted, str) else [name.strip() for name in wanted]
    return defense_lineup(asked, scale=users.scale, random_state=seed, **guard)


def _strengths(given: Mapping[str, Sequence[float]], names: Sequence[str]) -> Mapping[str, Sequence[float]]:
    for name in given:
        check_choice(name, names, name="defense in strengths")
    return given


def usual_levels(tradeoffs: Sequence[Tradeoff], guessing: float) -> tuple[float, ...]:
    """Levels between guessing and what the strongest attacker infers now; guessing itself where nobody infers more."""
    now = max(curve.before or 0.0 for tradeoff in tradeoffs for curve in tradeoff.curves)
    return _levels([round(guessing + share * max(0.0, now - guessing), 3) for share in REACH])


def _levels(reach: Sequence[float]) -> tuple[float, ...]:
    levels = [float(level) for level in reach]
    if any(not 0 <= level <= 1 for level in levels):
        raise ParameterError(f"reach wants shares of users between 0 and 1, got {', '.join(map(str, reach))}")
    return tuple(sorted(set(levels), reverse=True))


def _recommender(name: str, seed: int) -> Any:
    """Made before the long work, so that a missing package is told at once."""
    chosen = get_recommender(name, random_state=seed)
    for package in chosen.packages:
        load_extra(package)
    return chosen
