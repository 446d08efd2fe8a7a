"""Figure 8: the three policies; NN-A attacks, LR-D defends, PANDA.

Where a policy cannot reach a value, the search goes beyond it, to modify_add, as in the paper.

Rule: holds if modify_add outperforms modify_exist (the core) and add_new, and add_new outperforms modify_exist. To
outperform means: over the budgets from 1 to 4, NN-A infers less by more than 0.005 on average, and at none of them more
than 0.005 more.
"""

from __future__ import annotations

from collections.abc import Sequence

from attriguard.evaluation.figures import rounded
from attriguard.experiments.base import Check, Experiment, Numbers, share
from attriguard.experiments.curves import at, baseline_of, budget_plot, budget_table
from attriguard.experiments.profiles import BUDGETS
from attriguard.experiments.workspace import Workspace, of_curve
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import LinePlot

ORDER = ("modify_add", "add_new", "modify_exist")
COMPARED = tuple(budget for budget in BUDGETS if 1.0 <= budget <= 4.0)
TOLERANCE = 0.005


class Figure8(Experiment):
    """The three policies at the same budgets."""

    name = "figure-8"
    title = "Figure 8: the policies"
    claim = "Modify_Add protects best at the same budget, then Add_New, and Modify_Exist least."
    reported = "Curves; in the text: Modify_Add outperforms Add_New, which outperforms Modify_Exist."
    inputs = ("data", "LR-D", "Phase I: LR-D panda, every policy", "NN-A")
    effort = (3.0, 240.0)

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Attack the plan of every policy with NN-A."""
        searching, attacking = progress.parts(1, 1)
        plans = {policy: work.plan(policy=policy, progress=part) for policy, part in searching.each(ORDER)}
        found = work.curves("NN-A", plans, BUDGETS, progress=attacking)
        curves = {policy: of_curve(curve) for policy, curve in found.items()}
        noise = {
            policy: {
                "mean_l0": rounded(plan.cost[plan.success].mean()),
                "success": rounded(plan.success.mean(), 6),
                "beyond_policy": rounded(plan.extended.mean(), 6),
            }
            for policy, plan in plans.items()
        }
        return {
            "users": int(work.y.size),
            "baseline": baseline_of(work.y, work.train.y),
            "curves": curves,
            "phase_one": noise,
        }

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """Each policy against the policy that it should outperform; the first pair is the core."""
        curves = numbers["curves"]

        def outperforms(first: str, second: str) -> Check:
            above = [at(curves[first], budget) - at(curves[second], budget) for budget in COMPARED]
            mean = sum(above) / len(above)
            return Check(
                f"less with {first} than with {second}, at budgets {COMPARED[0]:g} to {COMPARED[-1]:g}",
                f"{mean:+.3f} on average, {max(above):+.3f} at the least favourable",
                mean < -TOLERANCE and max(above) <= TOLERANCE,
            )  # fmt: skip

        return [outperforms(ORDER[0], ORDER[2]), outperforms(ORDER[0], ORDER[1]), outperforms(ORDER[1], ORDER[2])]

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """NN-A at budget 4, by policy."""
        found = ", ".join(f"{policy} {share(at(numbers['curves'][policy], 4.0))}" for policy in ORDER)
        return "Modify_Add < Add_New < Modify_Exist", f"budget 4: {found}"

    def notes(self, numbers: Numbers) -> Sequence[str]:
        """Which lines of the figure cannot be told apart."""
        first, second = (numbers["curves"][policy]["accuracy"] for policy in ORDER[:2])
        apart = max(abs(a - b) for a, b in zip(first, second, strict=True))
        return [f"The lines of {ORDER[0]} and {ORDER[1]} lie upon each other."] if apart < TOLERANCE else ()

    def show(self, numbers: Numbers) -> Sequence[LinePlot | Table]:
        """NN-A over budgets, a line a policy, and the noise of each."""
        curves = numbers["curves"]
        rows = [
            [policy, f"{n['mean_l0']:.2f}", f"{n['success']:.1%}", f"{n['beyond_policy']:.1%}"]
            for policy, n in numbers["phase_one"].items()
        ]
        return [
            budget_plot(
                curves, baseline=numbers["baseline"], caption=f"NN-A on {numbers['users']:,} test users, by policy."
            ),
            budget_table(curves, first="policy"),
            Table(
                ["policy", "mean changes of the noise", "values reached", "beyond the policy"], rows, numeric=(1, 2, 3)
            ),
        ]
