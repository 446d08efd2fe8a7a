"""Table 2: success rates and running times of the Phase I searches.

Rule: holds if PANDA, JSMA and FGSM always succeed (at least 99.5 %) on both classifiers (the core), CW succeeds for
less than 80 % of pairs on both, PANDA is no slower than JSMA on both, and at least 100 times as fast as CW on both;
what was not measured does not hold.
"""

from __future__ import annotations

from collections.abc import Sequence

from attriguard.experiments.base import Check, Experiment, Numbers, Told
from attriguard.experiments.search_comparison import SHOWN, compared
from attriguard.experiments.workspace import LR_D, NN_D, Workspace
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import BarPlot

# The paper's: success rate and seconds a user, by search and classifier.
TABLE_2 = {
    "fgsm": {LR_D: (1.00, 7.6), NN_D: (1.00, 84.0)},
    "jsma": {LR_D: (1.00, 9.0), NN_D: (1.00, 295.0)},
    "cw": {LR_D: (0.75, 7_406.0), NN_D: (0.71, 1_067_610.0)},
    "panda": {LR_D: (1.00, 8.7), NN_D: (1.00, 272.0)},
}
ALWAYS, SELDOM = 0.995, 0.80
FASTER = 100.0
# What the text makes of these times: how many times faster than CW PANDA is.
TIMES = {LR_D: 800, NN_D: 4000}


def duration(seconds: float) -> str:
    """Seconds as tables show them."""
    if seconds >= 10:
        return f"{seconds:,.0f} s"
    return f"{seconds:.2g} s" if seconds >= 0.1 else f"{1000 * seconds:.2g} ms"


class Table2(Experiment):
    """How often the searches succeed, and how long they take."""

    name = "table-2"
    title = "Table 2: success and running time"
    claim = (
        "PANDA, JSMA and FGSM reach every city, CW fails for a fifth of them or more, and PANDA is a little faster "
        "than JSMA and hundreds of times faster than CW."
    )
    reported = (
        "FGSM, JSMA and PANDA succeed always, CW for 75 % (LR-D) and 71 % (NN-D); seconds a user on LR-D: 7.6, 9.0, "
        "8.7, CW 7,406; on NN-D: 84, 295, 272, CW 1,067,610."
    )
    inputs = ("data", "LR-D", "NN-D", "Phase I: all searches on both")
    effort = (1.0, 1.0)
    revision = 2

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Take success and time from the searches of figure 3."""
        kept = ("users", "success", "proven", "seconds")
        return {
            "searches": {
                defender: {search: {name: entry[name] for name in kept} for search, entry in found.items()}
                for defender, found in compared(work, progress).items()
            }
        }

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """The success of the greedy searches (the core), then the times."""
        found = numbers["searches"]
        sure = {
            f"{SHOWN[s]} {d}": found[d][s]["success"] for d in found for s in ("fgsm", "jsma", "panda") if s in found[d]
        }
        missing = ", ".join(f"{name} {rate:.1%}" for name, rate in sure.items() if rate < ALWAYS)
        checks = [Check("FGSM, JSMA and PANDA reach every value", missing or "all of them", not missing)]
        for defender in (LR_D, NN_D):
            cw, panda, jsma = (found[defender].get(search) for search in ("cw", "panda", "jsma"))
            checks.append(
                Check(f"PANDA no slower than JSMA on {defender}",
                      f"{duration(panda['seconds'])} against {duration(jsma['seconds'])}",
                      panda["seconds"] <= jsma["seconds"])
            )  # fmt: skip
            if cw is None:
                checks.append(Check(f"CW on {defender}", "not measured", False))
                continue
            times = cw["seconds"] / panda["seconds"]
            checks += [
                Check(f"CW reaches less than {SELDOM:.0%} on {defender}", f"{cw['success']:.1%}",
                      cw["success"] < SELDOM),
                Check(f"PANDA at least {FASTER:g} times as fast as CW on {defender}", f"{times:,.0f} times",
                      times >= FASTER),
            ]  # fmt: skip
        return checks

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """PANDA's and CW's time on LR-D."""
        lr = numbers["searches"][LR_D]
        cw = f", CW {duration(lr['cw']['seconds'])}" if "cw" in lr else ""
        return "PANDA on LR-D 8.7 s, CW 7,406 s", f"PANDA on LR-D {duration(lr['panda']['seconds'])}{cw}"

    def notes(self, numbers: Numbers) -> Sequence[str]:
        """What was not measured, and what the times can be compared with."""
        unmeasured = [defender for defender, found in numbers["searches"].items() if "cw" not in found]
        return [
            *(
                f"CW on {defender} was not measured: at this size it takes longer than was granted."
                for defender in unmeasured
            ),
            "Times are of another machine and another implementation than the paper's; what can be compared is their "
            "ratios. They are wall-clock seconds for all values of one user, on all cores that the search uses.",
        ]

    def told(self, numbers: Numbers) -> Sequence[Told]:
        """How many times faster than CW PANDA is."""
        return [
            Told(f"times that PANDA is faster than CW on {defender}", f"around {TIMES[defender]:,}",
                 f"{found['cw']['seconds'] / found['panda']['seconds']:,.0f}")
            for defender, found in numbers["searches"].items() if "cw" in found
        ]  # fmt: skip

    def show(self, numbers: Numbers) -> Sequence[BarPlot | Table]:
        """Times as bars; success and time beside the paper's."""
        found = numbers["searches"]
        names = [name for name in SHOWN if any(name in entries for entries in found.values())]
        rows = []
        for defender, entries in found.items():
            for name, entry in entries.items():
                success, seconds = TABLE_2.get(name, {}).get(defender, (None, None))
                rows.append([
                    defender, SHOWN[name],
                    "–" if success is None else f"{success:.0%}", f"{entry['success']:.1%}",
                    "–" if seconds is None else duration(seconds), duration(entry["seconds"]),
                ])  # fmt: skip
        head = ["classifier", "search", "success, paper", "measured", "time a user, paper", "measured"]
        both = [name for name in names if all(name in entries for entries in found.values())]
        return [
            BarPlot(
                [SHOWN[name] for name in both],
                {defender: [entries[name]["seconds"] for name in both] for defender, entries in found.items()},
                "seconds a user",
                "search",
                log_y=True,
                caption="Running time to find the noise for all values of one user.",
                published={
                    defender: [TABLE_2[name][defender][1] if name in TABLE_2 else None for name in both]
                    for defender in found
                },
                published_name="the paper's table 2, on its machine",
            ),
            Table(head, rows, numeric=range(2, len(head))),
        ]
