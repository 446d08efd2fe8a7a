"""Beyond the paper: can protected users be told from untouched ones?

The paper leaves this open (section 6). The detector knows the guard and learns from the attacker's users, none of whom
is among the guard's users or the test users.

Rule: holds if the detector's AUC is at most 0.6 at budget 4 (the core) and at every other budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from attriguard.evaluation.figures import rounded
from attriguard.evaluation.protocol import halves
from attriguard.experiments.base import Check, Experiment, Numbers
from attriguard.experiments.curves import BUDGET
from attriguard.experiments.workspace import Workspace
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import Line, LinePlot

BUDGETS = (1.0, 2.0, 4.0, 8.0)
CORE = 4.0
MOST = 0.6


class BeyondDetection(Experiment):
    """How well a detector tells protected users from untouched ones."""

    name = "beyond-detection"
    title = "Beyond: detecting protected users"
    claim = "Tested here, left open in the paper: protected users cannot be told from untouched ones."
    reported = "Nothing on detection itself; one way of removing noise (LRA-A) leaves the defense effective."
    inputs = ("data", "LR-D on a half")
    in_paper = False
    effort = (12.0, 60.0)

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Train a detector for every budget on the attacker's half, and measure its AUC on the test users."""
        from attriguard.attacks.detector import Detector

        guard_users, attacker_users, _ = halves(work.train, work.test, work.seed)
        guard = work.guard(guard_users)

        def auc(budget: float) -> float:
            detector = Detector(guard, budget=budget, random_state=work.seed).fit(attacker_users.X)
            return rounded(detector.auc(work.X, guard.plan(work.X, budget=budget).release(work.seed)), 6)

        found = []
        for budget, _ in progress.each(BUDGETS, lambda budget: f"a detector for budget {budget:g}"):
            found.append(work.kept(partial(auc, budget), self.name, budget))
        return {"users": int(work.y.size), "budgets": list(BUDGETS), "auc": found}

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """The AUC at the budget of the core, and its maximum."""
        found = dict(zip(numbers["budgets"], numbers["auc"], strict=True))
        worst = max(found, key=lambda budget: found[budget])
        return [
            Check(f"AUC at most {MOST:g} at budget {CORE:g}", f"{found[CORE]:.3f}", found[CORE] <= MOST),
            Check(f"AUC at most {MOST:g} at every budget", f"{found[worst]:.3f} at {worst:g}", found[worst] <= MOST),
        ]

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """The AUC at the budget of the core."""
        return "–", f"AUC {numbers['auc'][numbers['budgets'].index(CORE)]:.3f} at budget {CORE:g} (0.5: not at all)"

    def show(self, numbers: Numbers) -> Sequence[LinePlot | Table]:
        """The AUC over budgets."""
        return [
            LinePlot(
                [Line("detector", numbers["budgets"], numbers["auc"])],
                BUDGET,
                "AUC (0.5: chance, 1: always right)",
                ("chance", 0.5),
                caption=f"How well {numbers['users']:,} protected test users are told from the same users untouched.",
            ),
            Table(
                ["budget", "AUC"],
                [[f"{b:g}", f"{a:.3f}"] for b, a in zip(numbers["budgets"], numbers["auc"], strict=True)],
                numeric=(0, 1),
            ),
        ]
