"""What experiments with curves have in common: accuracy over budgets as a plot and as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attriguard.report.page import Table
from attriguard.report.plots import Line, LinePlot

BUDGET = "budget: changed ratings a user, on average"
INFERRED = "users whose value is inferred (%)"


def line_of(name: str, curve: Mapping[str, Any]) -> Line:
    """A curve as a line; the accuracy on untouched data stands at budget 0."""
    before = [] if curve["before"] is None else [(0.0, curve["before"])]
    points = [*before, *zip(curve["budgets"], curve["accuracy"], strict=True)]
    return Line(name, [x for x, _ in points], [100 * y for _, y in points])


def published_line(points: Mapping[float, float], whose: str = "the paper's") -> Line:
    """Points that others published, by budget or what else the axis shows."""
    return Line(whose, list(points), [100 * y for y in points.values()], published=True)


def budget_plot(
    curves: Mapping[str, Mapping[str, Any]],
    *,
    baseline: float | None = None,
    published: Line | None = None,
    caption: str,
) -> LinePlot:
    """Curves over budgets, others' points (``published``), and the level of guessing."""
    lines = [line_of(name, curve) for name, curve in curves.items()]
    if published:
        lines.append(published)
    level = None if baseline is None else ("guessing (BA-A)", 100 * baseline)
    return LinePlot(lines, BUDGET, INFERRED, level, caption=caption)


def budget_table(curves: Mapping[str, Mapping[str, Any]], *, first: str, extra: Sequence[Sequence[str]] = ()) -> Table:
    """Accuracy as a table: a row a curve, a column a budget."""
    budgets = next(iter(curves.values()))["budgets"]
    rows = [
        [name, "–" if curve["before"] is None else f"{curve['before']:.3f}", *(f"{a:.3f}" for a in curve["accuracy"])]
        for name, curve in curves.items()
    ]
    head = [first, "no guard", *(f"{budget:g}" for budget in budgets)]
    caption = "share of users whose value is inferred; columns: the budget, changed ratings a user"
    return Table(head, [*rows, *extra], numeric=range(1, len(head)), caption=caption)


def at(curve: Mapping[str, Any], budget: float) -> float:
    """The accuracy at a budget that was measured."""
    return float(curve["accuracy"][list(curve["budgets"]).index(budget)])


def baseline_of(y: Any, train_y: Any) -> float:
    """BA-A: the share of users with the training users' most frequent value."""
    import numpy as np

    return round(float(np.mean(y == np.bincount(train_y).argmax())), 6)
