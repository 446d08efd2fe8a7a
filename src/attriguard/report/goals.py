"""The goals side by side over several seeds, as a table and a page."""

from __future__ import annotations

from attriguard._text import count_of
from attriguard.evaluation.goals_compared import KNOWS, UNAWARE, GoalsOverSeeds
from attriguard.goals import GOALS
from attriguard.report.page import Page, Section, Table

# What a row of the table is about, by the key of the record.
ATTACKERS = {UNAWARE: "trained on unprotected data", KNOWS: "retrained on protected data"}


def goals_table(found: GoalsOverSeeds) -> Table:
    """The best attacker of every goal, by budget: the mean over seeds and half of its 95 % interval.

    One seed alone has no interval.
    """
    known = found.record()
    form = "{:.3f} ± {:.3f}" if seeds_of(found) > 1 else "{:.3f}"
    rows = [
        [goal, words, *(form.format(*cell) for cell in zip(best["mean"], best["interval"], strict=True))]
        for goal, each in known["best_attacker"].items()
        for key, words in ATTACKERS.items()
        for best in [each[key]]
    ]
    budgets = [f"budget {budget:g}" for budget in known["budgets"]]
    over = ", mean over seeds and 95 % interval" if seeds_of(found) > 1 else ""
    caption = f"share of users whose value the best attacker infers{over}"
    return Table(["goal", "attacker", *budgets], rows, numeric=range(2, 2 + len(budgets)), caption=caption)


def goals_page(found: GoalsOverSeeds, source: str) -> Page:
    """The table, and what each goal is."""
    known = found.record()
    measured = [count_of(len(known["goals"]), "goal"), count_of(len(known["attacks"]), "attacker")]
    return Page(
        title="Goals of a guard, side by side",
        lead=f"{', '.join(measured)} and {count_of(seeds_of(found), 'seed')} on {source}.",
        sections=[
            Section(
                title="The best attacker of each goal",
                points=[f"{name}: {GOALS[name].summary}" for name in known["goals"]],
                parts=[goals_table(found)],
            )
        ],
    )


def seeds_of(found: GoalsOverSeeds) -> int:
    """How many seeds were measured."""
    return len(next(iter(found.outcomes.values())))
