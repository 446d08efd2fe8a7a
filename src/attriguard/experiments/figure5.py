"""Figure 5: the target distribution, p from training against p uniform; NN-A attacks, LR-D defends.

Rule: holds if NN-A infers less with p from training at the largest budget (the core), nowhere more than 0.005 above
what it infers with p uniform, and gains more at the largest budget than on average over the budgets.
"""

from __future__ import annotations

from collections.abc import Sequence

from attriguard.experiments.base import Check, Experiment, Numbers, share
from attriguard.experiments.curves import baseline_of, budget_plot, budget_table
from attriguard.experiments.profiles import BUDGETS
from attriguard.experiments.workspace import Workspace, of_curve
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import LinePlot

TOLERANCE = 0.005
TARGETS = {"p from training": "train", "p uniform": "uniform"}


class Figure5(Experiment):
    """Two target distributions for the same noise."""

    name = "figure-5"
    title = "Figure 5: the target distribution"
    claim = "NN-A infers less when p is estimated from training users than when p is uniform, most at large budgets."
    reported = "Curves; in the text: p from training outperforms p uniform, especially at large budgets."
    inputs = ("data", "LR-D", "Phase I: LR-D panda", "NN-A")
    effort = (1.0, 5.0)

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Attack the plans of both target distributions with NN-A."""
        searching, attacking = progress.parts(1, 1)
        plans = {
            name: work.plan(target=target, progress=part) for (name, target), part in searching.each(TARGETS.items())
        }
        found = work.curves("NN-A", plans, BUDGETS, progress=attacking)
        curves = {name: of_curve(curve) for name, curve in found.items()}
        return {"users": int(work.y.size), "baseline": baseline_of(work.y, work.train.y), "curves": curves}

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """The gain of p from training at the largest budget (the core), at every budget, and on average."""
        trained, uniform = (numbers["curves"][name]["accuracy"] for name in TARGETS)
        gains = [u - t for t, u in zip(trained, uniform, strict=True)]
        above = -min(gains)
        return [
            Check(f"less with p from training at budget {BUDGETS[-1]:g}",
                  f"{share(trained[-1])} against {share(uniform[-1])}", trained[-1] < uniform[-1]),
            Check(f"at no budget more than {TOLERANCE:g} above p uniform", f"{above:+.3f} at most",
                  above <= TOLERANCE),
            Check("further below p uniform at the largest budget than on average",
                  f"{gains[-1]:.3f} against {sum(gains) / len(gains):.3f}", gains[-1] > sum(gains) / len(gains)),
        ]  # fmt: skip

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """NN-A at the largest budget, for both."""
        trained, uniform = (numbers["curves"][name]["accuracy"][-1] for name in TARGETS)
        return "p from training lower", f"budget {BUDGETS[-1]:g}: {share(trained)} against {share(uniform)}"

    def show(self, numbers: Numbers) -> Sequence[LinePlot | Table]:
        """NN-A over budgets, a line a target distribution."""
        curves = numbers["curves"]
        return [
            budget_plot(
                curves, baseline=numbers["baseline"], caption=f"NN-A on {numbers['users']:,} test users, by budget."
            ),
            budget_table(curves, first="target"),
        ]
