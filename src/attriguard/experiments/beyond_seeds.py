"""Beyond the paper: figures 4 to 9 with three seeds.

A seed decides which users are attacked, from what networks and forests start, and what is drawn; the first one is the
reproduction's, with test users of the data's own split, if there is one. Networks and test users are those of
beyond-choices (with the profile "paper" 300 hidden units on both sides and 600 users a seed), LRA-A has a rank of 100,
and sampled defenses are drawn twice. Everything else is the profile's. Each seed is judged by the figures' own rules.

Beside the mean over the seeds, with Student's 95 % interval, stands what was measured at the profile's own size with
the first seed alone. The interval is not widened by the difference between the two sizes. That difference is known for
one seed only, and an interval widened by it would hold every number. A number in which no network of the profile's has
a part is the same at both sizes but for the users, who are partly the same, too; it is shown and not counted.

Rule: holds if figure 4 has one verdict with all seeds and at the profile's own size (the core), so has each of the
other figures, and of the numbers at the profile's own size that hang on a network no more than one in twenty lies
outside its interval. A size at which a figure was not measured has no part in this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from attriguard.evaluation.figures import interval
from attriguard.experiments import get
from attriguard.experiments.base import FAILS, HOLDS, PARTLY, Check, Experiment, Numbers
from attriguard.experiments.main_numbers import MAIN_NUMBERS
from attriguard.experiments.trials import smaller
from attriguard.experiments.workspace import Workspace
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import BarPlot

SEEDS = 3
OUTSIDE = 0.05
# Main numbers in which no network of the profile's size has a part begin with one of these.
NO_NETWORK = ("LR-A", "RF-A", "MLP-A", "AttriGuard's changes")
SHOWN = 4.0  # the budget of the plot


class BeyondSeeds(Experiment):
    """Six figures with three seeds."""

    name = "beyond-seeds"
    title = "Beyond: figures 4 to 9 with three seeds"
    claim = (
        "Not in the paper: with other seeds, other test users and smaller networks figures 4 to 9 get the same "
        "verdicts and much the same numbers."
    )
    reported = "Nothing: the paper has one split of the users and no intervals."
    inputs = ("data",)
    in_paper = False
    sizes_of_its_own = True
    effort = (200.0, 350.0)

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Every figure with every seed; each is kept when it is found."""
        units, users = work.profile.trial_units, work.profile.trial_users
        seeds, found = [work.seed + k for k in range(SEEDS)], []
        for seed, part in progress.each(seeds, lambda seed: f"seed {seed}"):
            small = smaller(work, seed, first=work.seed, attacker_units=units, defender_units=units, users=users)
            for figure, measuring in part.each(MAIN_NUMBERS):
                run = partial(get(figure).run, small, measuring)
                numbers = work.kept(run, self.name, figure, get(figure).revision, small.profile, seed)
                found.append({"figure": figure, "seed": seed, "numbers": numbers})
        return {"users": users, "units": units, "seeds": seeds, "found": found, "whole": {}}

    def beside(self, numbers: Numbers, others: Mapping[str, Numbers]) -> Numbers:
        """With the same figures at the profile's own size."""
        return {**numbers, "whole": {name: others[name] for name in MAIN_NUMBERS if name in others}}

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """Whether each figure has one verdict, figure 4 (the core) first; then the numbers at the profile's size."""
        checks = []
        for figure in MAIN_NUMBERS:
            verdicts = [get(figure).verdict(each) for each in _by_seed(numbers, figure)]
            said = ", ".join(f"{verdicts.count(v)} × {v}" for v in (HOLDS, PARTLY, FAILS) if v in verdicts)
            where = f"{figure}: one verdict with {len(verdicts)} seeds"
            if figure in numbers["whole"]:
                verdicts.append(get(figure).verdict(numbers["whole"][figure]))
                where, said = f"{where} and at the profile's own size", f"{said}; own size: {verdicts[-1]}"
            checks.append(Check(where, said, len(set(verdicts)) == 1))
        if numbers["whole"]:
            counted = [row for row in rows_of(numbers) if row.counted]
            outside = sum(row.outside for row in counted)
            checks.append(
                Check(f"at most {OUTSIDE:.0%} of the networks' numbers at the profile's own size outside the interval",
                      f"{outside} of {len(counted)}", outside <= OUTSIDE * len(counted))
            )  # fmt: skip
        return checks

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """NN-A at budget 4, and how many verdicts are the same with all seeds."""
        same = [len({get(figure).verdict(each) for each in _by_seed(numbers, figure)}) == 1 for figure in MAIN_NUMBERS]
        row = next(row for row in rows_of(numbers) if row.number == f"NN-A, budget {SHOWN:g}")
        return "–", f"{sum(same)} of {len(same)} verdicts the same; {row.number}: {row.shown}"

    def notes(self, numbers: Numbers) -> Sequence[str]:
        """The sizes, and what the intervals are of."""
        said = [
            f"Small networks: {numbers['units']:,} hidden units on both sides; at most {numbers['users']:,} test users "
            f"with each seed. Seeds: {', '.join(map(str, numbers['seeds']))}.",
            "Intervals are Student's 95 % intervals of the mean over the seeds.",
        ]
        if numbers["whole"]:
            said.append(
                "“Own size” is what this page shows elsewhere, of the first seed alone. Where it lies outside, the "
                "size of the networks or the number of users may be the reason, or chance, since intervals of three "
                "seeds are rough. Figures 4, 5, 6, 8 and 9 share a curve of NN-A, so the numbers are not all different."
            )
        return said

    def show(self, numbers: Numbers) -> Sequence[BarPlot | Table]:
        """The attackers of figure 4 at one budget; then every main number."""
        rows, seeds = rows_of(numbers), numbers["seeds"]
        at_budget = [row for row in rows if row.figure == "figure-4" and row.number.endswith(f", budget {SHOWN:g}")]
        attacks = [row for row in at_budget if " minus " not in row.number]
        mean = f"small networks, mean of {len(seeds)} seeds"
        bars = {mean: [100 * row.mean for row in attacks]}
        if "figure-4" in numbers["whole"]:
            bars["own size, first seed"] = [100 * (row.whole or 0.0) for row in attacks]
        head = ["figure", "number", *(f"seed {seed}" for seed in seeds), "mean", "own size", "own size lies"]
        return [
            BarPlot(
                [row.number.partition(",")[0] for row in attacks],
                bars,
                "users whose value is inferred (%)",
                "attack",
                caption=f"Figure 4 at budget {SHOWN:g}, with 95 % intervals of the mean.",
                spread={mean: [100 * row.half for row in attacks]},
            ),
            Table(
                head,
                [
                    [
                        row.figure.removeprefix("figure-"),
                        row.number,
                        *map(_number, row.seeds),
                        row.shown,
                        _number(row.whole),
                        row.place,
                    ]
                    for row in rows
                ],
                numeric=range(2, len(head) - 1),
                caption="share of users whose value is inferred; in figure 9 also changed ratings a user",
            ),
        ]


@dataclass(frozen=True)
class Row:
    """A main number of a figure with every seed, and at the profile's own size with the first one."""

    figure: str
    number: str
    seeds: Sequence[float | None]
    whole: float | None

    @property
    def known(self) -> bool:
        """Is there a number with every seed?"""
        return None not in self.seeds

    @property
    def mean(self) -> float:
        """Over the seeds."""
        return float(np.mean([each for each in self.seeds if each is not None])) if self.known else 0.0

    @property
    def half(self) -> float:
        """Half of the interval."""
        return float(interval(np.array(self.seeds, dtype=float)[:, None])[0]) if self.known else 0.0

    @property
    def counted(self) -> bool:
        """Has a network a part in it, and is it known at both sizes?"""
        return self.known and self.whole is not None and not self.number.startswith(NO_NETWORK)

    @property
    def outside(self) -> bool:
        """Is it counted, and outside its interval at the profile's own size?"""
        return self.counted and self.whole is not None and abs(self.whole - self.mean) > self.half

    @property
    def shown(self) -> str:
        """The mean and its interval, as tables show them."""
        return f"{_number(self.mean)} ± {_number(self.half)}" if self.known else "–"

    @property
    def place(self) -> str:
        """Where the number at the profile's own size lies."""
        if self.counted:
            return "outside" if self.outside else "within"
        return "not counted" if self.known and self.whole is not None else ""


def rows_of(numbers: Numbers) -> list[Row]:
    """A row a main number."""
    rows = []
    for figure, main in MAIN_NUMBERS.items():
        by_seed = [main(each) for each in _by_seed(numbers, figure)]
        whole = main(numbers["whole"][figure]) if figure in numbers["whole"] else {}
        rows += [Row(figure, name, [each.get(name) for each in by_seed], whole.get(name)) for name in by_seed[0]]
    return rows


def _by_seed(numbers: Numbers, figure: str) -> list[Numbers]:
    return [each["numbers"] for each in numbers["found"] if each["figure"] == figure]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
