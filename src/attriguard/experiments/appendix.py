"""Appendix A: the game-theoretic program, its cost as items grow, and its optimum beside AttriGuard on a small domain.

The domain are the items that separate the values best, rated or not; AttriGuard learns on the same items. Both
mechanisms are compared at the same utility loss, by the accuracy of the best attacker, who knows the mechanism.

Rule: holds if every item multiplies the variables of the program that is solved by (levels + 1)² or nearly so (the
core), and solving takes at least twice as long for every further item, over the last three.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from attriguard.evaluation.figures import rounded
from attriguard.experiments.base import Check, Experiment, Numbers, share
from attriguard.experiments.workspace import Workspace
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import Line, LinePlot

LEVELS = 1  # an item is rated or not
PAPERS_ITEMS, PAPERS_LEVELS = 100, 5
COMPARED_ITEMS = 6
BUDGETS = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
GROWTH = 2.0


class Appendix(Experiment):
    """The linear program of appendix A: how it grows with the items, and its optimum beside AttriGuard."""

    name = "appendix"
    title = "Appendix A: the game-theoretic program"
    claim = "The best mechanism is the solution of a linear program whose cost is exponential in the number of items."
    reported = "100 items with five levels would need a mapping of 6^200 probabilities."
    inputs = ("data",)
    effort = (10.0, 300.0)

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Solve the program for 1, 2, … items, and compare both mechanisms on the first few."""
        from attriguard.defenses.game_domain import separating_items
        from attriguard.defenses.game_size import ProgramSize

        items = separating_items(work.train.X, work.train.y, work.profile.game_items)
        rated = csr_array(work.train.X[:, items] > 0).astype(np.float32)
        costs, compared, few = [], [], rated[:, :COMPARED_ITEMS]
        growing, solving = progress.parts(3, 1)
        for count, _ in growing.each(range(1, items.size + 1), lambda count: f"the program for {count} items"):
            costs.append(work.kept(partial(_cost, work, rated, count), self.name, "cost", items, count))
        for budget, _ in solving.each(BUDGETS, lambda budget: f"the optimum for budget {budget:g}"):
            compared.append(work.kept(partial(_compared, work, few, budget), self.name, "optimum", items, budget))
        papers = ProgramSize(points=(PAPERS_LEVELS + 1) ** PAPERS_ITEMS, values=work.data.m)
        return {
            "levels": LEVELS,
            "costs": costs,
            "papers_variables_digits": len(str(papers.variables)),
            "compared": compared,
        }

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """The growth of the variables (the core) and of the time to solve."""
        costs = numbers["costs"]
        factors = [later["variables"] / earlier["variables"] for earlier, later in pairwise(costs)]
        seconds = [cost["seconds"] for cost in costs[-4:]]
        slower = (seconds[-1] / max(seconds[0], 1e-9)) ** (1 / max(1, len(seconds) - 1))
        return [
            Check("every item multiplies the variables by about (levels + 1)²", f"{factors[-1]:.2f} times at last",
                  factors[-1] >= 0.9 * (numbers["levels"] + 1) ** 2),
            Check(f"solving takes at least {GROWTH:g} times as long for every further item", f"{slower:.1f} times",
                  slower >= GROWTH),
        ]  # fmt: skip

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """The size of the largest program that was solved."""
        last = numbers["costs"][-1]
        return (
            "6^200 variables for 100 items",
            f"{last['variables']:,} variables for {last['items']} items in {last['seconds']:.1f} s",
        )

    def notes(self, numbers: Numbers) -> Sequence[str]:
        """The size of the program for the paper's own numbers, and who the attacker is."""
        return [
            f"{PAPERS_ITEMS} items on {PAPERS_LEVELS} levels would have a number of variables of "
            f"{numbers['papers_variables_digits']} digits.",
            "On the small domain the attacker knows the mechanism and does the best that can be done; nothing protects "
            "better at the same utility loss than the optimum. AttriGuard spends at most its budget on every user, the "
            "optimum on all users together.",
        ]

    def show(self, numbers: Numbers) -> Sequence[LinePlot | Table]:
        """Time and size by number of items; the best attacker's accuracy by budget."""
        costs, compared = numbers["costs"], numbers["compared"]
        items = [cost["items"] for cost in costs]
        rows = [[str(c["items"]), f"{c['points']:,}", f"{c['variables']:,}", f"{c['seconds']:.3g}"] for c in costs]
        found = [
            [f"{c['budget']:g}", share(c["optimum"]), share(c["same_noise"]), share(c["attriguard"]),
             f"{c['attriguard_noise']:.3f}"]
            for c in compared
        ]  # fmt: skip
        budgets = [c["budget"] for c in compared]
        lines = [
            Line("optimum", budgets, [100 * c["optimum"] for c in compared]),
            Line("AttriGuard", budgets, [100 * c["attriguard"] for c in compared]),
        ]
        return [
            LinePlot(
                [Line("linear program", items, [cost["seconds"] for cost in costs])],
                "items",
                "seconds to solve (logarithmic)",
                log_y=True,
                caption="Time to solve the program for the items that separate the values best, each rated or not.",
            ),
            Table(["items", "points", "variables", "seconds"], rows, numeric=(0, 1, 2, 3)),
            LinePlot(
                lines,
                "budget: changed ratings a user, on average",
                "users whose value the best attacker infers (%)",
                ("guessing", 100 * compared[0]["guessing"]),
                caption=f"The best attacker, who knows the mechanism, on {min(items[-1], COMPARED_ITEMS)} items; "
                f"untouched: {share(compared[0]['unprotected'])}.",
            ),
            Table(
                ["budget", "optimum", "optimum for AttriGuard's noise", "AttriGuard", "its noise"],
                found,
                numeric=range(5),
                caption="share of users whose value the best attacker infers",
            ),
        ]


def _cost(work: Workspace, rated: csr_array, count: int) -> dict[str, Any]:
    import time

    game = game_of(work, rated[:, :count])[0]
    start = time.perf_counter()
    best = game.solve(BUDGETS[-1])
    size = game.size
    return {
        "items": count,
        "points": size.points,
        "variables": size.variables,
        "optimum": rounded(best.privacy_loss, 6),
        "seconds": time.perf_counter() - start,
    }


def game_of(work: Workspace, rated: csr_array) -> tuple[Any, Any]:
    """The game on a few items that are rated or not, and the points of its domain."""
    from attriguard.defenses.game import make_game
    from attriguard.defenses.game_domain import empirical_joint, grid_points

    points = grid_points(rated.shape[1], LEVELS, n_values=work.data.m)
    return make_game(points, empirical_joint(rated, work.train.y, points)), points


def _compared(work: Workspace, rated: csr_array, budget: float) -> dict[str, Any]:
    """The optimum, AttriGuard, and the optimum for the noise that AttriGuard makes."""
    from attriguard.defenses.game_domain import plan_channel
    from attriguard.guard import AttriGuard

    game, points = game_of(work, rated)
    guard = AttriGuard(search="panda", budget=budget).fit(rated, work.train.y)
    channel = plan_channel(guard.plan(csr_array(points)), points)
    noise = game.utility_loss(channel)
    return {
        "budget": budget,
        "unprotected": rounded(game.unprotected, 6),
        "guessing": rounded(game.guessing, 6),
        "optimum": rounded(game.solve(budget).privacy_loss, 6),
        "same_noise": rounded(game.solve(noise).privacy_loss, 6),
        "attriguard": rounded(game.privacy_loss(channel), 6),
        "attriguard_noise": rounded(noise, 6),
    }
