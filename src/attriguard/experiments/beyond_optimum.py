"""Beyond the paper: how far each goal stays from the game-theoretic optimum, on a domain small enough to solve.

The domain is that of appendix A: the items that separate the values best, rated or not. The attacker knows the
mechanism and is the best possible. Each goal is compared with the optimum for as much noise as the goal makes.

Rule: holds if, on average over the budgets, "conceal" stays nearer to the optimum than "mislead" (the core), and so
does "both".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from attriguard.evaluation.figures import rounded
from attriguard.experiments.appendix import COMPARED_ITEMS, game_of
from attriguard.experiments.base import Check, Experiment, Numbers, share
from attriguard.experiments.workspace import Workspace
from attriguard.goals import GOALS
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import Line, LinePlot

BUDGETS = (0.25, 0.5, 1.0, 2.0)
SPLIT, MEMBERS = 0.5, 2


class BeyondOptimum(Experiment):
    """Each goal beside the game-theoretic optimum for as much noise."""

    name = "beyond-optimum"
    title = "Beyond: how far from the optimum"
    claim = (
        "Not in the paper: against an attacker who knows the mechanism, taking evidence away comes nearer to the "
        "optimum than misleading does."
    )
    reported = "Nothing; it leaves better approximations of the game-theoretic problem to future work."
    inputs = ("data",)
    in_paper = False
    effort = (20.0, 60.0)

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Solve the game for the noise that each goal makes at each budget."""
        from attriguard.defenses.game_domain import separating_items

        items = separating_items(work.train.X, work.train.y, min(COMPARED_ITEMS, work.profile.game_items))
        rated = csr_array(work.train.X[:, items] > 0).astype(np.float32)
        found: dict[str, list[Any]] = {goal: [] for goal in GOALS}
        for goal, part in progress.each(GOALS, str):
            for budget, _ in part.each(BUDGETS, lambda budget: f"budget {budget:g}"):
                make = partial(_measured, work, rated, goal, budget)
                found[goal].append(work.kept(make, self.name, self.revision, items, goal, budget, SPLIT, MEMBERS))
        return {"items": int(items.size), "goals": found}

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """The mean distance to the optimum of "conceal" (the core) and of "both", against "mislead"."""
        excess = {goal: float(np.mean([p["goal"] - p["optimum"] for p in numbers["goals"][goal]])) for goal in GOALS}
        return [
            Check(
                f"{goal} stays nearer to the optimum than mislead",
                f"{excess[goal]:.4f} above it, mislead {excess['mislead']:.4f}",
                excess[goal] < excess["mislead"],
            )
            for goal in ("conceal", "both")
        ]

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """Every goal and its optimum at the largest budget."""
        last = {goal: points[-1] for goal, points in numbers["goals"].items()}
        shown = ", ".join(f"{goal} {share(p['goal'])} (optimum {share(p['optimum'])})" for goal, p in last.items())
        return ("–", f"budget {BUDGETS[-1]:g}: {shown}")

    def notes(self, numbers: Numbers) -> Sequence[str]:
        """How small the domain is."""
        return [
            f"{numbers['items']} items only, so that the program can be solved; most users have rated none of them, "
            "and nothing can be taken from those.",
        ]

    def show(self, numbers: Numbers) -> Sequence[LinePlot | Table]:
        """The best attacker over the changes made, by goal."""
        points = numbers["goals"]
        first = points["mislead"][0]
        known = sorted({(p["noise"], p["optimum"]) for each in points.values() for p in each})
        lines = [Line("optimum", [x for x, _ in known], [100 * y for _, y in known])]
        lines += [
            Line(goal, [p["noise"] for p in each], [100 * p["goal"] for p in each]) for goal, each in points.items()
        ]
        rows = [
            [goal, f"{p['budget']:g}", f"{p['noise']:.3f}", share(p["goal"]), share(p["optimum"])]
            for goal, each in points.items()
            for p in each
        ]
        return [
            LinePlot(
                lines,
                "changed ratings a user, on average",
                "users whose value the best attacker infers (%)",
                ("guessing", 100 * first["guessing"]),
                caption=f"The best attacker, who knows the mechanism; untouched: {share(first['unprotected'])}.",
            ),
            Table(
                ["goal", "budget", "changes made", "best attacker", "optimum for as many changes"],
                rows,
                numeric=(1, 2, 3, 4),
            ),
        ]


def _measured(work: Workspace, rated: csr_array, goal: str, budget: float) -> dict[str, float]:
    from attriguard.defenses.game_domain import plan_channel
    from attriguard.guard import AttriGuard

    game, points = game_of(work, rated)
    guard = AttriGuard(
        goal=goal, search="panda", budget=budget, split=SPLIT, members=MEMBERS, random_state=work.seed
    ).fit(rated, work.train.y)
    channel = plan_channel(guard.plan(csr_array(points)), points)
    noise = game.utility_loss(channel)
    return {
        "budget": budget,
        "noise": rounded(noise, 6),
        "goal": rounded(game.privacy_loss(channel), 6),
        "optimum": rounded(game.solve(noise).privacy_loss, 6),
        "unprotected": rounded(game.unprotected, 6),
        "guessing": rounded(game.guessing, 6),
    }
