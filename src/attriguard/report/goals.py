"""The goals side by side over several seeds, as a chart, a table and a page."""

from __future__ import annotations

import numpy as np

from attriguard.evaluation.goals_compared import KNOWS, UNAWARE, GoalsOverSeeds
from attriguard.goals import GOALS
from attriguard.report.attack_names import full_name
from attriguard.report.evaluation import in_100
from attriguard.report.origin import Origin
from attriguard.report.page import Figure, Page, Section, Table, facts_of
from attriguard.report.plots import Line, LinePlot, draw

# What a row of the table is about, by the key of the record.
ATTACKERS = {UNAWARE: "trained on unprotected data", KNOWS: "retrained on protected data"}
NO_GUARD = "no guard"


def no_guard(found: GoalsOverSeeds) -> float:
    """What the best attacker infers of untouched users: the mean over seeds, the same for all goals."""
    seeds = next(iter(found.outcomes.values()))
    return float(np.mean([max(outcome.record()["no_guard"].values()) for outcome in seeds]))


def verdict(found: GoalsOverSeeds) -> str:
    """Which goal leaves the best attacker least at the largest budget, against either kind of attacker."""
    said = []
    for who, words in ((KNOWS, "who knows the guard and retrains"), (UNAWARE, "who does not know it")):
        left = {goal: float(found.best(goal, who)[0][-1]) for goal in found.outcomes}
        best = min(left, key=lambda goal: left[goal])
        others = [f"after “{goal}” {100 * share:.0f}" for goal, share in left.items() if goal != best]
        said.append(
            f"the best attacker {words} infers {in_100(left[best])} users after “{best}”"
            + (f" ({', '.join(others)})" if others else "")
        )
    return (
        f"At budget {found.budgets[-1]:g}, {said[0]}; {said[1]}. Without a guard, the best attacker infers "
        f"{in_100(no_guard(found))}."
    )


def goals_table(found: GoalsOverSeeds) -> Table:
    """The best attacker of every goal, by budget: the mean over seeds and half of its 95 % interval.

    One seed alone has no interval.
    """
    known = found.record()
    form = "{:.3f} ± {:.3f}" if seeds_of(found) > 1 else "{:.3f}"
    rows = [[NO_GUARD, "", *[f"{no_guard(found):.3f}"] * len(known["budgets"])]]
    rows += [
        [goal, words, *(form.format(*cell) for cell in zip(best["mean"], best["interval"], strict=True))]
        for goal, each in known["best_attacker"].items()
        for key, words in ATTACKERS.items()
        for best in [each[key]]
    ]
    budgets = [f"budget {budget:g}" for budget in known["budgets"]]
    over = ", mean over seeds and 95 % interval" if seeds_of(found) > 1 else ""
    caption = f"share of users whose value the best attacker infers{over}"
    return Table(["goal", "attacker", *budgets], rows, numeric=range(2, 2 + len(budgets)), caption=caption)


def goals_plot(found: GoalsOverSeeds) -> LinePlot:
    """What the best attacker infers, over the budget: a line a goal and kind of attacker."""
    before = 100 * no_guard(found)
    lines = []
    for goal in found.outcomes:
        for who, words in ATTACKERS.items():
            mean, half = found.best(goal, who)
            spread = [0.0, *(100 * half)] if seeds_of(found) > 1 else ()
            lines.append(Line(f"{goal}, attacker {words}", [0.0, *found.budgets], [before, *(100 * mean)], spread))
    return LinePlot(
        lines,
        x_label="budget: changed ratings a user, on average",
        y_label="users whose value is inferred (%)",
        level=(NO_GUARD, before),
        caption="What the best attacker infers after each goal, by budget. Bands: 95 % intervals over seeds."
        if seeds_of(found) > 1
        else "What the best attacker infers after each goal, by budget.",
    )


def goals_page(found: GoalsOverSeeds, source: str) -> Page:
    """Which goal is best against whom, the lines, the table, and what each goal is."""
    known, plot = found.record(), draw(goals_plot(found))
    return Page(
        title="Goals of a guard, side by side",
        lead=verdict(found),
        sections=[
            Section(
                title="The best attacker of each goal",
                text=["The guard, the attackers and the test share no user."],
                parts=[Figure(plot.svg, plot.caption), goals_table(found)],
                points=[f"{name}: {GOALS[name].summary}" for name in known["goals"]],
            )
        ],
        facts=[
            ("data", source),
            ("attackers", ", ".join(map(full_name, known["attacks"]))),
            *facts_of({"hidden_units": known["hidden"], "draws": known["draws"]}),
        ],
        origin=Origin(seed=", ".join(str(outcome.seed) for outcome in next(iter(found.outcomes.values())))),
    )


def seeds_of(found: GoalsOverSeeds) -> int:
    """How many seeds were measured."""
    return len(next(iter(found.outcomes.values())))
