"""``ag.audit``: how well an attacker infers the attribute now, which items give it away, and what each budget buys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from attriguard.attacks import class_of, lineup
from attriguard.errors import ParameterError
from attriguard.evaluation.accuracy import check_budgets
from attriguard.evaluation.audit import Audit
from attriguard.evaluation.audit import audit as run_audit
from attriguard.evaluation.aware import Aware
from attriguard.evaluation.goals_compared import GoalOutcome
from attriguard.evaluation.measure import Measure
from attriguard.operations.inputs import DataLike, as_data, make_guard, split_options
from attriguard.operations.results import Result
from attriguard.operations.tidy import curve_rows
from attriguard.progress import ProgressLike
from attriguard.report.attack_names import plain_name
from attriguard.report.audit_page import audit_page, goals_tables, knowing_in_words, summary
from attriguard.report.page import Page, Table

ATTACKS = ("BA-A", "LR-A", "RF-A")
BUDGETS = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
RETRAINED = "MLP-A"


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult(Result):
    """What a table of ratings gives away, and what a guard does about it; nothing about a single user's attribute."""

    found: Audit
    title: str = ""

    @property
    def headline(self) -> str:
        """What the strongest attacker infers now, and after protection."""
        return summary(self.found)

    @property
    def remarks(self) -> Sequence[str]:
        """What an attacker infers who knows the guard."""
        return knowing_in_words(self.found)

    def rows(self) -> list[dict[str, Any]]:
        """One row a figure: attack, whether it was retrained on protected data, budget, accuracy, interval."""
        found = self.found
        rows = curve_rows(found.curves, goal=found.guard.goal)
        if found.aware is not None and found.guard.goal not in [each.goal for each in found.goals]:
            rows += _aware_rows(found.aware, found.guard.goal)
        for each in found.goals:
            rows += _aware_rows(each.aware, each.goal)
        return rows

    def tables(self) -> list[Table]:
        """Attackers by budget; and the goals side by side, where these were asked for."""
        return [_budgets_table(self.found), *(goals_tables(self.found) if self.found.goals else ())]

    def page(self) -> Page:
        """A page for a privacy officer."""
        data = self.found.data
        title = self.title or f"What ratings give away about “{data.attribute}”"
        return audit_page(self.found, title=title, source=data.name)

    def record(self) -> dict[str, Any]:
        """Everything, as JSON knows it."""
        found = self.found
        return {
            "attribute": found.data.attribute,
            "goal": found.guard.goal,
            "values": found.data.m,
            "training_users": found.n_train,
            "test_users": found.n_test,
            "budgets": found.budgets,
            "accuracy": {curve.attack: curve.accuracy for curve in found.curves},
            "expected_cost": found.curves[0].expected_cost,
            "aware": None if found.aware is None else _aware_record(found.aware),
            "goals": {each.goal: _goal_record(each) for each in found.goals},
            "revealing_items": [
                {
                    "item": found.item_name(item.column),
                    "points_to": found.data.values[item.value],
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
    retrained: str | None = RETRAINED,
    all_goals: bool = False,
    title: str = "",
    random_state: int | None = None,
    progress: ProgressLike = None,
    **options: Any,
) -> AuditResult:
    """Attack users of a table before and after protection. ``options``: of `read_ratings` and of `AttriGuard`.

    Parameters
    ----------
    data
        ``PublicData``, or ratings as a path, an Arrow table or a frame, with ``attributes`` and ``attribute``.
    attacks
        The attackers, by name (``ag.attacks.names()``, or "module:Class").
    budgets
        How many ratings may change a user, on average; rising.
    retrained
        The attacker who is also measured as one who knows the guard and retrains; None for nobody.
    all_goals
        Also measure all goals side by side; takes some minutes more.
    title
        The title of the page.
    random_state
        Decides the split of the users and seeds the attackers and the guard.
    progress
        Where to report progress (see `Progress`).
    """
    ladder = check_budgets(budgets)
    _check(attacks, retrained, all_goals, ladder)
    reading, own = split_options(options)
    attackers = lineup(attacks, random_state=random_state)
    knowing = lineup([retrained], random_state=random_state)[0] if retrained else None
    users = as_data(data, reading)
    guard = make_guard(users, own | {"budget": ladder[-1]}, random_state)
    found = run_audit(
        users, guard=guard, attacks=attackers, budgets=ladder, knowing=knowing, all_goals=all_goals,
        measure=Measure(seed=random_state), progress=progress,
    )  # fmt: skip
    return AuditResult(found, title)


def _check(attacks: Sequence[str], retrained: str | None, all_goals: bool, ladder: tuple[float, ...]) -> None:
    if isinstance(attacks, str):
        raise ParameterError(f"attacks is a list of names, got {attacks!r}")
    for name in (*attacks, *([retrained] if retrained else [])):
        if "guard" in class_of(name.strip()).needs:
            raise ParameterError(f"{name.strip()} adapts to one guard; attriguard evaluate shows it")
    if all_goals and not ladder[-1]:
        raise ParameterError("to compare the goals, name a budget above 0")
    if all_goals and not retrained:
        raise ParameterError("to compare the goals, name an attacker who knows the guard and retrains (retrained)")


def _budgets_table(found: Audit) -> Table:
    """Attackers by budget; what the guard changes in the last row."""
    head = ["attacker", *("no guard" if budget == 0 else f"{budget:g}" for budget in found.budgets)]
    rows = [
        [
            " ".join(dict.fromkeys((curve.attack, plain_name(curve.attack)))),
            *(f"{accuracy:.3f}" for accuracy in curve.accuracy),
        ]
        for curve in found.curves
    ]
    rows.append(["ratings changed", *(f"{cost:.2f}" for cost in found.curves[0].expected_cost)])
    caption = "share of users whose value is inferred, by budget (ratings that may change a user, on average)"
    return Table(head, rows, numeric=range(1, len(head)), caption=caption)


def _aware_rows(aware: Aware, goal: str) -> list[dict[str, Any]]:
    unaware = curve_rows(aware.unaware, goal=goal, own_users=True)
    return unaware + curve_rows(aware.retrained, goal=goal, own_users=True, retrained=True)


def _aware_record(aware: Aware) -> dict[str, Any]:
    (unaware,), (retrained,) = aware.unaware, aware.retrained
    return {
        "attack": unaware.attack,
        "budget": unaware.budgets[-1],
        "no_guard": unaware.before,
        "unaware": unaware.accuracy[-1],
        "retrained": retrained.accuracy[-1],
        "guard_users": aware.n_guard,
        "attacker_users": aware.n_attacker,
    }


def _goal_record(outcome: GoalOutcome) -> dict[str, Any]:
    (unaware,), (retrained,) = outcome.aware.unaware, outcome.aware.retrained
    return {
        "budgets": unaware.budgets,
        "changes": unaware.expected_cost,
        "unaware": unaware.accuracy,
        "retrained": retrained.accuracy,
        "detection_auc": outcome.aware.detection,
        "precision": {
            "budget": outcome.precision_budget,
            "changes": outcome.precision_changes,
            "before": outcome.precision_before,
            "after": outcome.precision_after,
        },
    }
