"""``ag.audit``: how well attackers infer the attribute now, which items give it away, and what each budget buys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from attriguard.attacks import class_of, lineup
from attriguard.attacks.base import Attack
from attriguard.data.public_data import PublicData
from attriguard.errors import DataError, ParameterError
from attriguard.evaluation.accuracy import check_budgets
from attriguard.evaluation.audit import Audit
from attriguard.evaluation.audit import audit as run_audit
from attriguard.evaluation.aware import Aware
from attriguard.evaluation.exposure import FIGURES
from attriguard.evaluation.goals_compared import GoalOutcome
from attriguard.evaluation.inference import Inference, check_values, divide
from attriguard.evaluation.kept import Kept, attack_history
from attriguard.evaluation.measure import Measure
from attriguard.evaluation.protection import Protection
from attriguard.evaluation.verdict import SMALLEST_EFFECT
from attriguard.ledger.store import Ledger
from attriguard.operations.inputs import SAFEST, DataLike, as_data, make_guard, split_options
from attriguard.operations.keys import read_key
from attriguard.operations.memory import KEPT, Memory
from attriguard.operations.results import Result
from attriguard.operations.tidy import curve_rows
from attriguard.progress import Progress, ProgressLike
from attriguard.report.audit_page import audit_page, budgets_table, goals_tables, now_table, values_table
from attriguard.report.audit_words import remarks, summary
from attriguard.report.kept import kept_table
from attriguard.report.page import Page, Table

ATTACKS = ("BA-A", "LR-A", "RF-A", "MLP-A", "NB-A")
BUDGETS = (1.0, 2.0, 4.0, 8.0)
RETRAINED = ("LR-A", "MLP-A", "NB-A")
NOW, GUARDED, GOALS, KEPT_ALL = "now", "guarded", "goals", "releases"


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult(Result):
    """What a table of ratings gives away, and what a guard does about it; nothing about a single user's attribute."""

    found: Audit
    title: str = ""

    @property
    def verdict(self) -> str:
        """One of three: "gives it away", "nothing found", "too few users to tell"."""
        return self.found.verdict.finding

    @property
    def headline(self) -> str:
        """The verdict, and what the strongest attacker infers now and after protection."""
        return summary(self.found)

    @property
    def remarks(self) -> Sequence[str]:
        """What attackers infer who do not know the guard, and the rule of the verdict."""
        return remarks(self.found)

    def rows(self) -> list[dict[str, Any]]:
        """One row a figure ("accuracy", "balanced", "auc"): setting, attack, learnt from, budget, value, interval.

        The setting is "now" (all users, cross-validated), "guarded" (a guard's trial on users that it has not seen,
        budget 0 included), "goals" (all goals side by side) or "releases" (those who kept all that a ledger has).
        """
        found = self.found
        where = {"setting": NOW, "goal": None, "budget": 0.0, "changes": 0.0, "users": found.now.n_users}
        rows = _rows((*found.now.found, *found.now.guesses), where)
        if found.trial is not None:
            changes = dict(zip(found.trial.budgets, found.trial.changes, strict=True))
            for point in found.trial.points:
                where = {"setting": GUARDED, "goal": found.guard.goal, "budget": point.budget}
                where |= {"changes": changes[point.budget], "users": found.trial.n_test}
                rows += _rows([point.found], where)
        if found.kept is not None:
            where = {"setting": KEPT_ALL, "goal": None, "budget": None, "changes": None, "users": found.kept.n_users}
            rows += _rows(found.kept.found, where)
        for each in found.goals:
            rows += _goal_rows(each.aware, each.goal)
        return rows

    def tables(self) -> list[Table]:
        """Attackers now, value by value, attackers by budget; and the goals side by side, where asked for."""
        found = self.found
        after = [] if found.trial is None else [budgets_table(found, found.trial)]
        kept = [] if found.kept is None else [kept_table(found.kept)]
        return [now_table(found), values_table(found), *kept, *after, *(goals_tables(found) if found.goals else ())]

    def page(self) -> Page:
        """A page for a privacy officer."""
        title = self.title or f"What ratings give away about “{self.found.about.attribute}”"
        return audit_page(self.found, title=title)

    def record(self) -> dict[str, Any]:
        """Everything, as JSON knows it."""
        found = self.found
        about, now = found.about, found.now
        return {
            "attribute": about.attribute,
            "values": about.m,
            "users": about.n_users,
            "disclosing_users": now.n_users,
            "guessing": now.guessing,
            "verdict": _verdict_record(found),
            "now": [_figures(each) for each in (*now.found, *now.guesses)],
            "by_value": [
                {"value": name, "users": of.users, "recall": of.recall, "auc": of.auc}
                for name, of in zip(about.values, found.verdict.strongest.by_value, strict=True)
            ],
            "goal": found.guard.goal,
            "guarded": None if found.trial is None else _trial_record(found.trial, found.figure),
            "goals": {each.goal: _goal_record(each) for each in found.goals},
            "releases": None if found.kept is None else [_figures(each) for each in found.kept.found],
            "revealing_items": [
                {
                    "item": about.items[item.column],
                    "points_to": about.values[item.value],
                    "times_as_frequent": item.lift,
                    "rated_by": item.users,
                    "bits": item.bits,
                }
                for item in found.revealing
            ],
        }


def audit(
    data: DataLike,
    *,
    attacks: Sequence[str] = ATTACKS,
    budgets: Sequence[float] = BUDGETS,
    retrained: Sequence[str] | str | None = RETRAINED,
    all_goals: bool = False,
    title: str = "",
    random_state: int | None = None,
    progress: ProgressLike = None,
    **options: Any,
) -> AuditResult:
    """Attack users of a table before and after protection. ``options``: of `read_ratings` and of `AttriGuard`.

    With ``ledger``, the folder of a ledger, and its ``key``, those who kept every release attack its users, too.

    Parameters
    ----------
    data
        ``PublicData``, or ratings as a path, an Arrow table or a frame, with ``attributes`` and ``attribute``.
    attacks
        The attackers, by name (``ag.attacks.names()``, or "module:Class").
    budgets
        How many ratings may change a user, on average; rising.
    retrained
        The attackers who are also measured as ones who know the guard and retrain; None or () for nobody.
    all_goals
        Also measure all goals side by side; takes some minutes more.
    title
        The title of the page.
    random_state
        Decides how users are divided, and seeds the attackers and the guard.
    progress
        Where to report progress (see `Progress`).
    """
    ladder = check_budgets(budgets)
    knowing = [retrained] if isinstance(retrained, str) else list(retrained or ())
    _check(attacks, knowing, all_goals, ladder)
    ledger = _ledger(options)
    reading, own = split_options(options)
    attackers = lineup(attacks, random_state=random_state)
    aware = lineup(knowing, random_state=random_state)
    users = as_data(data, reading)
    guard = make_guard(users, SAFEST | own | {"budget": ladder[-1]}, random_state)
    auditing, keeping = Progress.of(progress).parts(4, ledger is not None)
    how: dict[str, Any] = {"all_goals": all_goals, "measure": Measure(seed=random_state), "progress": auditing}
    found = run_audit(users, guard=guard, attacks=attackers, budgets=ladder, retrained=aware, **how)
    if ledger is not None:
        found = replace(found, kept=_kept(users, *ledger, aware, random_state or 0, keeping))
    return AuditResult(found, title)


def _ledger(options: dict[str, Any]) -> tuple[Path, bytes] | None:
    """The ledger and its key, taken out of the options."""
    folder, key = options.pop("ledger", None), read_key(options.pop("key", None))
    if (folder is None) != (key is None):
        raise ParameterError("to attack the releases of a ledger, give the ledger and its key")
    return None if folder is None or key is None else (Path(folder), key)


def _kept(data: PublicData, folder: Path, key: bytes, aware: Sequence[Attack], seed: int, progress: Progress) -> Kept:
    """What is inferred from the releases of a ledger about the users of a table who were in them."""
    memory = Memory(Ledger.open(folder, key, data.attribute), data.attribute)
    known = data.take(data.disclosed)
    met = memory.meet(known, known.items)
    there = np.flatnonzero(met.has_past)
    if not there.size:
        raise DataError(f"the ledger {folder} knows no user of this table who discloses {data.attribute!r}")
    check_values(known.y[there], data.values, data.attribute)
    releases = [release[there] for release in met.history(memory.turn, KEPT + 1)]
    y, bases = known.y[there], [each for each in aware if each.name != "LR-A"]
    return Kept(attack_history(releases, y, divide(y, seed), bases, progress), len(releases), int(there.size))


def _check(attacks: Sequence[str], retrained: Sequence[str], all_goals: bool, ladder: tuple[float, ...]) -> None:
    if isinstance(attacks, str):
        raise ParameterError(f"attacks is a list of names, got {attacks!r}")
    for name in (*attacks, *retrained):
        if "guard" in class_of(name.strip()).needs:
            raise ParameterError(f"{name.strip()} adapts to one guard; attriguard evaluate shows it")
    if all_goals and not ladder[-1]:
        raise ParameterError("to compare the goals, name a budget above 0")
    if all_goals and not retrained:
        raise ParameterError("to compare the goals, name an attacker who knows the guard and retrains (retrained)")


def _rows(found: Iterable[Inference], where: dict[str, Any]) -> list[dict[str, Any]]:
    """Every figure of every attacker."""
    return [
        {
            "figure": figure,
            "attack": each.attack,
            "learnt_from": each.learnt_from,
            "retrained": each.retrained,
            **where,
            "value": getattr(each, figure).value,
            "interval": getattr(each, figure).margin,
        }
        for each in found
        for figure in FIGURES
    ]


def _goal_rows(aware: Aware, goal: str) -> list[dict[str, Any]]:
    unaware = curve_rows(aware.unaware, setting=GOALS, goal=goal, learnt_from="original")
    retrained = curve_rows(aware.retrained, setting=GOALS, goal=goal, learnt_from="released", retrained=True)
    return [{name: value for name, value in row.items() if name != "own_users"} for row in unaware + retrained]


def _figures(found: Inference) -> dict[str, Any]:
    """One attacker's figures, each with half the width of its 95 % interval."""
    figures = {figure: getattr(found, figure) for figure in FIGURES}
    return {
        "attack": found.attack,
        "learnt_from": found.learnt_from,
        **{figure: {"value": each.value, "interval": each.margin} for figure, each in figures.items()},
    }


def _verdict_record(found: Audit) -> dict[str, Any]:
    verdict = found.verdict
    return {
        "finding": verdict.finding,
        "attack": verdict.strongest.attack,
        "auc": verdict.strongest.auc.value,
        "low": verdict.low,
        "high": verdict.high,
        "smallest_shown": verdict.smallest_shown,
        "smallest_effect": SMALLEST_EFFECT,
        "attackers": verdict.attackers,
        "groups": found.now.groups,
        "divisions": found.now.divisions,
    }


def _trial_record(trial: Protection, figure: str) -> dict[str, Any]:
    return {
        "guard_users": trial.n_guard,
        "attacker_users": trial.n_attacker,
        "test_users": trial.n_test,
        "budgets": trial.budgets,
        "changes": trial.changes,
        "attackers": [{"budget": point.budget, **_figures(point.found)} for point in trial.points],
        "figure": figure,
        "added_rows": None if trial.forensics is None else asdict(trial.forensics),
        "strongest": [{"budget": budget, **_figures(trial.strongest(budget, figure))} for budget in trial.budgets],
    }


def _goal_record(outcome: GoalOutcome) -> dict[str, Any]:
    first = outcome.aware.unaware[0]
    return {
        "budgets": first.budgets,
        "changes": first.expected_cost,
        "unaware": outcome.aware.most(retrained=False),
        "retrained": outcome.aware.most(retrained=True),
        "detection_auc": outcome.aware.detection,
        "precision": {
            "budget": outcome.precision_budget,
            "changes": outcome.precision_changes,
            "before": outcome.precision_before,
            "after": outcome.precision_after,
        },
    }
