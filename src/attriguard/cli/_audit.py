"""What ``demo`` and ``audit`` share: run it with a progress bar, write the page, print the table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attriguard.attacks.base import Attack
    from attriguard.data.public_data import PublicData
    from attriguard.evaluation.audit import Audit
    from attriguard.guard import AttriGuard


def run_audit(
    data: PublicData, *, guard: AttriGuard, attacks: Sequence[Attack], budgets: Sequence[float], seed: int | None
) -> Audit:
    from attriguard.cli._shell import progress
    from attriguard.evaluation.audit import audit, steps_of

    with progress(steps_of(data, attacks)) as advance:
        return audit(data, guard=guard, attacks=attacks, budgets=budgets, seed=seed, progress=advance)


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
        "values": result.data.m,
        "training_users": result.n_train,
        "test_users": result.n_test,
        "budgets": result.budgets,
        "accuracy": {curve.attack: curve.accuracy for curve in result.curves},
        "expected_cost": result.curves[0].expected_cost,
        "telling_items": [
            {
                "item": result.item_name(item.column),
                "points_to": result.data.values[item.value],
                "times_as_frequent": item.lift,
                "rated_by": item.users,
                "bits": item.bits,
            }
            for item in result.telling
        ],
    }


def _print(result: Audit, screen: Any, output: Path) -> None:
    from rich.table import Table

    from attriguard.report.audit_page import PLAIN_NAMES, summary

    screen.print(summary(result), soft_wrap=True)
    screen.print()
    table = Table(box=None, header_style="bold", pad_edge=False, title_justify="left")
    table.add_column("share of users whose value is inferred")
    for budget in result.budgets:
        table.add_column("no guard" if budget == 0 else f"budget {budget:g}", justify="right")
    for curve in result.curves:
        name = PLAIN_NAMES.get(curve.attack)
        table.add_row(
            f"{curve.attack} ({name})" if name else curve.attack, *(f"{accuracy:.3f}" for accuracy in curve.accuracy)
        )
    table.add_row("ratings changed a user", *(f"{cost:.2f}" for cost in result.curves[0].expected_cost))
    screen.print(table)
    screen.print()
    screen.print(
        "These attackers do not know the guard. One who knows it and retrains gets most of it back: see the page.",
        soft_wrap=True,
    )
    screen.print(f"the whole story: {output.resolve()}", soft_wrap=True)
