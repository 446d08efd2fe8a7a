"""Beyond the paper: the budget of everyone, against attackers who do everything they can.

`conceal`, with a budget that is an average over all users. Two settings. *Strangers*: the guard's, the attacker's and
the test users share nobody, and the attacker has the guard. *Informed*: a publisher's own table; each user is protected
by a guard that learnt from others and is told his value; the attacker knows the values of half of the users.

With the first seed everybody attacks; with the others those who inferred NEAR as much as the strongest at some budget.

Rule: holds if, in the mean over the seeds, the strongest attacker who retrains infers less from an informed release
than from one of strangers at every budget that both have (the core); and, on the paper's data, if he infers no more
than MOST at any budget, and neither does one who does not know of the guard.

Who weighs what was removed takes hours; `attriguard evaluate --inversion` measures him.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from attriguard.attacks import lineup
from attriguard.attacks.base import Attack
from attriguard.evaluation.accuracy import Curve
from attriguard.evaluation.engine import evaluate
from attriguard.evaluation.figures import interval, rounded
from attriguard.evaluation.guards import fit_kept
from attriguard.evaluation.inference import out_of_group
from attriguard.evaluation.measure import Measure
from attriguard.evaluation.protocol import halves
from attriguard.experiments.base import Check, Experiment, Numbers, share
from attriguard.experiments.curves import baseline_of
from attriguard.experiments.own_table import OwnTable, Way
from attriguard.experiments.workspace import Workspace
from attriguard.goals.price import EVERYONE
from attriguard.guard import AttriGuard
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import Line, LinePlot

STRANGERS, INFORMED = "strangers", "informed"
WAY = Way("conceal", EVERYONE, informed=True)
# Who retrains, by setting. An informed attacker learns from released rows themselves; "both" has, besides, rows that a
# guard of his own has protected.
SINGLE = ("LR-A", "RF-A", "MLP-A", "LNN-A", "NB-A", "GBM-A", "DS-A", "self-trained(MLP-A)")
RETRAIN: Mapping[str, Sequence[str]] = {
    # AT-A is far behind the others and takes longest, so strangers are all he is asked about.
    STRANGERS: (*(f"retrained({name})" for name in (*SINGLE, "AT-A")), "own-guard(MLP-A)"),
    INFORMED: (*SINGLE, "both(MLP-A)", "own-guard(MLP-A)"),
}
# Who does not know of the guard, and does not.
OTHERS: Mapping[str, Sequence[str]] = {STRANGERS: ("LNN-A",), INFORMED: ("unaware(LNN-A)",)}
# Informed attackers who learn from rows as they were, of users whom they know from before.
FROM_ORIGINALS = ("own-guard(MLP-A)", *OTHERS[INFORMED])
# What names that are not in the registry stand for.
CALLED = {"both(MLP-A)": "own-guard(MLP-A)", "unaware(LNN-A)": "LNN-A"}
# Without the paper's sizes, for a first look.
QUICK: Mapping[str, Sequence[str]] = {STRANGERS: ("retrained(MLP-A)",), INFORMED: ("MLP-A",)}
# The strongest attacker who retrains infers at most this, by budget.
MOST: Mapping[str, Mapping[float, float]] = {
    STRANGERS: {2.0: 0.285, 4.0: 0.235, 8.0: 0.19},
    INFORMED: {1.0: 0.28, 2.0: 0.21, 4.0: 0.15, 8.0: 0.12},
}
SEEDS = 3
NEAR = 0.9
HIDDEN = 300


class BeyondEveryone(Experiment):
    """The budget of everyone, strangers and informed, against all attackers."""

    name = "beyond-everyone"
    revision = 3
    title = "Beyond: one budget for everyone"
    claim = (
        "Not in the paper, whose users have a budget each: changes that are spent where they help most, by a publisher "
        "who knows his users' values, leave little to an attacker who retrains."
    )
    reported = "Nothing; its guard knows nobody's value, and its attackers do not know the guard."
    inputs = ("data", "guards of a half and of three groups", "attackers who retrain in ten ways")
    in_paper = False
    sizes_of_its_own = True
    effort = (120.0, 7200.0)

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Every attacker with the first seed, the strong ones with the others; each figure is kept when it is found."""
        whole = work.profile.users is None
        seeds = range(work.seed, work.seed + (SEEDS if whole else 1))
        found: dict[str, dict[str, dict[str, list[float]]]] = {STRANGERS: {}, INFORMED: {}}
        for seed, part in progress.each(seeds, lambda seed: f"seed {seed}"):
            for setting, inner in part.each((_Strangers(work, seed), _Informed(work, seed)), lambda each: each.name):
                known = found[setting.name]
                names = (*RETRAIN[setting.name], *OTHERS[setting.name]) if whole else QUICK[setting.name]
                if seed != work.seed:
                    names = strong(known, str(work.seed))
                for name, attacking in inner.each(names, str):
                    parts = zip(setting.budgets, attacking.parts(*[1.0] * len(setting.budgets)), strict=True)
                    known.setdefault(name, {})[str(seed)] = [
                        work.kept(partial(setting.accuracy, name, budget, each), self.name, setting.revision,
                                  setting.name, seed, name, budget)
                        for budget, each in parts
                    ]  # fmt: skip
        budgets = {STRANGERS: work.profile.goal_budgets, INFORMED: work.profile.cost_budgets}
        return {
            "users": {STRANGERS: int(work.y.size), INFORMED: int(work.data.disclosed.sum())},
            "baseline": baseline_of(work.y, work.train.y),
            "is_papers": work.is_papers,
            "seeds": [str(seed) for seed in seeds],
            "budgets": {setting: list(each) for setting, each in budgets.items()},
            "accuracy": found,
        }

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """Informed against strangers (the core); on the paper's data, what is asked at every budget."""
        worst = {setting: dict(zip(numbers["budgets"][setting], worst_of(numbers, setting)[0], strict=True))
                 for setting in MOST}  # fmt: skip
        both = [budget for budget in worst[STRANGERS] if budget in worst[INFORMED]]
        shown = "; ".join(f"{worst[INFORMED][b]:.3f} and {worst[STRANGERS][b]:.3f} at {b:g}" for b in both)
        found = [
            Check("the strongest who retrains infers less where the guard is informed", shown,
                  all(worst[INFORMED][b] < worst[STRANGERS][b] for b in both))
        ]  # fmt: skip
        for setting, most in MOST.items() if numbers["is_papers"] else ():
            everybody = worst_of(numbers, setting, everybody=True)[0]
            all_of = dict(zip(numbers["budgets"][setting], everybody, strict=True))
            for who, left in (("who retrains", worst[setting]), ("of all", all_of)):
                asked = {budget: limit for budget, limit in most.items() if budget in left}
                found.append(
                    Check(f"{setting}, the strongest {who}: at most {_listed(asked)}", _listed(left),
                          all(left[budget] <= limit for budget, limit in asked.items()))
                )  # fmt: skip
        return found

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """The strongest attacker who retrains, by setting and budget."""
        shown = [
            f"{setting} {_listed(dict(zip(numbers['budgets'][setting], worst_of(numbers, setting)[0], strict=True)))}"
            for setting in MOST
        ]
        return "–", f"strongest attacker who retrains: {'; '.join(shown)}"

    def show(self, numbers: Numbers) -> Sequence[LinePlot | Table]:
        """The strongest over budgets, and everybody's accuracy."""
        lines, tables = [], []
        for setting in MOST:
            budgets = numbers["budgets"][setting]
            lines.append(Line(f"{setting}, retrains", budgets, [100 * a for a in worst_of(numbers, setting)[0]]))
            everybody = worst_of(numbers, setting, everybody=True)[0]
            lines.append(Line(f"{setting}, of all", budgets, [100 * a for a in everybody]))
            rows = [
                [name, str(len(by_seed)), *(share(float(a)) for a in np.mean(list(by_seed.values()), axis=0))]
                for name, by_seed in numbers["accuracy"][setting].items()
            ]
            for who, everyone in (("strongest who retrains", False), ("strongest of all", True)):
                mean, half = worst_of(numbers, setting, everybody=everyone)
                cells = [f"{a:.3f} ± {h:.3f}" if len(numbers["seeds"]) > 1 else share(float(a))
                         for a, h in zip(mean, half, strict=True)]  # fmt: skip
                rows.append([who, str(len(numbers["seeds"])), *cells])
            tables.append(
                Table(["attacker", "seeds", *(f"{b:g}" for b in budgets)], rows, numeric=range(1, 2 + len(budgets)),
                      caption=f"{setting}: share of {numbers['users'][setting]:,} users whose value is inferred, by "
                              "budget; means over the seeds")
            )  # fmt: skip
        plot = LinePlot(
            lines, "budget: changed ratings a user, on average", "users whose value the strongest infers (%)",
            ("guessing", 100 * numbers["baseline"]),
            caption="The strongest attacker with each seed; means over the seeds.",
        )  # fmt: skip
        return [plot, *tables]


def strong(found: Mapping[str, Mapping[str, Sequence[float]]], seed: str) -> list[str]:
    """Who came near the strongest at some budget, with that seed."""
    accuracy = np.array([by_seed[seed] for by_seed in found.values()])
    near = (accuracy >= NEAR * accuracy.max(axis=0)).any(axis=1)
    return [name for name, is_near in zip(found, near, strict=True) if is_near]


def worst_of(numbers: Numbers, setting: str, *, everybody: bool = False) -> tuple[Any, Any]:
    """For every budget what the strongest attacker infers: the mean over seeds, and half of its 95 % interval."""
    found = numbers["accuracy"][setting]
    names = [name for name in found if everybody or name not in OTHERS[setting]]
    by_seed = np.array(
        [np.max([found[name][seed] for name in names if seed in found[name]], axis=0) for seed in numbers["seeds"]]
    )
    return by_seed.mean(axis=0), interval(by_seed)


def _listed(left: Mapping[float, float]) -> str:
    return ", ".join(f"{a:.3f} at {budget:g}" for budget, a in left.items())


def _guard(work: Workspace, seed: int, budget: float = 4.0) -> AttriGuard:
    return AttriGuard(goal="conceal", budget=budget, budget_over=EVERYONE, scale=work.data.scale, random_state=seed)


def attack(name: str, guard: AttriGuard, seed: int, *, originals: bool = False) -> Attack:
    """An attacker by name, untrained; all networks of the paper's kind have ``HIDDEN`` units."""
    options = {"random_state": seed, "hidden": HIDDEN, "adversarial": "l0-pgd", "draws": 1, "originals": originals}
    return lineup([name], guard=guard, **options)[0]


class _Strangers:
    """Three groups of users that share nobody."""

    name, revision = STRANGERS, 3

    def __init__(self, work: Workspace, seed: int) -> None:
        self.work, self.seed, self.budgets = work, seed, work.profile.goal_budgets

    @cached_property
    def groups(self) -> Any:
        """The guard's, the attacker's and the test users."""
        return halves(self.work.train, self.work.test.take(self.work.chosen), self.seed)

    @cached_property
    def guard(self) -> AttriGuard:
        """Learnt from its own users; the attacker has it."""
        users = self.groups.guard_users
        return fit_kept(_guard(self.work, self.seed), users.X, users.y, self.work.cache)

    def accuracy(self, name: str, budget: float, progress: Progress) -> float:
        """What the attacker infers of the test users."""
        groups, guard = self.groups, self.guard
        plan = guard.plan(groups.test_users.X, budget=budget)
        known = groups.attacker_users
        curve: Curve = evaluate(
            plan, [attack(name, guard, self.seed)], groups.test_users.y, [budget], train=(known.X, known.y),
            measure=Measure(self.seed, 1, self.work.cache), progress=progress,
        )[0]  # fmt: skip
        return rounded(curve.accuracy[0], 6)


class _Informed:
    """A publisher's own table, half of whose values the attacker knows."""

    name, revision = INFORMED, 2

    def __init__(self, work: Workspace, seed: int) -> None:
        self.work, self.seed, self.budgets = work, seed, work.profile.cost_budgets
        self._released: dict[float, csr_array] = {}

    @cached_property
    def table(self) -> OwnTable:
        """All users, and the guards."""
        return OwnTable(self.work.data.take(self.work.data.disclosed), _guard(self.work, self.seed), self.seed)

    def released(self, budget: float) -> csr_array:
        """What the publisher writes."""
        if budget not in self._released:
            self._released[budget] = self.table.plan(WAY, budget, Progress()).release(self.seed)
        return self._released[budget]

    def accuracy(self, name: str, budget: float, progress: Progress) -> float:
        """What the attacker infers of the users whose values he does not know."""
        released, table = self.released(budget), self.table
        guard = copy.copy(table.guards[0]).set_params(budget=budget, budget_over=EVERYONE)
        attacker = attack(CALLED.get(name, name), guard, self.seed, originals=name in CALLED)
        rows = table.users.X if name in FROM_ORIGINALS else released
        group, y = table.checker.group, table.users.y
        sure = out_of_group(attacker, rows, [released], y, group, progress)[0]
        return rounded(float((sure.argmax(axis=1) == y).mean()), 6)
