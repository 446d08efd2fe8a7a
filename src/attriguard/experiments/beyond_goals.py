"""Beyond the paper: to mislead, to conceal, or both; against attackers who know the guard and who do not, budget 4.

Three groups that share nobody: the guard's users, the attacker's users, the test users.

Rule: holds if the best attacker who knows the guard infers less behind "conceal" than behind "mislead" (the core), the
best one who does not know infers less behind "mislead", and "both" is nowhere the worst of the three.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attriguard.evaluation.aware import evaluate_aware
from attriguard.evaluation.protocol import halves
from attriguard.experiments.base import Check, Experiment, Numbers, share
from attriguard.experiments.curves import baseline_of
from attriguard.experiments.record import rounded
from attriguard.experiments.workspace import Workspace
from attriguard.guard import AttriGuard
from attriguard.report.page import Table
from attriguard.report.plots import BarPlot

GOALS = ("mislead", "conceal", "both")
ATTACKS = ("LR-A", "MLP-A")
BUDGET = 4.0
KNOWS, UNAWARE = "who knows and retrains", "who does not know"


class BeyondGoals(Experiment):
    name = "beyond-goals"
    title = "Beyond: to mislead or to conceal"
    claim = (
        "Not in the paper, which misleads: taking away what tells most leaves less to attackers who know the guard, "
        "and misleading leaves less to those who do not."
    )
    reported = "Nothing; its guard misleads."
    inputs = ("data", "guards of three goals on a half", "LR-A and MLP-A on the other")
    effort = (90.0, 1800.0)

    def run(self, work: Workspace) -> Numbers:
        groups = halves(work.train, work.test.take(work.chosen), work.seed)
        found: dict[str, Any] = {}
        for goal in GOALS:
            guard = AttriGuard(
                goal=goal, split=work.profile.goal_split, scale=work.data.scale, budget=BUDGET, random_state=work.seed
            )
            aware = evaluate_aware(
                groups, guard, [work.attack(name) for name in ATTACKS], [BUDGET], draws=work.profile.draws,
                seed=work.seed, cache=work.cache, progress=work.report,
            )  # fmt: skip
            found[goal] = {
                "changes": rounded(aware.unaware[0].expected_cost[0]),
                "split": rounded(getattr(guard, "split_", 0.0)),
                UNAWARE: {curve.attack: rounded(curve.accuracy[0], 6) for curve in aware.unaware},
                KNOWS: {curve.attack: rounded(curve.accuracy[0], 6) for curve in aware.retrained},
            }
        return {"users": int(work.y.size), "baseline": baseline_of(groups.test_users.y, work.train.y), "goals": found}

    def n_steps(self, work: Workspace) -> int:
        return len(GOALS) * len(ATTACKS) * 2 * (1 + work.data.m)

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        best = {
            goal: {who: max(each[who].values()) for who in (KNOWS, UNAWARE)} for goal, each in numbers["goals"].items()
        }
        mislead, conceal, both = (best[goal] for goal in GOALS)
        worst = [who for who in (KNOWS, UNAWARE) if both[who] > max(mislead[who], conceal[who])]
        return [
            Check(f'the best attacker {KNOWS} infers less behind "conceal"',
                  f"{share(conceal[KNOWS])} against {share(mislead[KNOWS])}", conceal[KNOWS] < mislead[KNOWS]),
            Check(f'the best attacker {UNAWARE} infers less behind "mislead"',
                  f"{share(mislead[UNAWARE])} against {share(conceal[UNAWARE])}", mislead[UNAWARE] < conceal[UNAWARE]),
            Check('"both" is nowhere the worst', f"{share(both[KNOWS])} and {share(both[UNAWARE])}", not worst),
        ]  # fmt: skip

    def main(self, numbers: Numbers) -> tuple[str, str]:
        best = ", ".join(f"{goal} {share(max(each[KNOWS].values()))}" for goal, each in numbers["goals"].items())
        return "–", f"best attacker {KNOWS}: {best}"

    def show(self, numbers: Numbers) -> Sequence[BarPlot | Table]:
        goals = numbers["goals"]
        bars = {who: [100 * max(each[who].values()) for each in goals.values()] for who in (UNAWARE, KNOWS)}
        rows = [
            [goal, f"{each['changes']:.2f}", who, *(share(a) for a in each[who].values())]
            for goal, each in goals.items()
            for who in (UNAWARE, KNOWS)
        ]
        return [
            BarPlot(
                list(goals),
                bars,
                "users whose value is inferred (%)",
                "goal",
                caption=f"The best attacker on {numbers['users']:,} test users at budget {BUDGET:g}; guessing is right "
                f"for {share(numbers['baseline'])}.",
            ),
            Table(["goal", "changes made", "attacker", *ATTACKS], rows, numeric=(1, 3, 4)),
        ]
