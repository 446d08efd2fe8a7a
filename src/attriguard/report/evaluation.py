"""An evaluation as tables, a plot, a page and a record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from attriguard.evaluation.accuracy import Curve
from attriguard.evaluation.aware import Aware
from attriguard.evaluation.paper import table_1
from attriguard.report.attack_names import full_name, is_baseline
from attriguard.report.origin import Origin
from attriguard.report.page import Figure, Page, Section, Table, facts_of
from attriguard.report.plots import Line, line_plot
from attriguard.report.record import versions

DIGITS = 4
BY_BUDGET = "columns: the budget, changed ratings a user"


@dataclass(frozen=True)
class Evaluation:
    """What attackers infer for every budget, with what a reader needs to know about the measurement."""

    source: str  # the data set's name, or the file's
    attribute: str
    m: int
    budgets: tuple[float, ...]
    curves: tuple[Curve, ...]
    aware: Aware | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def guessing(self) -> float | None:
        """The share of users whose value is guessed without a look at the data, where that was measured."""
        return next((curve.accuracy[0] for curve in self.curves if is_baseline(curve.attack)), None)


def in_100(share: float) -> str:
    """A share of users in words."""
    return f"{100 * share:.0f} in 100"


def verdict(result: Evaluation) -> str:
    """What the strongest attackers infer: without a guard, with it, and if they know it."""
    aware, said = result.aware, []
    learnt = [curve for curve in result.curves if not is_baseline(curve.attack)]
    before = {curve.attack: curve.before for curve in learnt if curve.before is not None}
    if before:
        strongest = max(before, key=lambda attack: before[attack])
        said.append(
            f"Without a guard, the strongest attacker, {full_name(strongest)}, infers “{result.attribute}” of "
            f"{in_100(before[strongest])} users"
            + ("." if result.guessing is None else f"; by guessing it would be {100 * result.guessing:.0f}.")
        )
    if learnt:
        after = max(learnt, key=lambda curve: curve.accuracy[-1])
        said.append(
            f"At budget {result.budgets[-1]:g}, the strongest, {full_name(after.attack)}, infers "
            f"{in_100(after.accuracy[-1])}."
        )
    if aware is not None and (aware.retrained or aware.inversion):
        said.append(
            f"One who knows the guard, {full_name(aware.worst.attack)}, infers {in_100(aware.worst.accuracy[-1])}."
        )
    return " ".join(said) or f"Guessing names the right value for {in_100(result.guessing or 0.0)} users."


def tables(result: Evaluation, named: Callable[[str], str] = str) -> list[Table]:
    """Attacks × budgets: the share of users whose value is inferred; ``named`` is how an attack is called."""
    shown = [_paper_table(result, named)]
    aware = result.aware
    if aware is not None and (aware.unaware or aware.inversion):
        shown.append(_aware_table(result, aware, named))
    if aware is not None and aware.detection:
        rows = [["AUC", *(f"{auc:.3f}" for auc in aware.detection)]]
        shown.append(_table("protected users told from untouched ones (0.5: not at all)", "", result.budgets, rows))
    return shown


def _paper_table(result: Evaluation, named: Callable[[str], str]) -> Table:
    published = {curve.attack: table_1(curve.attack, result.source) for curve in result.curves}
    with_paper = any(value is not None for value in published.values())
    rows = []
    for curve in result.curves:
        value = published[curve.attack]
        row = [named(curve.attack), *([f"{value:.2f}" if value is not None else "–"] if with_paper else [])]
        rows.append([*row, "–" if curve.before is None else f"{curve.before:.3f}", *map(_number, curve.accuracy)])
    blanks = ["", ""] if with_paper else [""]
    if result.curves:
        rows.append(["changes made", *blanks, *(f"{cost:.2f}" for cost in result.curves[0].expected_cost)])
    first = ["paper", "no guard"] if with_paper else ["no guard"]
    return _table(f"share of users whose value is inferred; {BY_BUDGET}", "attacker", result.budgets, rows, first)


def _aware_table(result: Evaluation, aware: Aware, named: Callable[[str], str]) -> Table:
    rows = [
        [f"{named(curve.attack)}, does not know", "–" if curve.before is None else _number(curve.before),
         *map(_number, curve.accuracy)]
        for curve in aware.unaware
    ]  # fmt: skip
    rows += [[named(curve.attack), "", *map(_number, curve.accuracy)] for curve in (*aware.retrained, *aware.inversion)]
    caption = (
        f"the same for attackers with {aware.n_attacker:,} users of their own, where the guard learnt from "
        f"{aware.n_guard:,} others"
    )
    return _table(caption, "attacker", result.budgets, rows, ["no guard"])


def _table(
    caption: str, name: str, budgets: Sequence[float], rows: list[list[str]], first: Sequence[str] = ()
) -> Table:
    head = [name, *first, *(f"{budget:g}" for budget in budgets)]
    return Table(head, rows, numeric=range(1, len(head)), caption=caption)


def _number(share: float) -> str:
    return f"{share:.3f}"


def curves_plot(result: Evaluation) -> str:
    """Accuracy over budget, one line an attack."""
    guess = result.guessing
    shown = [curve for curve in result.curves if not is_baseline(curve.attack)]
    if result.aware is not None:
        shown += [*result.aware.retrained, *result.aware.inversion]
    return line_plot(
        [Line(full_name(curve.attack), *_points(curve)) for curve in shown],
        x_label="budget: changed ratings a user, on average",
        y_label="users whose value is inferred (%)",
        level=None if guess is None else ("guessing (BA-A)", 100 * guess),
    )


def _points(curve: Curve) -> tuple[list[float], list[float]]:
    """The untouched data stands at budget 0."""
    known = [] if curve.before is None or curve.budgets[0] == 0 else [(0.0, 100 * curve.before)]
    known += [(b, 100 * a) for b, a in zip(curve.budgets, curve.accuracy, strict=True)]
    return [x for x, _ in known], [y for _, y in known]


def evaluation_page(result: Evaluation) -> Page:
    """The evaluation as a page: all attackers first, then attackers who know the guard."""
    shown = tables(result, full_name)
    sections = [
        Section(
            title="Before and after",
            text=["Attackers and guard learn from the same training users, as in the paper, and see no test user."],
            parts=[Figure(curves_plot(result), "Users whose value each attacker infers, by budget."), shown[0]],
        )
    ]
    if shown[1:]:
        sections.append(
            Section(
                title="Attackers who know the guard",
                text=[
                    "They protect users of their own with the very guard that protects the test users, and learn from "
                    "those. Guard, attackers and test share no user."
                ],
                parts=shown[1:],
            )
        )
    return Page(
        title=f"Attacks on “{result.attribute}”, before and after",
        lead=verdict(result),
        sections=sections,
        facts=[("data", result.source), *facts_of({k: v for k, v in result.settings.items() if k != "seed"})],
        origin=Origin(seed=result.settings.get("seed")),
    )


def record(result: Evaluation) -> dict[str, Any]:
    """For machines: the figures, and what is needed to get them again."""

    def of(curves: Sequence[Curve]) -> dict[str, Any]:
        return {
            curve.attack: {
                "before": None if curve.before is None else round(curve.before, DIGITS),
                "accuracy": [round(a, DIGITS) for a in curve.accuracy],
                "paper_before": table_1(curve.attack, result.source),
            }
            for curve in curves
        }

    known = {
        **result.settings,
        "versions": versions(),
        "dataset": result.source,
        "attribute": result.attribute,
        "values": result.m,
        "budgets": list(result.budgets),
        "expected_cost": [round(c, DIGITS) for c in result.curves[0].expected_cost] if result.curves else [],
        "attacks": of(result.curves),
    }
    if result.aware is not None:
        aware = result.aware
        known["aware"] = {
            "guard_users": aware.n_guard,
            "attacker_users": aware.n_attacker,
            "draws": aware.draws,
            "unaware": of(aware.unaware),
            "retrained": of(aware.retrained),
            "inversion": of(aware.inversion),
            "detection_auc": [round(auc, DIGITS) for auc in aware.detection],
        }
    return known
