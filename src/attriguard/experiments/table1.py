"""Table 1: the accuracy of the eight attacks when no defense is used.

Rule: holds if every attack that learns infers at least twice as much as guessing does (the core) and, on the paper's
data, none is more than 0.03 below the paper's number.
"""

from __future__ import annotations

from collections.abc import Sequence

from attriguard.evaluation.paper import TABLE_1
from attriguard.experiments.base import Check, Experiment, Numbers, share
from attriguard.experiments.figure4 import all_curves
from attriguard.experiments.workspace import Workspace
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import BarPlot

TIMES_GUESSING = 2.0
TOLERANCE = 0.03


class Table1(Experiment):
    """All attacks on untouched data."""

    name = "table-1"
    title = "Table 1: eight attacks, no defense"
    claim = "Without a defense, every attack that learns infers several times as many cities as guessing does."
    reported = "; ".join(f"{attack} {value:.2f}" for attack, value in TABLE_1.items()) + "."
    inputs = ("data", "LR-D", "Phase I: LR-D panda", "all attacks")
    effort = (60.0, 14000.0)

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Take the accuracy on untouched data from the curves of figure 4."""
        curves = all_curves(work, progress)
        return {
            "papers_data": work.is_papers,
            "users": int(work.y.size),
            "accuracy": {name: curve["before"] for name, curve in curves.items()},
        }

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """The weakest attack against guessing (the core) and, on the paper's data, every attack against its number."""
        found = numbers["accuracy"]
        learned = {name: value for name, value in found.items() if name != "BA-A"}
        least = min(learned, key=lambda name: learned[name])
        factor = learned[least] / max(found["BA-A"], 1e-9)
        checks = [
            Check(f"every attack that learns infers at least {TIMES_GUESSING:g} times what guessing does",
                  f"{least}: {factor:.1f} times", factor >= TIMES_GUESSING)
        ]  # fmt: skip
        if numbers["papers_data"]:
            worst = max(TABLE_1, key=lambda name: TABLE_1[name] - found[name])
            below = TABLE_1[worst] - found[worst]
            checks.append(
                Check(f"none more than {TOLERANCE:g} below the paper's number", f"{worst}: {-below:+.3f}",
                      below <= TOLERANCE)
            )  # fmt: skip
        return checks

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """NN-A's accuracy."""
        return f"NN-A {TABLE_1['NN-A']:.2f}", f"NN-A {share(numbers['accuracy']['NN-A'])}"

    def notes(self, numbers: Numbers) -> Sequence[str]:
        """Which attacks are better than the paper's."""
        if not numbers["papers_data"]:
            return ()
        above = [
            f"{name} {share(numbers['accuracy'][name])} instead of {value:.2f}"
            for name, value in TABLE_1.items()
            if numbers["accuracy"][name] > value + TOLERANCE
        ]
        return [f"Better attackers than the paper's: {', '.join(above)}."] if above else ()

    def show(self, numbers: Numbers) -> Sequence[BarPlot | Table]:
        """A bar an attack, beside the paper's."""
        found = numbers["accuracy"]
        papers = numbers["papers_data"]
        reported = [100 * TABLE_1[name] if name in TABLE_1 else None for name in found]
        rows = [[name, f"{TABLE_1[name]:.2f}" if papers and name in TABLE_1 else "–", share(found[name])]
                for name in found]  # fmt: skip
        return [
            BarPlot(
                list(found),
                {"measured": [100 * value for value in found.values()]},
                "users whose value is inferred (%)",
                "attack",
                caption=f"Attacks on {numbers['users']:,} untouched test users.",
                published={"measured": reported} if papers else {},
                published_name="the paper's table 1",
            ),
            Table(["attack", "paper", "measured"], rows, numeric=(1, 2)),
        ]
