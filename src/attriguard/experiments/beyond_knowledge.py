"""Beyond the paper: how much of the guard an attacker must have to undo it.

Three groups that share nobody: the guard's users, the attacker's users, the test users. The guard misleads, with LR-D
and PANDA, at budget 4. An attacker has the very guard, or one of his own in its place: learnt from one half of the
guard's users or from the other, of another kind (one-vs-all), or learnt from his own users. With it he trains on users
whom it protected (AT-A and LR-A), weighs what could have been changed (the inversion), or detects first who is
protected and attacks those with what he retrained, the others with what he did not (section 6 of the paper).

Rule: holds if whoever has no more than a guard that was learnt from his own users infers at most 0.03 more than the
same attacker who knows of no guard: by the inversion (the core), by AT-A, by retraining and by detecting first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from attriguard.attacks import lineup
from attriguard.attacks.base import Attack
from attriguard.attacks.detector import Detector, DetectThenAttack
from attriguard.attacks.inversion import MechanismInversion
from attriguard.attacks.retrained import Retrained
from attriguard.data.public_data import PublicData
from attriguard.data.split import stratified_test_mask
from attriguard.evaluation.engine import evaluate
from attriguard.evaluation.figures import rounded
from attriguard.evaluation.guards import fit_kept
from attriguard.evaluation.protocol import halves
from attriguard.experiments.base import Check, Experiment, Numbers, share
from attriguard.experiments.curves import baseline_of
from attriguard.experiments.workspace import Workspace
from attriguard.guard import AttriGuard
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import BarPlot

BUDGET, MARGIN = 4.0, 0.03
# Hidden units of AT-A and NN-A: they learn five times.
HIDDEN = 500
# What the attacker has in the guard's place.
SAME, HALF, OTHER_HALF = "the very guard", "half of its users", "the other half"
KIND, OWN = "another kind", "users of his own"
HAS = (SAME, HALF, OTHER_HALF, KIND, OWN)
INVERSION, TRAINING, RETRAINING, DETECTING = "inversion with LR-A", "AT-A", "retrained LR-A", "detects, then LR-A"
# The same attackers who know of no guard.
WITHOUT: Mapping[str, str] = {INVERSION: "LR-A", TRAINING: "NN-A", RETRAINING: "LR-A", DETECTING: "LR-A"}


class BeyondKnowledge(Experiment):
    """Attackers who have the guard, a part of it, or one of their own."""

    name = "beyond-knowledge"
    title = "Beyond: how much an attacker must know"
    claim = "Not in the paper: who does not have the guard itself cannot undo it."
    reported = (
        "AT-A, which has the guard, almost the same as NN-A. It proposes to detect first who is protected, and does "
        "not measure it."
    )
    inputs = ("data", "LR-D on a half", "four other guards", "LR-A, NN-A and AT-A on the other half")
    in_paper = False
    effort = (60.0, 3600.0)

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Every attacker with every guard; each figure is kept when it is found."""
        trial = _Trial(work)
        unaware, aware = progress.parts(1, 8)
        names = sorted(set(WITHOUT.values()))
        without = {
            name: work.kept(partial(trial.accuracy, trial.plain(name), part), self.name, name)
            for name, part in unaware.each(names, str)
        }
        pairs = [(attacker, has) for attacker in WITHOUT for has in HAS]
        found: dict[str, dict[str, float]] = {attacker: {} for attacker in WITHOUT}
        for (attacker, has), part in aware.each(pairs, lambda pair: f"{pair[0]}, {pair[1]}"):
            found[attacker][has] = work.kept(partial(trial.knowing, attacker, has, part), self.name, attacker, has)
        return {
            "users": int(trial.test.n_users),
            "baseline": baseline_of(trial.test.y, work.train.y),
            "without": without,
            "accuracy": found,
        }

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """A guard of his own against none, for every attacker."""
        found = []
        for attacker, plain in WITHOUT.items():
            own, none = numbers["accuracy"][attacker][OWN], numbers["without"][plain]
            found.append(
                Check(f"{attacker}: a guard learnt from {OWN} gains at most {MARGIN:g}",
                      f"{share(own)} against {share(none)}", own <= none + MARGIN)
            )  # fmt: skip
        return found

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """The inversion, from knowing all to knowing nothing."""
        shown = numbers["accuracy"][INVERSION]
        none = numbers["without"][WITHOUT[INVERSION]]
        return "–", f"{INVERSION}: {SAME} {share(shown[SAME])}, {OWN} {share(shown[OWN])}; no guard {share(none)}"

    def notes(self, numbers: Numbers) -> Sequence[str]:
        """What the networks are."""
        return [f"AT-A and NN-A have {HIDDEN} hidden units here. {numbers['users']:,} test users, budget {BUDGET:g}."]

    def show(self, numbers: Numbers) -> Sequence[BarPlot | Table]:
        """Bars for every attacker and guard, and the same as a table."""
        found = numbers["accuracy"]
        head = ["attacker", *HAS, "knows of no guard"]
        rows = [[name, *(share(found[name][has]) for has in HAS), share(numbers["without"][WITHOUT[name]])]
                for name in found]  # fmt: skip
        return [
            BarPlot(
                list(found),
                {has: [100 * found[name][has] for name in found] for has in HAS},
                "users whose value is inferred (%)",
                "attacker",
                caption=f"By what the attacker has; guessing is right for {share(numbers['baseline'])}.",
            ),
            Table(head, rows, numeric=range(1, len(head)), caption="share of users whose value is inferred"),
        ]


class _Trial:
    """The three groups of users, the guard, and those that attackers have in its place."""

    def __init__(self, work: Workspace) -> None:
        self.work = work
        chosen = work.test.take(np.sort(work.order[: work.profile.aware_users]))
        self.guards_users, self.mine, self.test = halves(work.train, chosen, work.seed)
        self.plan = self.guard(SAME).plan(self.test.X)

    def guard(self, has: str) -> AttriGuard:
        """The guard, or what an attacker has in its place."""
        half = stratified_test_mask(self.guards_users.y, 0.5, self.work.seed)
        users: Mapping[str, PublicData] = {
            HALF: self.guards_users.take(half),
            OTHER_HALF: self.guards_users.take(~half),
            OWN: self.mine,
        }
        learnt, kind = users.get(has, self.guards_users), "lr-ova" if has == KIND else "lr"
        guard = AttriGuard(classifier=kind, search="panda", budget=BUDGET, scale=self.work.data.scale)
        return fit_kept(guard, learnt.X, learnt.y, self.work.cache, Progress())

    def plain(self, name: str) -> Attack:
        """An attacker who knows of no guard."""
        return lineup([name], random_state=self.work.seed, hidden=HIDDEN, epochs=self.work.profile.epochs)[0]

    def knowing(self, attacker: str, has: str, progress: Progress) -> float:
        """What an attacker infers who has that guard."""
        guard, seed = self.guard(has), self.work.seed
        retrained = Retrained(self.plain("LR-A"), guard, random_state=seed)
        if attacker == INVERSION:
            return self.accuracy(MechanismInversion(self.plain("LR-A"), guard), progress)
        if attacker == RETRAINING:
            return self.accuracy(retrained, progress)
        if attacker == DETECTING:
            detector = Detector(guard, random_state=seed)
            return self.accuracy(DetectThenAttack(self.plain("LR-A"), retrained, detector), progress)
        options = {"random_state": seed, "hidden": HIDDEN, "epochs": self.work.profile.epochs}
        return self.accuracy(lineup([attacker], **options, guard=guard)[0], progress)

    def accuracy(self, attack: Attack, progress: Progress) -> float:
        """The expected share of test users whose value is inferred."""
        train, measure = (self.mine.X, self.mine.y), self.work.measure
        (curve,) = evaluate(
            self.plan, [attack], self.test.y, [BUDGET], train=train, measure=measure, progress=progress
        )  # fmt: skip
        return rounded(curve.accuracy[0], 6)
