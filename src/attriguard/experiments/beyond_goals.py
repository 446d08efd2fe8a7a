"""Beyond the paper: to mislead, to conceal, or both; against attackers who know the guard and who do not, over budgets.

Three groups that share nobody: the guard's users, the attacker's users, the test users. Beside the accuracies: how well
protected users are told from untouched ones, and what the same number of changes costs a recommender (PureSVD).

Rule: holds if, at budget 4, the best attacker who knows the guard infers less behind "conceal" than behind "mislead"
(the core), the best attacker who does not know it infers less behind "mislead", and "both" is never the worst of the
three.
"""

from __future__ import annotations

from collections.abc import Sequence

from attriguard.evaluation.figures import rounded
from attriguard.evaluation.goals_compared import N, PrecisionTest, measure_goals
from attriguard.evaluation.protocol import halves
from attriguard.experiments.base import Check, Experiment, Numbers, share
from attriguard.experiments.curves import baseline_of
from attriguard.experiments.workspace import Workspace
from attriguard.guard import AttriGuard
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import Line, LinePlot

ATTACKS = ("LR-A", "MLP-A")
BUDGET = 4.0
KNOWS, UNAWARE = "who knows and retrains", "who does not know"


class BeyondGoals(Experiment):
    """The three goals against attackers who know the guard and who do not."""

    name = "beyond-goals"
    title = "Beyond: to mislead or to conceal"
    claim = (
        "Not in the paper, which misleads: taking away what tells most leaves less to attackers who know the guard, "
        "and misleading leaves less to those who do not."
    )
    reported = "Nothing; its guard misleads."
    inputs = ("data", "guards of three goals on a half", "LR-A and MLP-A on the other")
    in_paper = False
    effort = (200.0, 1800.0)
    revision = 2

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Measure every goal with the same guard options and the same three groups of users."""
        groups = halves(work.train, work.test.take(work.chosen), work.seed)
        budgets = work.profile.goal_budgets
        guard = AttriGuard(search="margin", scale=work.data.scale, budget=BUDGET, split=work.profile.goal_split)
        outcomes = measure_goals(
            groups,
            guard,
            [work.attack(name) for name in ATTACKS],
            budgets,
            precision=PrecisionTest(BUDGET, work.profile.holdouts),
            measure=work.measure,
            progress=progress,
        )
        found = {
            each.goal: {
                "changes": [rounded(c) for c in each.aware.unaware[0].expected_cost],
                "split": rounded(each.split),
                UNAWARE: {curve.attack: [rounded(a, 6) for a in curve.accuracy] for curve in each.aware.unaware},
                KNOWS: {curve.attack: [rounded(a, 6) for a in curve.accuracy] for curve in each.aware.retrained},
                "detection": [rounded(auc) for auc in each.aware.detection],
                "precision": {
                    "before": rounded(each.precision_before, 6),
                    "after": rounded(each.precision_after, 6),
                    "changes": rounded(each.precision_changes),
                },
            }
            for each in outcomes
        }
        return {
            "users": int(work.y.size),
            "baseline": baseline_of(groups.test_users.y, work.train.y),
            "budgets": list(budgets),
            "goals": found,
        }

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """The best attacker behind each goal: knowing the guard (the core), not knowing it, and for "both"."""
        best = best_at(numbers, numbers["budgets"].index(BUDGET))
        mislead, conceal, both = (best[goal] for goal in ("mislead", "conceal", "both"))
        worst = [who for who in (KNOWS, UNAWARE) if both[who] > max(mislead[who], conceal[who])]
        return [
            Check(f'the best attacker {KNOWS} infers less behind "conceal"',
                  f"{share(conceal[KNOWS])} against {share(mislead[KNOWS])}", conceal[KNOWS] < mislead[KNOWS]),
            Check(f'the best attacker {UNAWARE} infers less behind "mislead"',
                  f"{share(mislead[UNAWARE])} against {share(conceal[UNAWARE])}", mislead[UNAWARE] < conceal[UNAWARE]),
            Check('"both" is nowhere the worst', f"{share(both[KNOWS])} and {share(both[UNAWARE])}", not worst),
        ]  # fmt: skip

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """The best attacker who knows the guard, by goal."""
        best = best_at(numbers, numbers["budgets"].index(BUDGET))
        shown = ", ".join(f"{goal} {share(each[KNOWS])}" for goal, each in best.items())
        return "–", f"best attacker {KNOWS}, budget {BUDGET:g}: {shown}"

    def show(self, numbers: Numbers) -> Sequence[LinePlot | Table]:
        """The best attacker over budgets, every attacker's accuracy, and what a recommender loses."""
        budgets, goals = numbers["budgets"], numbers["goals"]
        best = [best_at(numbers, k) for k in range(len(budgets))]
        lines = [
            Line(f"{goal}, {who}", budgets, [100 * each[goal][who] for each in best])
            for goal in goals
            for who in (KNOWS, UNAWARE)
        ]
        rows = [
            [goal, who, attack, *(share(a) for a in accuracy)]
            for goal, each in goals.items()
            for who in (UNAWARE, KNOWS)
            for attack, accuracy in each[who].items()
        ]
        for goal, each in goals.items():
            rows.append([goal, "detector", "AUC", *(f"{auc:.3f}" for auc in each["detection"])])
        costs = [
            [goal, f"{p['changes']:.2f}", f"{p['before']:.4f}", f"{p['after']:.4f}",
             f"{100 * (1 - p['after'] / p['before']):.1f} %" if p["before"] else "–"]
            for goal, p in ((goal, each["precision"]) for goal, each in goals.items())
        ]  # fmt: skip
        return [
            LinePlot(
                lines,
                "budget: changed ratings a user, on average",
                "users whose value the best attacker infers (%)",
                ("guessing", 100 * numbers["baseline"]),
                caption=f"The best attacker of {' and '.join(ATTACKS)} on {numbers['users']:,} test users.",
            ),
            Table(
                ["goal", "attacker", "", *(f"{b:g}" for b in budgets)], rows, numeric=range(3, 3 + len(budgets)),
                caption="share of users whose value is inferred, by budget; and how well protected users are detected",
            ),
            Table(
                ["goal", "changes made", "before", "after", "lost"], costs, numeric=(1, 2, 3, 4),
                caption=f"precision of PureSVD for the protected users, {N} items recommended, budget {BUDGET:g}",
            ),
        ]  # fmt: skip


def best_at(numbers: Numbers, k: int) -> dict[str, dict[str, float]]:
    """By goal: the best attacker's accuracy at the k-th budget, for attackers who know the guard and who do not."""
    return {
        goal: {who: max(curve[k] for curve in each[who].values()) for who in (KNOWS, UNAWARE)}
        for goal, each in numbers["goals"].items()
    }
