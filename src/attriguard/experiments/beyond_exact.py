"""Beyond the paper: the greedy searches against the provably smallest noise; LR-D.

Rule: holds if PANDA's noise is at most 1.25 times the smallest on average (the core), and `margin`'s at most 1.1 times.
"""

from __future__ import annotations

from collections.abc import Sequence

from attriguard.evaluation.figures import rounded
from attriguard.experiments.base import Check, Experiment, Numbers
from attriguard.experiments.search_comparison import found_by
from attriguard.experiments.workspace import LR_D, Workspace
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import BarPlot

LIMITS = {"panda": 1.25, "margin": 1.10}


class BeyondExact(Experiment):
    """The noise of the greedy searches beside the smallest possible noise."""

    name = "beyond-exact"
    title = "Beyond: the smallest noise there is"
    claim = "Not in the paper, which solves equation 2 greedily: the greedy noise is close to the smallest possible."
    reported = "Nothing; it calls the noise minimum."
    inputs = ("data", "LR-D", "Phase I: LR-D panda, margin, exact")
    in_paper = False
    effort = (1.0, 5.0)
    revision = 2

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Compare the searches on pairs of a user and a value that all of them reached."""
        first, *others = progress.parts(8, *[1] * len(LIMITS))
        exact = found_by(work, LR_D, "exact", first).edits
        n = exact.n_users
        both = exact.success.copy()
        greedy = {search: found_by(work, LR_D, search, part).edits for search, part in zip(LIMITS, others, strict=True)}
        for edits in greedy.values():
            both &= edits.success[:n]
        proven = exact.bound == exact.cost if exact.bound is not None else exact.success & False
        return {
            "users": n,
            "pairs": int(both.sum()),
            "proven": rounded(proven[both].mean(), 6),
            "mean_l0": {
                "exact": rounded(exact.cost[both].mean()),
                **{search: rounded(edits.cost[:n][both].mean()) for search, edits in greedy.items()},
            },
            "as_small": {
                search: rounded((edits.cost[:n] <= exact.cost)[both].mean(), 6) for search, edits in greedy.items()
            },
        }

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """For each greedy search, how many times the smallest noise its own noise is."""
        found = numbers["mean_l0"]
        return [
            Check(f"{search}'s noise at most {limit:g} times the smallest",
                  f"{found[search] / found['exact']:.3f} times", found[search] <= limit * found["exact"])
            for search, limit in LIMITS.items()
        ]  # fmt: skip

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """The mean noise of every search."""
        return "–", ", ".join(f"{name} {mean:.2f}" for name, mean in numbers["mean_l0"].items())

    def notes(self, numbers: Numbers) -> Sequence[str]:
        """How many pairs were compared, and for how many the smallest noise was proven."""
        return [
            f"{numbers['pairs']:,} pairs of a user and a value; for {numbers['proven']:.0%} the exact search proved "
            "its answer to be the smallest within the time it was given."
        ]

    def show(self, numbers: Numbers) -> Sequence[BarPlot | Table]:
        """The mean noise of every search, and how often it is the smallest."""
        found = numbers["mean_l0"]
        rows = [[name, f"{mean:.3f}", f"{numbers['as_small'].get(name, 1.0):.0%}"] for name, mean in found.items()]
        return [
            BarPlot(
                list(found), {"noise": list(found.values())}, "mean noise (changed ratings)", "search", values=True,
                caption="Mean noise of the greedy searches beside the smallest.",
            ),
            Table(["search", "mean noise", "as small as the smallest"], rows, numeric=(1, 2)),
        ]  # fmt: skip
