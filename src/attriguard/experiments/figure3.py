"""Figure 3: the mean noise for each city, by Phase I search, on LR-D (a) and NN-D (b).

Rule: holds if, on the same users and cities, FGSM's noise is at least ten times PANDA's on both classifiers (the core),
PANDA's is smaller than JSMA's on both, and no larger than CW's on LR-D.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attriguard.experiments.base import Check, Experiment, Numbers
from attriguard.experiments.search_comparison import SHOWN, compared, same_users
from attriguard.experiments.workspace import LR_D, NN_D, Workspace
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import Line, LinePlot

ORDERS = 10.0


class Figure3(Experiment):
    """The noise that each search needs to reach each city."""

    name = "figure-3"
    title = "Figure 3: noise a city, by search"
    claim = (
        "FGSM needs orders of magnitude more noise than the others; PANDA less than JSMA, and on LR-D no more than CW."
    )
    reported = (
        "Curves over cities; in the text: FGSM adds orders of magnitude larger noise, PANDA smaller noise than JSMA on "
        "both classifiers, no larger than CW on LR-D, and on NN-D smaller for some cities and larger for others."
    )
    inputs = ("data", "LR-D", "NN-D", "Phase I: all searches on both")
    effort = (300.0, 7600.0)
    revision = 2

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Run every search on both classifiers, for as many users as the profile grants."""
        return {
            "attribute": work.data.attribute,
            "values": list(work.data.values),
            "searches": compared(work, progress),
        }

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """FGSM's noise against PANDA's (the core), then JSMA's and CW's."""

        def against(search: str, defender: str, factor: float, *, strict: bool, words: str) -> Check:
            known = same_users(numbers, defender, search)
            if known is None:
                return Check(f"{words} on {defender}", "not measured", False)
            other, panda = known
            passed = other > factor * panda if strict else other >= factor * panda
            return Check(f"{words} on {defender}", f"{other:,.2f} against PANDA's {panda:.2f}", passed)

        return [
            against("fgsm", LR_D, ORDERS, strict=False, words=f"FGSM's noise at least {ORDERS:g} times PANDA's"),
            against("fgsm", NN_D, ORDERS, strict=False, words=f"FGSM's noise at least {ORDERS:g} times PANDA's"),
            against("jsma", LR_D, 1.0, strict=True, words="PANDA's noise smaller than JSMA's"),
            against("jsma", NN_D, 1.0, strict=True, words="PANDA's noise smaller than JSMA's"),
            against("cw", LR_D, 1.0, strict=False, words="PANDA's noise no larger than CW's"),
        ]

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """The noise of every search in multiples of PANDA's, on LR-D."""
        known = {name: same_users(numbers, LR_D, name) for name in numbers["searches"][LR_D] if name != "panda"}
        times = (f"{SHOWN[name]} {each[0] / each[1]:,.2f}" for name, each in known.items() if each and each[1])
        return "PANDA < JSMA ≈ CW ≪ FGSM on LR-D", f"times PANDA's noise on LR-D: {', '.join(times)}"

    def show(self, numbers: Numbers) -> Sequence[LinePlot | Table]:
        """The mean noise by value, a plot a classifier."""
        return [
            *(self._plot(numbers, defender, found) for defender, found in numbers["searches"].items()),
            Table(
                ["classifier", "search", "users", "mean noise", "PANDA's, same users"],
                [
                    [defender, SHOWN[name], str(each["users"]), _number(each["mean_l0"]), _number(each["panda_same"])]
                    for defender, found in numbers["searches"].items()
                    for name, each in found.items()
                ],
                numeric=(2, 3, 4),
                caption="changed ratings, averaged over users and values that were reached",
            ),
        ]  # fmt: skip

    def _plot(self, numbers: Numbers, defender: str, found: dict[str, Any]) -> LinePlot:
        lines = []
        for name, entry in found.items():
            # A logarithmic axis has no place for a value that is never reached, or costs nothing.
            points = [(k, mean) for k, mean in enumerate(entry["by_value"]) if mean]
            lines.append(Line(SHOWN[name], [k for k, _ in points], [mean for _, mean in points]))
        return LinePlot(
            lines,
            numbers["attribute"],
            "mean noise (changed ratings)",
            names=numbers["values"],
            log_y=True,
            caption=f"Mean noise to reach each value; the defender's classifier is {defender}.",
        )

    def notes(self, numbers: Numbers) -> Sequence[str]:
        """Which means are rough."""
        return ["CW and exact take long and were measured on few users, so their means are rough."]


def _number(mean: float | None) -> str:
    return "–" if mean is None else f"{mean:,.2f}"
