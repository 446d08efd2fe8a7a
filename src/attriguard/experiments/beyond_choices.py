"""Beyond the paper: what hangs on each choice that the paper leaves open.

LR-D is one-vs-all or multinomial, its C_i an output or a probability (the logarithm of the probability takes the same
way), its C one of several; networks learn by our recipe or by that of the authors' published code. With each
combination figures 3, 4, 7, 8 and 9 are measured anew and judged by their own rules. Networks are small. Every seed has
test users of its own: the first one those of the data's own split, if it has one.

A verdict is firm if it is the same with every combination and every seed.

Rule: holds if the verdict of figure 4 (the core) is firm, and so are those of the other four figures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from attriguard.classifiers.network import AUTHORS, OWN
from attriguard.classifiers.readings import OUTPUTS, PROBABILITY
from attriguard.evaluation.figures import interval, rounded
from attriguard.experiments import get
from attriguard.experiments.base import FAILS, HOLDS, PARTLY, SIGNS, Check, Experiment, Numbers
from attriguard.experiments.curves import at
from attriguard.experiments.figure8 import COMPARED
from attriguard.experiments.figure9 import CORE, OURS
from attriguard.experiments.profiles import Choices
from attriguard.experiments.search_comparison import same_users
from attriguard.experiments.trials import smaller
from attriguard.experiments.workspace import LR_D, Workspace
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import BarPlot

# Kind of LR-D and what its C_i is; on one-vs-all both readings of C_i are one.
READ = {
    "one-vs-all": ("lr-ova", OUTPUTS),
    "multinomial, output": ("lr", OUTPUTS),
    "multinomial, probability": ("lr", PROBABILITY),
}
RECIPES = {"ours": OWN, "the authors'": AUTHORS}
EPOCHS = {OWN: 12, AUTHORS: 50}
# Searches that take long have few users; those that no rule speaks of have none.
SEARCH_USERS: Mapping[str, int | None] = {
    "fgsm LR-D": 40, "fgsm NN-D": 8, "jsma LR-D": 60, "jsma NN-D": 8, "cw LR-D": 4, "cw NN-D": 1,
    "panda LR-D": None, "panda NN-D": None, "margin LR-D": 0, "margin NN-D": 0, "exact LR-D": 0,
}  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """What a figure is asked for besides its verdict: one number."""

    words: str
    number: Callable[[Numbers], float | None]


def _jsma(numbers: Numbers) -> float | None:
    known = same_users(numbers, LR_D, "jsma")
    return None if known is None else known[0] / known[1]


def policies_apart(numbers: Numbers) -> float:
    """What NN-A infers behind Modify_Add minus what it infers behind Add_New, averaged over the budgets of the rule."""
    first, second = (numbers["curves"][policy] for policy in ("modify_add", "add_new"))
    return float(np.mean([at(first, budget) - at(second, budget) for budget in COMPARED]))


def _rival(numbers: Numbers) -> float | None:
    ours = numbers["defenses"][OURS]
    k = ours["strengths"].index(CORE)
    needs = [need[k] for need in numbers["rivals_need"].values() if need[k] is not None]
    return min(needs) / ours["l0"][k] if needs else None


def _overlap(numbers: Numbers) -> float:
    by_overlap = dict(zip(numbers["overlaps"], numbers["accuracy"], strict=True))
    return float(by_overlap[0.0] - by_overlap[1.0])


FIGURES = {
    "figure-4": Asked("NN-A at budget 4", lambda numbers: at(numbers["curves"]["NN-A"], 4.0)),
    "figure-3": Asked("JSMA's noise on LR-D, in multiples of PANDA's", _jsma),
    "figure-7": Asked("NN-A with no shared users minus with all", _overlap),
    "figure-8": Asked("NN-A behind Modify_Add minus behind Add_New, budgets 1 to 4", policies_apart),
    "figure-9": Asked("the best rival's noise in multiples of AttriGuard's, budget 2", _rival),
}


class BeyondChoices(Experiment):
    """Five figures under every choice."""

    name = "beyond-choices"
    title = "Beyond: what hangs on each choice"
    claim = "Not in the paper: whether its claims hold does not hang on choices that it leaves open."
    reported = "Nothing. The text says one-vs-all, and does not give C, what C_i is, or how networks learn."
    inputs = ("data",)
    in_paper = False
    sizes_of_its_own = True
    effort = (400.0, 8000.0)

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Every figure under every choice with every seed; each is kept when it is found."""
        profile = work.profile
        cases = [
            (seed, recipe, read, strength)
            for seed in profile.trial_seeds
            for recipe in RECIPES
            for read in READ
            for strength in profile.trial_strengths
        ]
        rows = []
        for (seed, recipe, read, strength), part in progress.each(cases, lambda case: f"{case[2]}, C = {case[3]:g}"):
            linear, reading = READ[read]
            choices = Choices(linear=linear, strength=strength, reading=reading, recipe=RECIPES[recipe])
            small = smaller(
                work, seed, first=profile.trial_seeds[0], attacker_units=profile.trial_units,
                defender_units=profile.trial_units, epochs=EPOCHS[choices.recipe], users=profile.trial_users,
                search_users=SEARCH_USERS, choices=choices,
            )  # fmt: skip
            for figure, measuring in part.each(FIGURES):
                found = work.kept(partial(_judged, figure, small, measuring), self.name, figure, choices, seed)
                rows.append({"LR-D": read, "C": strength, "recipe": recipe, "seed": seed, "figure": figure, **found})
        return {"users": profile.trial_users, "units": profile.trial_units, "rows": rows}

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """Whether each figure has one verdict; figure 4 is the core."""
        checks = []
        for figure in FIGURES:
            found = [row["verdict"] for row in numbers["rows"] if row["figure"] == figure]
            counts = ", ".join(f"{found.count(each)} × {each}" for each in (HOLDS, PARTLY, FAILS) if each in found)
            checks.append(Check(f"{figure}: one verdict with all {len(found)} trials", counts, len(set(found)) == 1))
        return checks

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """How many of the five verdicts are firm."""
        firm = [check.text.partition(":")[0] for check in self.checks(numbers) if check.passed]
        return "–", f"{len(firm)} of {len(FIGURES)} verdicts are firm" + (f": {', '.join(firm)}" if firm else "")

    def notes(self, numbers: Numbers) -> Sequence[str]:
        """How to read the table."""
        signs = ", ".join(f"{sign} {verdict}" for verdict, sign in SIGNS.items())
        return [
            f"Networks of {numbers['units']:,} hidden units on both sides, {numbers['users']:,} test users a seed.",
            f"A cell has a sign for each seed ({signs}) and a number: its mean over the seeds, with Student's 95 % "
            "interval.",
            *(f"{figure}: {asked.words}." for figure, asked in FIGURES.items()),
        ]

    def show(self, numbers: Numbers) -> Sequence[BarPlot | Table]:
        """How often each figure has which verdict; then a row a choice, a column a figure."""
        found = [(row["figure"], row["verdict"]) for row in numbers["rows"]]
        trials = len(found) / len(FIGURES)
        bars = {each: [found.count((figure, each)) / trials for figure in FIGURES] for each in SIGNS}
        rows = []
        for read, strength, recipe in dict.fromkeys((r["LR-D"], r["C"], r["recipe"]) for r in numbers["rows"]):
            cells = [
                _cell([r for r in numbers["rows"]
                       if (r["LR-D"], r["C"], r["recipe"], r["figure"]) == (read, strength, recipe, figure)])
                for figure in FIGURES
            ]  # fmt: skip
            rows.append([read, f"{strength:g}", recipe, *cells])
        head = ["LR-D", "C", "networks' recipe", *FIGURES]
        return [
            BarPlot(list(FIGURES), bars, "share of the trials", caption="Verdicts over all choices and seeds."),
            Table(head, rows, numeric=range(3, len(head)), caption="verdicts by seed, and each figure's number"),
        ]


def _judged(figure: str, small: Workspace, progress: Progress) -> dict[str, Any]:
    """The figure's verdict and its number."""
    experiment = get(figure)
    numbers = experiment.run(small, progress)
    number = FIGURES[figure].number(numbers)
    return {"verdict": experiment.verdict(numbers), "number": None if number is None else rounded(number)}


def _cell(rows: Sequence[Mapping[str, Any]]) -> str:
    signs = "".join(SIGNS[row["verdict"]] for row in rows)
    known = np.array([[row["number"]] for row in rows if row["number"] is not None])
    if not known.size:
        return signs
    spread = f" ± {interval(known)[0]:.3f}" if known.shape[0] > 1 else ""
    return f"{signs} {known.mean():.3f}{spread}"
