"""Beyond the paper: the `margin` search and `confidence` against PANDA; LR-D defends.

Rule: holds if `margin` needs less noise than PANDA (the core), every attacker infers less after `margin` than after
PANDA at budget 4, and less with confidence "auto" than without at budget 8.
"""

from __future__ import annotations

from collections.abc import Sequence

from attriguard.evaluation.figures import rounded
from attriguard.experiments.base import Check, Experiment, Numbers, share
from attriguard.experiments.curves import BUDGET, INFERRED
from attriguard.experiments.workspace import Workspace
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import Line, LinePlot

ATTACKS = ("LR-A", "RF-A", "NN-A")
BUDGETS = (1.0, 2.0, 4.0, 8.0)
KINDS = ("panda", "margin", "margin, confidence auto")


class BeyondSearches(Experiment):
    """The search `margin` and confidence "auto" beside PANDA."""

    name = "beyond-searches"
    title = "Beyond: margin and confidence"
    claim = (
        "Not in the paper: on LR-D, a search for a lead over the closest rival needs less noise than PANDA and "
        "misleads other classifiers more, and spending the rest of the budget on confidence misleads them more still."
    )
    reported = "Nothing; its search is PANDA, without confidence."
    inputs = ("data", "LR-D", "Phase I: LR-D panda, margin", "LR-A, RF-A, NN-A")
    in_paper = False
    effort = (60.0, 900.0)

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Attack the plans of both searches, and of `margin` with confidence "auto"."""
        searching, attacking = progress.parts(1, 4)
        plans = {search: work.plan(search=search, progress=part) for search, part in searching.each(KINDS[:2])}
        plans[KINDS[2]] = work.guard(search="margin", confidence="auto").plan(work.X, budget=BUDGETS[-1])
        accuracy = {}
        for attack, part in attacking.each(ATTACKS):
            found = work.curves(attack, plans, BUDGETS, progress=part)
            accuracy[attack] = {kind: [rounded(a, 6) for a in found[kind].accuracy] for kind in KINDS}
        spent = {kind: [rounded(plan.with_budget(b).expected_cost.mean()) for b in BUDGETS]
                 for kind, plan in plans.items()}  # fmt: skip
        return {
            "users": int(work.y.size),
            "budgets": list(BUDGETS),
            "accuracy": accuracy,
            "expected_cost": spent,
            "mean_l0": {search: rounded(plan.cost.mean()) for search, plan in plans.items() if search in KINDS[:2]},
        }

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """The noise of both searches (the core), and the attackers' accuracies after each."""
        noise, accuracy = numbers["mean_l0"], numbers["accuracy"]
        four, eight = BUDGETS.index(4.0), BUDGETS.index(8.0)
        margin = {name: found["margin"][four] - found["panda"][four] for name, found in accuracy.items()}
        confident = {name: found[KINDS[2]][eight] - found["margin"][eight] for name, found in accuracy.items()}
        return [
            Check("margin needs less noise than PANDA", f"{noise['margin']:.2f} against {noise['panda']:.2f}",
                  noise["margin"] < noise["panda"]),
            Check("every attacker infers less after margin at budget 4", _differences(margin),
                  max(margin.values()) < 0),
            Check("every attacker infers less with confidence at budget 8", _differences(confident),
                  max(confident.values()) < 0),
        ]  # fmt: skip

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """What RF-A infers after each, at budget 4."""
        found, four = numbers["accuracy"]["RF-A"], BUDGETS.index(4.0)
        return "–", f"RF-A at budget 4: {', '.join(f'{kind} {share(found[kind][four])}' for kind in KINDS)}"

    def show(self, numbers: Numbers) -> Sequence[LinePlot | Table]:
        """Every attacker over budgets, by search."""
        plots = [
            LinePlot(
                [Line(kind, BUDGETS, [100 * a for a in found[kind]]) for kind in KINDS],
                BUDGET,
                INFERRED,
                caption=f"{attack} on {numbers['users']:,} test users, by search.",
            )
            for attack, found in numbers["accuracy"].items()
        ]
        rows = [
            [attack, kind, *map(share, found[kind])] for attack, found in numbers["accuracy"].items() for kind in KINDS
        ]
        rows += [["changes made", kind, *(f"{c:.2f}" for c in numbers["expected_cost"][kind])] for kind in KINDS]
        head = ["attack", "search", *(f"{budget:g}" for budget in BUDGETS)]
        return [*plots, Table(head, rows, numeric=range(2, len(head)), caption="columns: the budget")]


def _differences(found: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:+.3f}" for name, value in found.items())
