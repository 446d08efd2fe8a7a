"""The goals side by side over several seeds, as a table and a page."""

from __future__ import annotations

from attriguard.evaluation.goals_compared import KNOWS, UNAWARE, GoalsOverSeeds
from attriguard.goals import GOALS
from attriguard.report.page import Page, Section, Table

# What a row of the table is about, by the key of the record.
ATTACKERS = {UNAWARE: "trained on unprotected data", KNOWS: "retrained on protected data"}


def goals_table(found: GoalsOverSeeds) -> Table:
    """The best attacker of every goal, by budget: the mean over seeds and half of its 95 % interval."""
    known = found.record()
    rows = [
        [goal, words, *(f"{mean:.3f} ± {half:.3f}" for mean, half in zip(best["mean"], best["interval"], strict=True))]
        for goal, each in known["best_attacker"].items()
        for key, words in ATTACKERS.items()
        for best in [each[key]]
    ]
    budgets = [f"budget {budget:g}" for budget in known["budgets"]]
    caption = "share of users whose value the best attacker infers, mean over seeds and 95 % interval"
    return Table(["goal", "attacker", *budgets], rows, numeric=range(2, 2 + len(budgets)), caption=caption)


def goals_page(found: GoalsOverSeeds, source: str) -> Page:
    """The table, and what each goal is."""
    known = found.record()
    seeds = len(next(iter(known["goals"].values())))
    return Page(
        title="Goals of a guard, side by side",
        lead=f"{len(known['goals'])} goals, {len(known['attacks'])} attackers and {seeds} seeds on {source}.",
        sections=[
            Section(
                title="The best attacker of each goal",
                points=[f"{name}: {GOALS[name].summary}" for name in known["goals"]],
                parts=[goals_table(found)],
            )
        ],
    )
