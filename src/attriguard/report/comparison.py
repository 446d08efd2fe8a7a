"""A comparison of defenses as tables, a plot, a page and a record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attriguard.evaluation.comparison import Tradeoff
from attriguard.evaluation.precision import PrecisionLoss
from attriguard.report.page import Figure, Page, Section, Table
from attriguard.report.plots import Line, LinePlot, draw
from attriguard.report.record import versions

DIGITS = 4
# Marks defenses that are told every user's true value.
TOLD = "*"
# Recommended items that the tables show; the record has all.
SHOWN_NS = (1, 5, 10, 20, 50)


@dataclass(frozen=True)
class Costs:
    """What the defenses cost a recommender when one attack infers equally little after each."""

    recommender: str
    attack: str
    accuracy: float
    holdouts: int
    left_out: int  # users with too few ratings to be tested
    losses: tuple[PrecisionLoss, ...]


@dataclass(frozen=True)
class Comparison:
    """Defenses side by side, with what a reader needs to know about the measurement."""

    source: str  # the data set's name, or the file's
    attribute: str
    tradeoffs: tuple[Tradeoff, ...]
    levels: tuple[float, ...]  # the accuracies to be reached
    guessing: float  # the share of the most frequent value
    costs: Costs | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def attacks(self) -> list[str]:
        """The names of the attacks."""
        return [curve.attack for curve in self.tradeoffs[0].curves]

    def name_of(self, tradeoff: Tradeoff) -> str:
        """The defense's name, marked where it is told every user's true value."""
        return tradeoff.defense + (TOLD if tradeoff.needs_truth else "")

    @property
    def remarks(self) -> list[str]:
        """What a reader must know beside the tables."""
        known = []
        told = [tradeoff.defense for tradeoff in self.tradeoffs if tradeoff.needs_truth]
        if told:
            verb = "are" if len(told) > 1 else "is"
            known.append(
                f"{TOLD} {' and '.join(told)} {verb} told every user's true value; the other defenses never see it, "
                "and in practice nobody can tell it for users who keep it private."
            )
        if self.costs is not None and self.costs.left_out:
            known.append(
                f"{self.costs.left_out:,} users have too few ratings to be tested with the recommender; it learns from "
                "them all the same."
            )
        return known


def tables(result: Comparison) -> list[Table]:
    """Every point, the noise that each accuracy costs, and what a recommender loses."""
    shown = [_points(result), *(_reached(result, attack) for attack in result.attacks)]
    return shown if result.costs is None else [*shown, _lost(result.costs)]


def _lost(costs: Costs) -> Table:
    places = [(n, int(np.flatnonzero(costs.losses[0].ns == n)[0])) for n in SHOWN_NS if n in costs.losses[0].ns]
    rows = [
        [
            loss.defense,
            f"{loss.strength:g}",
            *(f"{100 * loss.relative[k]:.2f}" for _, k in places),
            *(f"{100 * loss.relative_protected[k]:.1f}" for _, k in places),
        ]
        for loss in costs.losses
    ]
    head = ["defense", "strength", *(f"{n}" for n, _ in places), *(f"own {n}" for n, _ in places)]
    caption = (
        f"precision that {costs.recommender} loses (%) where {costs.attack} infers {100 * costs.accuracy:.1f} %, by "
        "the number of recommended items; over all users, and over the protected ones (own)"
    )
    return Table(head, rows, numeric=range(1, len(head)), caption=caption)


def loss_plot(costs: Costs) -> LinePlot:
    """The precision that protected users lose over the number of recommended items, a line a defense."""
    return LinePlot(
        [Line(loss.defense, loss.ns.tolist(), (100 * loss.relative_protected).tolist()) for loss in costs.losses],
        x_label="recommended items N",
        y_label=f"precision lost by {costs.recommender},\nprotected users (%)",
        caption=f"What {costs.recommender} loses where {costs.attack} infers {100 * costs.accuracy:.1f} % after each.",
    )


def _points(result: Comparison) -> Table:
    head = ["defense", "strength", "changes", "length", *result.attacks]
    rows = []
    before = [curve.before for curve in result.tradeoffs[0].curves]
    rows.append(["none", "", "0", "0", *("–" if share is None else f"{share:.3f}" for share in before)])
    for tradeoff in result.tradeoffs:
        for k, strength in enumerate(tradeoff.strengths):
            rows.append(
                [
                    result.name_of(tradeoff),
                    f"{tradeoff.strength} {strength:g}",
                    f"{tradeoff.l0[k]:,.2f}",
                    f"{tradeoff.l2[k]:,.2f}",
                    *(f"{curve.accuracy[k]:.3f}" for curve in tradeoff.curves),
                ]
            )
    caption = "changed ratings a user (L0), length of the noise (L2), and the share of users whose value is inferred"
    return Table(head, rows, numeric=range(2, len(head)), caption=caption)


def _reached(result: Comparison, attack: str) -> Table:
    head = ["defense", *(f"{level:g}" for level in result.levels)]
    rows = []
    for tradeoff in result.tradeoffs:
        noise = [tradeoff.noise_for(attack, level) for level in result.levels]
        rows.append([result.name_of(tradeoff), *("not reached" if n is None else f"{n:,.2f}" for n in noise)])
    caption = f"changed ratings a user that bring {attack} down to this share of users"
    return Table(head, rows, numeric=range(1, len(head)), caption=caption)


def tradeoff_plot(result: Comparison, attack: str) -> LinePlot:
    """Utility loss against accuracy, one line a defense; logarithmic, since costs differ by orders of magnitude."""
    lines = []
    for tradeoff in result.tradeoffs:
        points = [(x, 100 * y) for x, y in zip(tradeoff.l0, tradeoff.curve(attack).accuracy, strict=True) if x > 0]
        lines.append(Line(result.name_of(tradeoff), [x for x, _ in points], [y for _, y in points]))
    return LinePlot(
        lines,
        x_label="changed ratings a user, on average",
        y_label=f"users whose value {attack} infers (%)",
        level=("guessing", 100 * result.guessing),
        log_x=True,
        caption=f"What each defense costs, and what {attack} still infers.",
    )


def comparison_page(result: Comparison) -> Page:
    """The comparison as a page: plots and prices first, every point below."""
    shown = tables(result)
    plots = [tradeoff_plot(result, attack) for attack in result.attacks]
    drawings = [draw(plot) for plot in (plots if result.costs is None else [*plots, loss_plot(result.costs)])]
    figures = [Figure(drawing.svg, drawing.caption) for drawing in drawings]
    return Page(
        title=f"Defenses of “{result.attribute}”, side by side",
        lead=f"{len(result.tradeoffs)} defenses against {len(result.attacks)} attackers on {result.source}.",
        sections=[
            Section(
                title="Utility against privacy",
                text=[
                    "The attackers do not know which defense is used, and have learnt from untouched data.",
                    *result.remarks,
                ],
                parts=[*figures, *shown[1:]],
            ),
            Section(title="Every point", parts=shown[:1]),
        ],
        facts=[(name, str(value)) for name, value in result.settings.items()],
    )


def record(result: Comparison) -> dict[str, Any]:
    """For machines: the figures, and what is needed to get them again."""
    known = {
        **result.settings,
        "versions": versions(),
        "dataset": result.source,
        "attribute": result.attribute,
        "before": {curve.attack: round(curve.before or 0.0, DIGITS) for curve in result.tradeoffs[0].curves},
        "defenses": {tradeoff.defense: _record_of(tradeoff, result.levels) for tradeoff in result.tradeoffs},
    }
    if result.costs is not None:
        known["precision"] = _record_of_costs(result.costs)
    return known


def _record_of(tradeoff: Tradeoff, levels: Sequence[float]) -> dict[str, Any]:
    def noise(attack: str, level: float) -> float | None:
        found = tradeoff.noise_for(attack, level)
        return None if found is None else round(found, DIGITS)

    return {
        "strength": tradeoff.strength,
        "told_the_true_value": tradeoff.needs_truth,
        "strengths": list(tradeoff.strengths),
        "l0": _short(tradeoff.l0),
        "l2": _short(tradeoff.l2),
        "accuracy": {curve.attack: _short(curve.accuracy) for curve in tradeoff.curves},
        "interval": {curve.attack: _short(curve.margin()) for curve in tradeoff.curves},
        "l0_for_accuracy": {
            curve.attack: {f"{level:g}": noise(curve.attack, level) for level in levels} for curve in tradeoff.curves
        },
    }


def _record_of_costs(costs: Costs) -> dict[str, Any]:
    first = costs.losses[0]
    return {
        "recommender": costs.recommender,
        "attack": costs.attack,
        "accuracy": round(costs.accuracy, DIGITS),
        "holdouts": costs.holdouts,
        "users_left_out": costs.left_out,
        "ns": first.ns.tolist(),
        "before": _short(first.before),
        "before_protected": _short(first.before_protected),
        "defenses": {
            loss.defense: {
                "strength": loss.strength,
                "relative_loss": _short(loss.relative),
                "relative_loss_protected": _short(loss.relative_protected),
            }
            for loss in costs.losses
        },
    }


def _short(numbers: Iterable[float]) -> list[float]:
    return [round(float(number), DIGITS) for number in numbers]
