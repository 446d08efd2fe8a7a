"""Beyond the paper: the guard's own settings, compared without a test user.

The training users are divided into three folds. Guards and attackers (LR-A, RF-A) learn from two of them; users of the
third are protected at budget 4 and attacked. So the kind of classifier, its C and the search are chosen by
cross-validation on the users that a guard learns from.

Rule: holds if no other setting leaves the two attackers, on average over both and over the folds, less than the default
does by more than 0.005 (the core), and none that leaves them as little needs less noise by more than 0.02 changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from sklearn.model_selection import StratifiedKFold

from attriguard.attacks import lineup
from attriguard.attacks.base import Attack
from attriguard.classifiers.linear import make_estimator
from attriguard.evaluation.engine import evaluate
from attriguard.evaluation.figures import interval, rounded
from attriguard.experiments.base import Check, Experiment, Numbers, share
from attriguard.experiments.workspace import Workspace
from attriguard.guard import AttriGuard
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import Line, LinePlot

BUDGET, FOLDS = 4.0, 3
ATTACKS = ("LR-A", "RF-A")
# What is told apart: an accuracy, and a mean number of changes.
CLOSE, FEWER = 0.005, 0.02
# Kind, C, search; the first one is the default.
SETTINGS = (
    ("lr", 0.5, "probability"),
    *(("lr", C, "probability") for C in (0.1, 0.2, 1.0, 2.0)),
    *(("lr-ova", C, "probability") for C in (0.2, 0.5, 1.0, 2.0)),
    *(("lr", 0.5, search) for search in ("margin", "panda")),
)
Fold = tuple[np.ndarray, np.ndarray]


class BeyondSettings(Experiment):
    """Kinds of LR-D, its C and searches, by cross-validation."""

    name = "beyond-settings"
    title = "Beyond: the guard's settings by cross-validation"
    claim = "Not in the paper: by cross-validation on the users it learns from, a guard protects best by default."
    reported = "Nothing. Its text gives neither C nor how it was chosen."
    inputs = ("data", "LR-D on two of three folds", "LR-A, RF-A on two of three folds")
    in_paper = False
    effort = (60.0, 900.0)

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Every setting on every fold; each is kept when it is found."""
        train = work.train
        folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=work.seed).split(train.X, train.y))
        rows = []
        for (k, fold), part in progress.each(list(enumerate(folds)), lambda each: f"fold {each[0] + 1}"):
            attackers: list[Attack] = []
            for setting, measuring in part.each(SETTINGS, lambda each: f"{each[0]}, C = {each[1]:g}, {each[2]}"):
                make = partial(_measured, work, fold, setting, attackers, measuring)
                rows.append({"fold": k, **_named(setting), **work.kept(make, self.name, setting, k)})
        return {"users": work.profile.fold_users, "rows": rows}

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """The default against all others: what attackers infer (the core), and its noise."""
        found = _means(numbers)
        default, others = found[SETTINGS[0]], {each: found[each] for each in SETTINGS[1:]}
        best = min(others, key=lambda each: others[each]["left"])
        as_good = [each for each in others if others[each]["left"] <= default["left"] + CLOSE]
        least = min((others[each]["l0"] for each in as_good), default=np.inf)
        return [
            Check(f"no other setting leaves less by more than {CLOSE:g}",
                  f"{default['left']:.4f}; {_words(best)} {others[best]['left']:.4f}",
                  default["left"] <= others[best]["left"] + CLOSE),
            Check(f"none as good needs less noise by more than {FEWER:g} changes",
                  f"{default['l0']:.3f}; {f'the least {least:.3f}' if as_good else 'no other is as good'}",
                  default["l0"] <= least + FEWER),
        ]  # fmt: skip

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """The setting that is chosen."""
        found = _means(numbers)
        best = min(found, key=lambda each: found[each]["left"])
        return (
            "–",
            f"{_words(best)} leaves least, {found[best]['left']:.3f}; the default {found[SETTINGS[0]]['left']:.3f}",
        )

    def notes(self, numbers: Numbers) -> Sequence[str]:
        """What the numbers are."""
        return [
            f"{FOLDS} folds of the training users, at most {numbers['users']:,} users attacked a fold, budget "
            f"{BUDGET:g}. Means over the folds with Student's 95 % interval; no test user has a part in them."
        ]

    def show(self, numbers: Numbers) -> Sequence[LinePlot | Table]:
        """Both attackers over C, and all settings in a table."""
        found = _means(numbers)
        lines = []
        for kind in ("lr", "lr-ova"):
            tried = sorted(each for each in SETTINGS if each[0] == kind and each[2] == SETTINGS[0][2])
            for attack in ATTACKS:
                inferred = [100 * found[each][attack] for each in tried]
                lines.append(Line(f"{kind}, {attack}", [C for _, C, _ in tried], inferred))
        rows = [
            [kind, f"{C:g}", search, *(_cell(numbers, (kind, C, search), name) for name in ("l0", *ATTACKS)),
             f"{found[kind, C, search]['left']:.4f}"]
            for kind, C, search in SETTINGS
        ]  # fmt: skip
        return [
            LinePlot(lines, "C", "users whose value is inferred (%)", caption=f"Held-out users at budget {BUDGET:g}."),
            Table(["LR-D", "C", "search", "mean noise", *ATTACKS, "mean of both"], rows, numeric=(1, 3, 4, 5, 6)),
        ]


Setting = tuple[str, float, str]


def _named(setting: Setting) -> dict[str, str | float]:
    return dict(zip(("kind", "C", "search"), setting, strict=True))


def _words(setting: Setting) -> str:
    return f"{setting[0]} with C = {setting[1]:g} and {setting[2]}"


def _measured(
    work: Workspace, fold: Fold, setting: Setting, attackers: list[Attack], progress: Progress
) -> dict[str, float]:
    """A setting on a fold: mean noise, and what each attacker infers; they learn for the first setting that asks."""
    (learn, held), (kind, C, search) = fold, setting
    mine, theirs = work.train.take(np.sort(learn)), work.train.take(np.sort(_some(work, held)))
    if not attackers:
        attackers += [attack.fit(mine.X, mine.y) for attack in lineup(ATTACKS, random_state=work.seed)]
    guard = AttriGuard(make_estimator(kind, C), search=search, scale=work.data.scale, budget=BUDGET)
    plan = guard.fit(mine.X, mine.y).plan(theirs.X)
    curves = evaluate(plan, attackers, theirs.y, [BUDGET], measure=work.measure, progress=progress)
    found = {curve.attack: rounded(curve.accuracy[0], 6) for curve in curves}
    return {"l0": rounded(plan.cost.mean(), 4), **found}


def _some(work: Workspace, held: np.ndarray) -> np.ndarray:
    """The users of a fold who are attacked."""
    return np.random.default_rng(work.seed).permutation(held)[: work.profile.fold_users]


def _values(numbers: Numbers, setting: Setting, name: str) -> np.ndarray:
    """A figure of a setting, fold by fold."""
    return np.array([row[name] for row in numbers["rows"] if (row["kind"], row["C"], row["search"]) == setting])


def _means(numbers: Numbers) -> Mapping[Setting, dict[str, float]]:
    found = {each: {name: float(_values(numbers, each, name).mean()) for name in ("l0", *ATTACKS)} for each in SETTINGS}
    return {each: {**means, "left": float(np.mean([means[name] for name in ATTACKS]))} for each, means in found.items()}


def _cell(numbers: Numbers, setting: Setting, name: str) -> str:
    values = _values(numbers, setting, name)
    mean = f"{values.mean():.3f}" if name == "l0" else share(values.mean())
    return f"{mean} ± {interval(values[:, None])[0]:.3f}"
