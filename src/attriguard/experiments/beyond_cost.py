"""Beyond the paper: what each goal costs a recommender, at equal protection.

All users are protected, each by a guard that learnt from others. Of every user 5 ratings are held out first; ALS learns
from what is released and is asked for them. The strongest of LR-A and MLP-A, who learn from released rows or from
original ones, is the measure of protection. Each goal has a budget for each user, or one of everyone; `conceal` is also
told the users' values, as a publisher is.

Rule: holds if, where each leaves the strongest attacker the same share of users (LEVEL), `conceal` with a budget of
everyone and the users' values loses less NDCG at 10 than `conceal` with the same budget for each user and without them
(the core), and no more than any other of the ways that get there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from attriguard.evaluation.figures import rounded
from attriguard.experiments.base import Check, Experiment, Numbers, share
from attriguard.experiments.own_table import OwnTable, Way
from attriguard.experiments.workspace import Workspace
from attriguard.goals.price import EVERYONE, USER
from attriguard.guard import AttriGuard
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import Line, LinePlot
from attriguard.utility import get as get_recommender
from attriguard.utility.recommendation import RecommendationTest

RECOMMENDER, N = "ALS", 10
SPLIT = 0.5
# What the strongest attacker is left with where the ways are compared, on the paper's data and elsewhere: a share of
# what he infers without a guard.
LEVEL = 0.7


PLAIN, BEST = Way("conceal", USER), Way("conceal", EVERYONE, informed=True)
WAYS = (
    Way("mislead", USER), Way("mislead", EVERYONE), Way("both", USER), Way("both", EVERYONE),
    PLAIN, Way("conceal", EVERYONE), Way("conceal", USER, informed=True), BEST,
)  # fmt: skip


class BeyondCost(Experiment):
    """Goals against a recommender."""

    name = "beyond-cost"
    title = "Beyond: what protection costs a recommender"
    claim = (
        "Not in the paper: at equal protection, removals that are spent where they help most and that know the users' "
        "values cost a recommender least."
    )
    reported = "Nothing; figure 10 compares defenses of which AttriGuard misleads."
    inputs = ("data", "two guards, each for the users of the other", "LR-A, MLP-A and ALS on all users")
    in_paper = False
    effort = (600.0, 2400.0)

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Measure every way at every budget; each is kept when it is done."""
        trial = _Trial(work)
        found: dict[str, list[dict[str, float]]] = {}
        for way, part in progress.each(WAYS, lambda way: way.name):
            found[way.name] = [
                work.kept(partial(trial.measure, way, budget, inner), "cost", self.revision, way.name, budget)
                for budget, inner in part.each(work.profile.cost_budgets, lambda budget: f"budget {budget:g}")
            ]
        before = work.kept(trial.before, "cost before", self.revision)
        return {
            "users": trial.users.n_users,
            "budgets": list(work.profile.cost_budgets),
            "before": before,
            "ways": found,
        }

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """The informed budget of everyone against the plain one (the core), then against all."""
        level = LEVEL * numbers["before"]["accuracy"]
        lost = {name: at_level(numbers, name, level, "ndcg") for name in numbers["ways"]}
        mine, plain = lost[BEST.name], lost[PLAIN.name]
        others = {name: loss for name, loss in lost.items() if loss is not None and name != BEST.name}
        less = [name for name, loss in others.items() if mine is None or loss < mine]
        text = f"where the strongest attacker is left {share(level)}, "
        return [
            Check(f"{text}“{BEST.name}” loses less NDCG than “{PLAIN.name}”", f"{_percent(mine)} and {_percent(plain)}",
                  mine is not None and (plain is None or mine < plain)),
            Check("and no other way loses less", ", ".join(less) or "none does", not less),
        ]  # fmt: skip

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """The loss of NDCG at the level, best way and plain way."""
        level = LEVEL * numbers["before"]["accuracy"]
        shown = [f"{way.name} {_percent(at_level(numbers, way.name, level, 'ndcg'))}" for way in (PLAIN, BEST)]
        return "–", f"NDCG lost where the attacker is left {share(level)}: {'; '.join(shown)}"

    def show(self, numbers: Numbers) -> Sequence[LinePlot | Table]:
        """NDCG lost over what the attacker is left, and every figure."""
        before = numbers["before"]
        lines = [
            Line(name, [100 * p["accuracy"] for p in points], [100 * lost(before, p, "ndcg") for p in points])
            for name, points in numbers["ways"].items()
        ]
        rows = [
            [name, f"{budget:g}", f"{p['changes']:.2f}", share(p["accuracy"]), f"{p['auc']:.3f}",
             *(_percent(lost(before, p, figure)) for figure in ("precision", "ndcg")), f"{p['coverage']:.3f}"]
            for name, points in numbers["ways"].items() for budget, p in zip(numbers["budgets"], points, strict=True)
        ]  # fmt: skip
        return [
            LinePlot(
                lines,
                "users whose value the strongest attacker infers (%)",
                f"NDCG at {N} that {RECOMMENDER} loses (%)",
                caption=f"All {numbers['users']:,} users are protected; a point a budget "
                f"({', '.join(f'{b:g}' for b in numbers['budgets'])}). Without a guard: {share(before['accuracy'])}.",
            ),
            Table(
                ["goal, budget of", "budget", "changes", "accuracy", "AUC", f"precision@{N} lost", f"NDCG@{N} lost",
                 "coverage"],
                rows, numeric=range(1, 8),
                caption=f"strongest attacker and {RECOMMENDER}; coverage before: {before['coverage']:.3f}",
            ),
        ]  # fmt: skip


def lost(before: Mapping[str, float], after: Mapping[str, float], figure: str) -> float:
    """The share of a recommender's figure that is lost; negative where it gained."""
    return 1.0 - after[figure] / max(before[figure], 1e-12)


def at_level(numbers: Numbers, name: str, level: float, figure: str) -> float | None:
    """What a way loses where it leaves the strongest attacker ``level``, on a straight line between two budgets.

    None where no budget gets there. Without a guard nothing is lost.
    """
    before, points = numbers["before"], numbers["ways"][name]
    left = [before["accuracy"], *(p["accuracy"] for p in points)]
    losses = [0.0, *(lost(before, p, figure) for p in points)]
    for k in range(1, len(left)):
        if left[k] <= level < left[k - 1]:
            part = (left[k - 1] - level) / (left[k - 1] - left[k])
            return losses[k - 1] + part * (losses[k] - losses[k - 1])
    return None


def _percent(value: float | None) -> str:
    return "not reached" if value is None else f"{100 * value:.1f} %"


class _Trial:
    """All users without their held-out ratings, two guards, the attackers and the recommender."""

    def __init__(self, work: Workspace) -> None:
        self.users, self.seed = work.data.take(work.data.disclosed), work.seed
        self.scale = work.data.scale
        self._ready = False

    def _prepare(self) -> None:
        """What all ways share, made when the first of them is measured."""
        if self._ready:
            return
        X, seed = self.users.X, self.seed
        recommender = get_recommender(RECOMMENDER, random_state=seed)
        self.test = RecommendationTest(X, np.arange(X.shape[0]), recommender, ns=[N], random_state=seed)
        made = AttriGuard(goal="both", split=SPLIT, scale=self.scale, random_state=seed)
        self.table = OwnTable(replace(self.users, X=self.test.X_protected, source=None), made, seed)
        self._ready = True

    def before(self) -> dict[str, float]:
        """Without a guard."""
        self._prepare()
        found = self.table.checker.check([self.test.X_protected])
        loss = self.test.before
        return {
            "accuracy": rounded(found.strongest_before("accuracy").accuracy.value, 6),
            "precision": rounded(float(loss.mean()[0]), 6),
            "ndcg": rounded(float(loss.mean_ndcg()[0]), 6),
            "coverage": rounded(float(loss.coverage[0]), 6),
        }

    def measure(self, way: Way, budget: float, progress: Progress) -> dict[str, float]:
        """One way at one budget."""
        self._prepare()
        plan = self.table.plan(way, budget, progress)
        released = plan.release(self.seed)
        found, loss = self.table.checker.check([released]), self.test.loss(released)
        return {
            "changes": rounded(float(plan.expected_cost.mean())),
            "accuracy": rounded(found.strongest_after("accuracy").accuracy.value, 6),
            "auc": rounded(found.strongest_after("auc").auc.value, 6),
            "precision": rounded(float(loss.after_protected[0]), 6),
            "ndcg": rounded(float(loss.ndcg_after[0]), 6),
            "coverage": rounded(float(loss.coverage_after[0]), 6),
        }
