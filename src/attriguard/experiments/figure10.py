"""Figure 10: recommendation precision lost to each defense, over N.

All defenses are equally strong: NN-A infers after each what it infers after AttriGuard at budget 4, or 0.10 if that is
more; with the paper's choices AttriGuard has NN-D, and NN-A infers 0.10. A defense that never gets there is used at its
largest strength. The paper averages over all users; only test
users are protected, so their own loss is shown as well. Losses have a sign: where precision rises, the loss is below 0.

Rule: holds if with every recommender AttriGuard's loss, averaged over N, is the smallest of all defenses, over all
users and over the protected users. Holds partly if it is not, but with the first recommender no other defense's loss
over all users is smaller by more than chance (the core): by more than half the 95 % interval of the difference over the
draws of the held-out items.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from attriguard.classifiers.readings import PROBABILITY, Reading
from attriguard.defenses import Defense
from attriguard.errors import MissingExtraError
from attriguard.evaluation.figures import interval, rounded
from attriguard.evaluation.precision import RecommenderSetup, precision_losses
from attriguard.experiments.base import Check, Experiment, Numbers, Told, share
from attriguard.experiments.figure9 import ATTACK, OURS, defenses_of, tradeoffs
from attriguard.experiments.workspace import Workspace
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import Line, LinePlot

NS = (1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50)
WANTED = 0.10
BUDGET = 4.0


class Figure10(Experiment):
    """What equally strong defenses cost a recommender."""

    name = "figure-10"
    title = "Figure 10: what recommendations lose"
    claim = "At the same protection, AttriGuard costs a recommender less precision than every other defense."
    reported = "Curves over N; in the text: AttriGuard outperforms the compared methods, NN-A being close to 0.1."
    inputs = ("data", "LR-D", "NN-A", "figure 9's trade-offs", "a recommender")
    effort = (60.0, 3600.0)
    revision = 4

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Find every defense's strength, then test every recommender after each defense."""
        comparing, learning, recommending = progress.parts(4, 1, 5)
        defenses = equals(work, comparing)
        levels = strengths(work, defenses, comparing)
        ready: list[Defense] = [
            defense.fit(work.train.X, work.train.y, progress=part)
            for defense, part in learning.each(defenses, lambda defense: f"{defense.name} learns")
        ]
        losses: dict[str, Any] = {}
        passed_over = []
        for name, part in recommending.each(work.profile.recommenders):
            try:
                losses[name] = _losses(work, name, ready, levels["strengths"], part)
            except MissingExtraError as error:
                passed_over.append(f"{name}: {error}.")
        if not losses:
            raise MissingExtraError(" ".join(passed_over))
        return {"ns": list(NS), "users": int(work.y.size), **levels, "losses": losses, "passed_over": passed_over}

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """Whether any defense loses less by more than chance (the core), then the least loss by recommender."""
        checks = [self._core(numbers)]
        for recommender, losses in numbers["losses"].items():
            for group, words in (("all", "over all users"), ("protected", "over the protected users")):
                means = {name: mean_loss(each[group]) for name, each in losses.items()}
                least = min(means, key=lambda name: means[name])
                checks.append(
                    Check(f"{recommender}: AttriGuard's loss is the smallest {words}",
                          f"{means[OURS]:.2%}; least: {least} {means[least]:.2%}", least == OURS)
                )  # fmt: skip
        return checks

    def _core(self, numbers: Numbers) -> Check:
        recommender, losses = next(iter(numbers["losses"].items()))
        ours = np.array(losses[OURS]["each"]["all"])
        less = []
        for name, each in losses.items():
            gain = ours - np.array(each["each"]["all"])  # the same held-out items for both
            if name != OURS and gain.mean() > interval(gain[:, None])[0]:
                less.append(f"{name} by {gain.mean():.2%}")
        return Check(f"{recommender}: no other defense loses less by more than chance, over all users",
                     ", ".join(less) or f"none of {len(losses) - 1}", not less)  # fmt: skip

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """The losses of AttriGuard and of the best rival."""
        recommender, losses = next(iter(numbers["losses"].items()))
        means = {name: mean_loss(each["protected"]) for name, each in losses.items()}
        rival = min((name for name in means if name != OURS), key=lambda name: means[name])
        return (
            "AttriGuard loses least",
            f"{recommender}, protected users: {OURS} {means[OURS]:.1%}, {rival} {means[rival]:.1%}",
        )

    def notes(self, numbers: Numbers) -> Sequence[str]:
        """What NN-A infers after each defense, and recommenders that could not run."""
        reached = ", ".join(f"{name} {share(a)}" for name, a in numbers["accuracy"].items())
        said = [f"NN-A is to infer {share(numbers['wanted'])}; it infers about: {reached}.", *numbers["passed_over"]]
        if not all("precision" in each for found in numbers["losses"].values() for each in found.values()):
            said.append("Measured before losses had a sign: as in the paper's formula, a gain counts as a loss here.")
        return said

    def told(self, numbers: Numbers) -> Sequence[Told]:
        """What NN-A infers where the defenses are compared."""
        return [Told("NN-A where the defenses are compared", f"close to {WANTED:.1f}", share(numbers["wanted"]))]

    def show(self, numbers: Numbers) -> Sequence[LinePlot | Table]:
        """The loss over N, a plot a recommender and group of users."""
        shown: list[LinePlot | Table] = []
        rows = []
        for recommender, losses in numbers["losses"].items():
            for group, words in (("all", "all users, as in the paper"), ("protected", "the protected users alone")):
                lines = [
                    Line(name, [n for n, x in zip(numbers["ns"], each[group], strict=True) if x is not None],
                         [100 * x for x in each[group] if x is not None])
                    for name, each in losses.items()
                ]  # fmt: skip
                shown.append(
                    LinePlot(lines, "N, items recommended", "relative loss of precision (%); below 0: a gain",
                             caption=f"{recommender}, averaged over {words}.")
                )  # fmt: skip
            rows += [
                [recommender, name, f"{numbers['strengths'][name]:.3g}", f"{mean_loss(each['all']):.2%}",
                 f"{mean_loss(each['protected']):.1%}"]
                for name, each in losses.items()
            ]  # fmt: skip
        head = ["recommender", "defense", "strength", "mean loss, all users", "mean loss, protected users"]
        return [*shown, Table(head, rows, numeric=(2, 3, 4))]


def equals(work: Workspace, progress: Progress) -> list[Defense]:
    """The defenses that are made equally strong, not learnt yet: AttriGuard has LR-D or, if so chosen, NN-D."""
    ours, *rivals = defenses_of(work)
    if work.choices.precision_units is not None:
        network = work.network(progress, work.choices.precision_units)
        # Given as a trained classifier, so that it does not learn anew with every defense.
        ours.set_params(classifier=Reading(network, softmax=work.choices.network_reading == PROBABILITY))
    return [ours, *rivals]


def strengths(work: Workspace, defenses: Sequence[Defense], progress: Progress) -> dict[str, Any]:
    """The strength of every defense at which NN-A infers what it infers behind AttriGuard at budget 4, or 0.10."""
    found = tradeoffs(work, defenses, progress)
    ours, wanted = found[0], WANTED
    if work.choices.precision_units is None:
        wanted = max(WANTED, ours.curve(ATTACK).accuracy[ours.strengths.index(BUDGET)])
    chosen, accuracy = {}, {}
    for each, defense in zip(found, defenses, strict=True):
        known = each.strength_for(ATTACK, wanted)
        strength = float(each.strengths[-1] if known is None else defense.nearest(known))
        chosen[each.defense] = strength
        # Not always what is wanted: some come in whole steps, and some begin with much noise.
        order = np.argsort(each.strengths)
        ladder, found_there = np.array(each.strengths)[order], np.array(each.curve(ATTACK).accuracy)[order]
        accuracy[each.defense] = rounded(float(np.interp(strength, ladder, found_there)), 6)
    return {"wanted": rounded(wanted, 6), "strengths": chosen, "accuracy": accuracy}


def mean_loss(losses: Sequence[float | None]) -> float:
    """Over those N at which something was found before."""
    known = [each for each in losses if each is not None]
    return float(np.mean(known)) if known else 0.0


def _losses(
    work: Workspace, recommender: str, ready: Sequence[Defense], levels: dict[str, float], progress: Progress
) -> dict[str, Any]:
    """The recommender learns from training users and attacked users, whose ratings the defenses change."""
    from attriguard.utility import get

    rows = csr_array(vstack([work.train.X, work.X], format="csr"))
    protected = np.arange(work.train.n_users, rows.shape[0])
    setup = RecommenderSetup(rows, protected, get(recommender, random_state=work.seed), NS, work.profile.holdouts)
    found = precision_losses(setup, ready, levels, work.y, measure=work.measure, progress=progress)
    return {
        each.defense: {
            "all": _plain(each.relative),
            "protected": _plain(each.relative_protected),
            "precision": {
                "all": {"before": _plain(each.before), "after": _plain(each.after)},
                "protected": {"before": _plain(each.before_protected), "after": _plain(each.after_protected)},
            },
            "each": {"all": _plain(each.each), "protected": _plain(each.each_protected)},
        }
        for each in found
    }


def _plain(losses: Any) -> list[float | None]:
    return [None if np.isnan(each) else rounded(each, 6) for each in losses]
