"""A comparison of defenses as tables, a plot, a page and a record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attriguard.evaluation.accuracy import Curve
from attriguard.evaluation.comparison import Tradeoff
from attriguard.evaluation.precision import PrecisionLoss
from attriguard.report.attack_names import full_name
from attriguard.report.evaluation import in_100
from attriguard.report.origin import Origin
from attriguard.report.page import Figure, Page, Section, Table, facts_of
from attriguard.report.plots import Line, LinePlot, draw
from attriguard.report.record import versions

DIGITS = 4
NO_GUARD = "no guard"
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
    summaries: Mapping[str, str] = field(default_factory=dict)  # by defense: what it does

    @property
    def before(self) -> list[float | None]:
        """What every attack infers of untouched users."""
        return [curve.before for curve in self.tradeoffs[0].curves]

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


def verdict(result: Comparison) -> str:
    """Which defense is best at what: for the same changes, for the fewest changes, for a recommender."""
    said = [_at_the_same_changes(result), _with_fewest_changes(result), _for_a_recommender(result)]
    return " ".join(sentence for sentence in said if sentence)


def _at_the_same_changes(result: Comparison) -> str:
    """What the strongest attacker infers after each defense, at the most changes that all of them were tried with."""
    changes = min(max(tradeoff.l0) for tradeoff in result.tradeoffs)
    left = {_told(each): max(_accuracy_at(curve, changes) for curve in each.curves) for each in result.tradeoffs}
    best, *others = sorted(left, key=lambda name: left[name])
    rest = [f"after {others[0]}, the next, {100 * left[others[0]]:.0f}"] if others else []
    rest += [f"with no guard {100 * max(share for share in result.before if share is not None):.0f}"]
    return (
        f"At the same number of changed ratings, {changes:.1f} a user, {best} leaves the strongest attacker least: he "
        f"infers “{result.attribute}” of {in_100(left[best])} users; {', '.join(rest)}, by guessing "
        f"{100 * result.guessing:.0f}."
    )


def _told(tradeoff: Tradeoff) -> str:
    """The defense's name, and whether it is told what no defense knows in practice."""
    return tradeoff.defense + (" (which is told every user's true value)" if tradeoff.needs_truth else "")


def _accuracy_at(curve: Curve, changes: float) -> float:
    """What an attack infers at a number of changes; between two measured ones, a line."""
    points = sorted(zip(curve.expected_cost, curve.accuracy, strict=True))
    if curve.before is not None:
        points.insert(0, (0.0, curve.before))
    return float(np.interp(changes, [x for x, _ in points], [y for _, y in points]))


def _with_fewest_changes(result: Comparison) -> str:
    """Who brings all attackers down to the lowest level, not below guessing, that any defense brings them to."""
    for level in [level for level in reversed(result.levels) if level >= result.guessing]:
        needed = {}
        for tradeoff in result.tradeoffs:
            noise = [tradeoff.noise_for(attack, level) for attack in result.attacks]
            if all(changes is not None for changes in noise):
                needed[_told(tradeoff)] = max(changes for changes in noise if changes is not None)
        if needed:
            best = min(needed, key=lambda name: needed[name])
            every, short = len(result.tradeoffs), len(result.tradeoffs) - len(needed)
            rest = f"; {short} of {every} defenses do not get there" if short else ""
            return (
                f"To bring every attacker down to {in_100(level)}, {best} needs the fewest changes: "
                f"{needed[best]:,.1f} a user{rest}."
            )
    return ""


def _for_a_recommender(result: Comparison) -> str:
    """Whose releases a recommender learns best from."""
    if result.costs is None:
        return ""
    lost = {loss.defense: float(loss.each_protected.mean()) for loss in result.costs.losses}
    best = min(lost, key=lambda name: lost[name])
    return (
        f"Where {full_name(result.costs.attack)} infers {in_100(result.costs.accuracy)} after each, {best} costs the "
        f"recommender {result.costs.recommender} least: {100 * lost[best]:.1f} % of its precision for protected users."
    )


def tables(result: Comparison, named: Callable[[str], str] = str) -> list[Table]:
    """Every point, the noise that each accuracy costs, and what a recommender loses.

    ``named`` is how an attack is called.
    """
    shown = [_points(result, named), *(_reached(result, k, named) for k in range(len(result.attacks)))]
    return shown if result.costs is None else [*shown, _lost(result.costs, named)]


def _lost(costs: Costs, named: Callable[[str], str]) -> Table:
    places = [(n, int(np.flatnonzero(costs.losses[0].ns == n)[0])) for n in SHOWN_NS if n in costs.losses[0].ns]
    rows = [
        [
            loss.defense,
            f"{loss.strength:.4g}",
            *(f"{100 * loss.relative[k]:.2f}" for _, k in places),
            *(f"{100 * loss.relative_protected[k]:.1f}" for _, k in places),
        ]
        for loss in costs.losses
    ]
    rows.insert(0, [NO_GUARD, "", *["0.00"] * len(places), *["0.0"] * len(places)])
    head = ["defense", "strength", *(f"{n}" for n, _ in places), *(f"own {n}" for n, _ in places)]
    caption = (
        f"precision that {costs.recommender} loses (%) where {named(costs.attack)} infers "
        f"{100 * costs.accuracy:.1f} %, by the number of recommended items; over all users, and over the protected "
        "ones (own)"
    )
    return Table(head, rows, numeric=range(1, len(head)), caption=caption)


def loss_plot(costs: Costs) -> LinePlot:
    """The precision that protected users lose over the number of recommended items, a line a defense."""
    return LinePlot(
        [Line(loss.defense, loss.ns.tolist(), (100 * loss.relative_protected).tolist()) for loss in costs.losses],
        x_label="recommended items N",
        y_label=f"precision lost by {costs.recommender},\nprotected users (%)",
        caption=f"What {costs.recommender} loses where {full_name(costs.attack)} infers "
        f"{100 * costs.accuracy:.1f} % after each.",
    )


def _points(result: Comparison, named: Callable[[str], str]) -> Table:
    head = ["defense", "strength", "changes", "length", *map(named, result.attacks)]
    rows = [[NO_GUARD, "", "0", "0", *("–" if share is None else f"{share:.3f}" for share in result.before)]]
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


def _reached(result: Comparison, place: int, named: Callable[[str], str]) -> Table:
    attack, before = result.attacks[place], result.before[place]
    head = ["defense", *(f"{level:g}" for level in result.levels)]
    none = ["0" if before is not None and before <= level else "not reached" for level in result.levels]
    rows = [[NO_GUARD, *none]]
    for tradeoff in result.tradeoffs:
        noise = [tradeoff.noise_for(attack, level) for level in result.levels]
        rows.append([result.name_of(tradeoff), *("not reached" if n is None else f"{n:,.2f}" for n in noise)])
    caption = f"changed ratings a user that bring {named(attack)} down to this share of users"
    return Table(head, rows, numeric=range(1, len(head)), caption=caption)


def tradeoff_plot(result: Comparison, attack: str) -> LinePlot:
    """Utility loss against accuracy, one line a defense; logarithmic, since costs differ by orders of magnitude."""
    lines = []
    for tradeoff in result.tradeoffs:
        points = [(x, 100 * y) for x, y in zip(tradeoff.l0, tradeoff.curve(attack).accuracy, strict=True) if x > 0]
        lines.append(Line(result.name_of(tradeoff), [x for x, _ in points], [y for _, y in points]))
    before = result.tradeoffs[0].curve(attack).before
    places = [x for line in lines for x in line.x]
    if before is not None and places:
        lines.append(Line(NO_GUARD, [min(places), max(places)], [100 * before] * 2))
    return LinePlot(
        lines,
        x_label="changed ratings a user, on average",
        y_label=f"users whose value {full_name(attack)} infers (%)",
        level=("guessing", 100 * result.guessing),
        log_x=True,
        caption=f"What each defense costs, and what {full_name(attack)} still infers.",
    )


def comparison_page(result: Comparison) -> Page:
    """The comparison as a page: who is best at what, plots and prices, every point below."""
    shown = tables(result, full_name)
    plots = [tradeoff_plot(result, attack) for attack in result.attacks]
    drawings = [draw(plot) for plot in (plots if result.costs is None else [*plots, loss_plot(result.costs)])]
    figures = [Figure(drawing.svg, drawing.caption) for drawing in drawings]
    return Page(
        title=f"Defenses of “{result.attribute}”, side by side",
        lead=verdict(result),
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
        facts=[("data", result.source), *facts_of({k: v for k, v in result.settings.items() if k != "seed"})],
        words=result.summaries,
        origin=Origin(seed=result.settings.get("seed")),
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
