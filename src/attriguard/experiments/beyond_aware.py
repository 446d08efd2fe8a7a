"""Beyond the paper: attackers who know the guard, by retraining on protected users and by undoing the mechanism.

Three groups that share nobody: the guard's users, the attacker's users, the test users.

Rule: holds if, at budget 4, no attacker who knows the guard infers more than 0.03 above the same attacker who does not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attriguard.evaluation.aware import evaluate_aware
from attriguard.evaluation.protocol import halves
from attriguard.experiments.base import Check, Experiment, Numbers, share
from attriguard.experiments.curves import baseline_of
from attriguard.experiments.workspace import Workspace, of_curve
from attriguard.guard import AttriGuard
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import BarPlot

ATTACKS = ("LR-A", "MLP-A")
MARGIN = 0.03
BUDGET = 4.0


class BeyondAware(Experiment):
    """Attackers who know the guard beside the same attackers who do not."""

    name = "beyond-aware"
    title = "Beyond: attackers who know the guard"
    claim = "Attackers who adapt to the defense infer hardly more than those who do not."
    reported = (
        "AT-A almost the same as NN-A, DD-A slightly higher, LRA-A low and approaching the baseline; it concludes that "
        "the defense is still effective against attacks that adapt to it."
    )
    inputs = ("data", "LR-D on a half", "LR-A and MLP-A on the other")
    in_paper = False
    effort = (40.0, 7200.0)

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Train every attack on the attacker's half as it is and protected, and undo the guard with some."""
        budgets = work.profile.aware_budgets
        groups = halves(work.train, work.test.take(np.sort(work.order[: work.profile.aware_users])), work.seed)
        found = evaluate_aware(
            groups,
            AttriGuard(search="panda", scale=work.data.scale),
            [work.attack(name) for name in ATTACKS],
            budgets,
            inversion=[work.attack(name) for name in work.profile.inversion],
            measure=work.measure,
            progress=progress,
        )
        return {
            "users": groups.test_users.n_users,
            "guard_users": found.n_guard,
            "attacker_users": found.n_attacker,
            "baseline": baseline_of(groups.test_users.y, work.train.y),
            "budgets": list(budgets),
            "unaware": [of_curve(curve) for curve in found.unaware],
            "aware": [of_curve(curve) for curve in (*found.retrained, *found.inversion)],
        }

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """The largest gain from knowing the guard."""
        at = numbers["budgets"].index(BUDGET)
        unaware = {curve["attack"]: curve["accuracy"][at] for curve in numbers["unaware"]}
        gains = [
            (curve["accuracy"][at] - unaware[base], curve["attack"], curve["accuracy"][at], unaware[base])
            for curve in numbers["aware"]
            for base in unaware
            if base in curve["attack"]
        ]
        gain, attack, found, before = max(gains)
        return [
            Check(f"at budget {BUDGET:g} nobody gains more than {MARGIN:g} by knowing the guard",
                  f"{attack} {share(found)} against {share(before)}", gain <= MARGIN)
        ]  # fmt: skip

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """The attacker who knows the guard and infers most."""
        at = numbers["budgets"].index(BUDGET)
        worst = max(numbers["aware"], key=lambda curve: curve["accuracy"][at])
        return "adapting hardly helps", f"{worst['attack']} {share(worst['accuracy'][at])} at budget {BUDGET:g}"

    def notes(self, numbers: Numbers) -> Sequence[str]:
        """How many users each group has."""
        return [
            f"The guard has learnt from {numbers['guard_users']:,} users, the attackers from "
            f"{numbers['attacker_users']:,} others; {numbers['users']:,} test users are attacked. "
            "An attacker who knows the guard protects users of his own with it."
        ]

    def show(self, numbers: Numbers) -> Sequence[BarPlot | Table]:
        """Every attacker's accuracy, as bars at one budget and as a table."""
        at = numbers["budgets"].index(BUDGET)
        curves = [*((f"{c['attack']}, does not know", c) for c in numbers["unaware"]),
                  *((c["attack"], c) for c in numbers["aware"])]  # fmt: skip
        head = ["attacker", "no guard", *(f"{budget:g}" for budget in numbers["budgets"])]
        rows = [[name, share(c["before"]), *map(share, c["accuracy"])] for name, c in curves]
        return [
            BarPlot(
                [name for name, _ in curves],
                {"accuracy": [100 * c["accuracy"][at] for _, c in curves]},
                "users whose value is inferred (%)",
                "attacker",
                caption=f"Attackers at budget {BUDGET:g}; guessing is right for {share(numbers['baseline'])}.",
            ),
            Table(head, rows, numeric=range(1, len(head)), caption="columns: the budget"),
        ]
