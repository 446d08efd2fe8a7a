"""Figure 1: the share of users in every city.

Rule: holds if there are 25 cities, the largest has a tenth of the users (± 0.01), and it is at least three times as
large as the smallest; the share of the largest is the core.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attriguard.experiments.base import Check, Experiment, Numbers, Told, share
from attriguard.experiments.workspace import Workspace
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import BarPlot

CITIES, USERS = 25, 16_238
LARGEST, TOLERANCE = 0.10, 0.01
UNEVEN = 3.0


class Figure1(Experiment):
    """How the users are spread over the cities."""

    name = "figure-1"
    title = "Figure 1: users a city"
    claim = "Users live in 25 cities of very different size, and whoever guesses the largest is right for one in ten."
    reported = "25 cities; always guessing the largest (BA-A) is right for 0.10 of the test users."
    inputs = ("data",)
    effort = (1.0, 1.0)

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Count the users of every value."""
        known = work.data.y[work.data.disclosed]
        counts = np.bincount(known, minlength=work.data.m)
        order = np.argsort(-counts, kind="stable")
        return {
            "attribute": work.data.attribute,
            "users": int(known.size),
            "values": [work.data.values[code] for code in order],
            "shares": [round(float(counts[code] / known.size), 6) for code in order],
        }

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """The largest share (the core), the number of values, and how uneven they are."""
        shares = numbers["shares"]
        ratio = shares[0] / shares[-1]
        return [
            Check(f"the largest has {LARGEST:g} ± {TOLERANCE:g} of the users", share(shares[0]),
                  abs(shares[0] - LARGEST) <= TOLERANCE),
            Check(f"{CITIES} values", str(len(shares)), len(shares) == CITIES),
            Check(f"the largest is at least {UNEVEN:g} times the smallest", f"{ratio:.1f} times", ratio >= UNEVEN),
        ]  # fmt: skip

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """The share of the largest value."""
        return f"largest city: {LARGEST:.2f}", f"largest: {share(numbers['shares'][0])}"

    def told(self, numbers: Numbers) -> Sequence[Told]:
        """The size of the data, and the share of the largest city."""
        return [
            Told("users", f"{USERS:,}", f"{numbers['users']:,}"),
            Told("cities", str(CITIES), str(len(numbers["shares"]))),
            Told("users of the largest city (BA-A)", f"{LARGEST:.2f}", share(numbers["shares"][0])),
        ]

    def show(self, numbers: Numbers) -> Sequence[BarPlot | Table]:
        """A bar for every value."""
        percent = [100 * each for each in numbers["shares"]]
        return [
            BarPlot(
                numbers["values"],
                {"users": percent},
                "users (%)",
                numbers["attribute"],
                caption=f"Share of the {numbers['users']:,} users with each value.",
                published={"users": [100 * LARGEST, *[None] * (len(percent) - 1)]},
                published_name="the paper's text: the largest city",
            )
        ]
