"""What ``demo`` and ``audit`` share: run it with a progress bar, write the page, print the table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attriguard.attacks.base import Attack
    from attriguard.data.public_data import PublicData
    from attriguard.evaluation.audit import Audit
    from attriguard.evaluation.aware import Aware
    from attriguard.evaluation.goals_compared import GoalOutcome
    from attriguard.guard import AttriGuard


def run_audit(
    data: PublicData,
    *,
    guard: AttriGuard,
    attacks: Sequence[Attack],
    budgets: Sequence[float],
    knowing: Attack | None,
    all_goals: bool = False,
    seed: int | None,
) -> Audit:
    from attriguard.cli._shell import progress
    from attriguard.evaluation.audit import audit
    from attriguard.evaluation.measure import Measure

    with progress(1) as advance:
        return audit(
            data, guard=guard, attacks=attacks, budgets=budgets, knowing=knowing, all_goals=all_goals,
            measure=Measure(seed), progress=lambda what, _: advance(what, 0),
        )  # fmt: skip


def present(result: Audit, output: Path, *, title: str, source: str, as_json: bool) -> None:
    """The page to ``output``, the table to the terminal."""
    from attriguard.cli._shell import console, emit_json
    from attriguard.report.audit_page import audit_page
    from attriguard.report.page import write_page

    write_page(audit_page(result, title=title, source=source), output)
    if as_json:
        emit_json(as_record(result, output))
        return
    _print(result, console(), output)


def as_record(result: Audit, output: Path) -> dict[str, Any]:
    return {
        "page": str(output),
        "attribute": result.data.attribute,
        "goal": result.guard.goal,
        "values": result.data.m,
        "training_users": result.n_train,
        "test_users": result.n_test,
        "budgets": result.budgets,
        "accuracy": {curve.attack: curve.accuracy for curve in result.curves},
        "expected_cost": result.curves[0].expected_cost,
        "aware": None if result.aware is None else aware_record(result.aware),
        "goals": {each.goal: goal_record(each) for each in result.goals},
        "telling_items": [
            {
                "item": result.item_name(item.column),
                "points_to": result.data.values[item.value],
                "times_as_frequent": item.lift,
                "rated_by": item.users,
                "bits": item.bits,
            }
            for item in result.revealing
        ],
    }


def aware_record(aware: Aware) -> dict[str, Any]:
    (unaware,), (retrained,) = aware.unaware, aware.retrained
    return {
        "attack": unaware.attack,
        "budget": unaware.budgets[-1],
        "no_guard": unaware.before,
        "does_not_know": unaware.accuracy[-1],
        "knows_and_retrains": retrained.accuracy[-1],
        "guard_users": aware.n_guard,
        "attacker_users": aware.n_attacker,
    }


def goal_record(outcome: GoalOutcome) -> dict[str, Any]:
    (unaware,), (retrained,) = outcome.aware.unaware, outcome.aware.retrained
    return {
        "budgets": unaware.budgets,
        "changes": unaware.expected_cost,
        "does_not_know": unaware.accuracy,
        "knows_and_retrains": retrained.accuracy,
        "detection_auc": outcome.aware.detection,
        "precision": {
            "budget": outcome.precision_budget,
            "changes": outcome.precision_changes,
            "before": outcome.precision_before,
            "after": outcome.precision_after,
        },
    }


def _print(result: Audit, screen: Any, output: Path) -> None:
    from rich.table import Table

    from attriguard.cli._shell import print_table
    from attriguard.report.attack_names import plain_name
    from attriguard.report.audit_page import goals_tables, knowing_in_words, summary

    screen.print(summary(result), soft_wrap=True)
    screen.print()
    screen.print("Share of users whose value is inferred, by budget (ratings that may change a user, on average):")
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("attacker")
    for budget in result.budgets:
        table.add_column("no guard" if budget == 0 else f"{budget:g}", justify="right")
    for curve in result.curves:
        name = plain_name(curve.attack)
        label = f"{curve.attack} {name}" if name != curve.attack else curve.attack
        table.add_row(label, *(f"{accuracy:.3f}" for accuracy in curve.accuracy))
    table.add_row("ratings changed", *(f"{cost:.2f}" for cost in result.curves[0].expected_cost))
    screen.print(table)
    screen.print()
    for line in knowing_in_words(result):
        screen.print(line, soft_wrap=True)
    if result.goals:
        screen.print()
        for each in goals_tables(result):
            print_table(each)
    screen.print(f"the whole story: {output.resolve()}", soft_wrap=True)
