"""Figure 9: AttriGuard against BlurMe, ChiSquare, QPM and LDP-SH; NN-A attacks. What noise does each accuracy cost?

AttriGuard has LR-D and PANDA. AttriGuard with NN-D and three simple defenses are shown beside it. BlurMe and ChiSquare
must be told every user's true value.

Rule: holds if no rival needs less noise than AttriGuard at budget 2 to bring NN-A down to the same accuracy (the core),
the same is true for every other budget from 1 on, and QPM never makes fewer than ten changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from attriguard.defenses import Defense, lineup
from attriguard.evaluation.comparison import Tradeoff, compare
from attriguard.evaluation.figures import rounded
from attriguard.experiments.base import Check, Experiment, Numbers, share
from attriguard.experiments.curves import baseline_of
from attriguard.experiments.workspace import NN_D, Workspace
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import Line, LinePlot

OURS = "AttriGuard"
RIVALS = ("BlurMe", "ChiSquare", "QPM", "LDP-SH")
# Shown beside them: AttriGuard with a network, and what a person would try first.
NETWORK = "AttriGuard, NN-D"
REFERENCES = ("random-additions", "random-deletions", "telling-deletions")
ATTACK = "NN-A"
CORE, FROM_BUDGET = 2.0, 1.0
QPM_LEAST = 10.0


def defenses_of(work: Workspace, names: Sequence[str] = (OURS, *RIVALS)) -> list[Defense]:
    """The defenses by name, with the options of this experiment."""
    return lineup(names, scale=work.data.scale, search="panda", classifier=work.linear(), random_state=work.seed)


def tradeoffs(work: Workspace, defenses: Sequence[Defense], progress: Progress) -> list[Tradeoff]:
    """What each defense costs and what NN-A infers after it; figure 10 takes its noise levels from here."""
    return compare(
        defenses,
        [work.attack(ATTACK)],
        work.X,
        work.y,
        train=(work.train.X, work.train.y),
        measure=work.measure,
        progress=progress,
    )


class Figure9(Experiment):
    """What each defense costs for the same accuracy of the attacker."""

    name = "figure-9"
    title = "Figure 9: AttriGuard and its rivals"
    claim = "For the same accuracy of the attacker, AttriGuard adds substantially less noise than every other defense."
    reported = (
        "Curves; in the text: AttriGuard outperforms all compared methods, though BlurMe and ChiSquare are told every "
        "user's true value, and QPM cannot reach small noise at all."
    )
    inputs = ("data", "LR-D", "Phase I: LR-D panda, NN-D panda", "NN-A", "BlurMe, ChiSquare, QPM, LDP-SH")
    effort = (35.0, 3600.0)
    revision = 2

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Measure every defense over its strengths, and AttriGuard with NN-D beside."""
        comparing, searching, attacking, beside = progress.parts(4, 2, 1, 2)
        found = tradeoffs(work, defenses_of(work), comparing)
        plans = {NETWORK: work.plan(NN_D, progress=searching)}
        network = work.curves(ATTACK, plans, found[0].strengths, progress=attacking)[NETWORK]
        others = [Tradeoff(NETWORK, found[0].strength, False, found[0].strengths, (network,))]
        others += tradeoffs(work, defenses_of(work, REFERENCES), beside)
        before = found[0].curve(ATTACK).before
        return {
            "users": int(work.y.size),
            "before": None if before is None else rounded(before, 6),
            "baseline": baseline_of(work.y, work.train.y),
            "defenses": {
                each.defense: {
                    "strength": each.strength,
                    "told": each.needs_truth,
                    "strengths": list(each.strengths),
                    "l0": [rounded(noise) for noise in each.l0],
                    "accuracy": [rounded(a, 6) for a in each.curve(ATTACK).accuracy],
                }
                for each in (*found, *others)
            },
            "rivals_need": {
                each.defense: [each.noise_for(ATTACK, a) for a in found[0].curve(ATTACK).accuracy] for each in found[1:]
            },
        }

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """Rivals with less noise at budget 2 (the core) and at other budgets, and QPM's least noise."""
        ours = numbers["defenses"][OURS]
        core = ours["strengths"].index(CORE)
        later = [k for k, budget in enumerate(ours["strengths"]) if budget >= FROM_BUDGET and k != core]
        qpm = min(numbers["defenses"]["QPM"]["l0"])
        return [
            self._cheaper(numbers, [core], f"at budget {CORE:g}"),
            self._cheaper(numbers, later, f"at any other budget from {FROM_BUDGET:g} on"),
            Check(f"QPM changes at least {QPM_LEAST:g} ratings a user", f"{qpm:,.1f}", qpm >= QPM_LEAST),
        ]

    def _cheaper(self, numbers: Numbers, places: Sequence[int], when: str) -> Check:
        """Does anyone reach AttriGuard's accuracy with less noise?"""
        ours = numbers["defenses"][OURS]
        cheaper = sorted(
            {
                f"{name} ({need[k]:.2f} instead of {ours['l0'][k]:.2f})"
                for name, need in numbers["rivals_need"].items()
                for k in places
                if need[k] is not None and need[k] < ours["l0"][k]
            }
        )
        text = f"no rival reaches with less noise what AttriGuard reaches {when}"
        return Check(text, "; ".join(cheaper) or "none", not cheaper)

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """AttriGuard at budget 2, and the rival that comes nearest."""
        ours = numbers["defenses"][OURS]
        k = ours["strengths"].index(CORE)
        needs = {name: need[k] for name, need in numbers["rivals_need"].items() if need[k] is not None}
        best = min(needs, key=lambda name: needs[name]) if needs else None
        rival = "no rival gets there" if best is None else f"{best} needs {needs[best]:,.1f}"
        return (
            "AttriGuard needs least noise",
            f"{share(ours['accuracy'][k])} with {ours['l0'][k]:.2f} changes; {rival}",
        )

    def notes(self, numbers: Numbers) -> Sequence[str]:
        """Which defenses are told every user's true value."""
        told = [name for name, each in numbers["defenses"].items() if each["told"]]
        return [f"{' and '.join(told)} are told every user's true value, which in practice nobody can."] if told else ()

    def show(self, numbers: Numbers) -> Sequence[LinePlot | Table]:
        """Accuracy over noise, a line a defense."""
        lines, rows = [], []
        for name, each in numbers["defenses"].items():
            shown = name + ("*" if each["told"] else "")
            lines.append(Line(shown, each["l0"], [100 * a for a in each["accuracy"]]))
            rows += [
                [shown, f"{each['strength']} {s:g}", f"{noise:,.2f}", share(a)]
                for s, noise, a in zip(each["strengths"], each["l0"], each["accuracy"], strict=True)
            ]
        return [
            LinePlot(
                lines,
                "noise: changed ratings a user, on average (logarithmic)",
                "users whose value is inferred (%)",
                ("guessing (BA-A)", 100 * numbers["baseline"]),
                log_x=True,
                caption=f"NN-A on {numbers['users']:,} test users; untouched: {share(numbers['before'])}. "
                "* is told the truth.",
            ),
            Table(["defense", "strength", "changes a user", "NN-A"], rows, numeric=(2, 3)),
        ]
