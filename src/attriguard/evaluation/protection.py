"""What a guard buys: users that it has not seen are attacked as they are, and as it would release them.

Three groups of users share nobody: the guard learns from the first, attackers from the second, and the third is
protected and attacked. An attacker who does not know the guard learns from the second group as it is; one who knows it
protects that group with the very same guard, and learns from what it would release.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from attriguard.attacks.base import Attack
from attriguard.attacks.retrained import Retrained
from attriguard.data.habits import Habits
from attriguard.data.public_data import PublicData
from attriguard.data.releases.added_ratings import draw_ratings
from attriguard.data.releases.chance import Chance
from attriguard.data.releases.release import make_release
from attriguard.evaluation.engine import name_of
from attriguard.evaluation.forensics import Forensics, added_rows
from attriguard.evaluation.inference import Estimate, Inference, inference, mean_of, strongest
from attriguard.evaluation.protocol import Groups
from attriguard.evaluation.spread import Spread, spread_of
from attriguard.guard import AttriGuard
from attriguard.plan import Plan
from attriguard.progress import Progress

# How often the attacked users are released for every budget; the figures are means.
RELEASES = 4
# How often an attacker who retrains protects each of his users: more is slower and no stronger.
DRAWS = 1


@dataclass(frozen=True, eq=False)
class Point:
    """What one attacker infers at one budget; budget 0 is no guard."""

    budget: float
    found: Inference


@dataclass(frozen=True, eq=False)
class Protection:
    """What attackers infer before and after protection, over budgets."""

    n_guard: int
    n_attacker: int
    n_test: int
    budgets: tuple[float, ...]  # from 0
    changes: tuple[float, ...]  # changed ratings a user on average, for every budget
    points: tuple[Point, ...]  # of attackers that learn, known and unknown
    spread: Spread
    forensics: Forensics | None  # how well added rows can be told, at the largest budget; None where there are none
    extended: float  # the share of users and candidates for which the policy had to be extended
    unreached: int  # combinations of user and value that could not be reached

    def at(self, budget: float) -> list[Inference]:
        """What all attackers infer at a budget."""
        return [point.found for point in self.points if point.budget == budget]

    def strongest(self, budget: float, figure: str) -> Inference:
        """Who infers most at a budget, whether he knows the guard or not."""
        return strongest(self.at(budget), figure)

    def change(self, figure: str) -> Estimate:
        """How much more the strongest infers at the largest budget than without a guard; hoped to be negative."""
        after, before = self.strongest(self.budgets[-1], figure), self.strongest(0.0, figure)
        was: Estimate = getattr(before, figure)
        left: Estimate = getattr(after, figure)
        return left.minus(was)

    def lines(self) -> Iterator[tuple[str, bool, list[Point]]]:
        """Each attacker with his points: name, whether he was retrained, points by budget."""
        for key in dict.fromkeys((point.found.retrained, point.found.attack) for point in self.points):
            mine = [point for point in self.points if (point.found.retrained, point.found.attack) == key]
            yield key[1], key[0], mine


def protection(
    groups: Groups,
    guard: AttriGuard,
    attacks: Sequence[Attack],
    retrained: Sequence[Attack],
    budgets: Sequence[float],
    *,
    seed: int,
    progress: Progress,
) -> Protection:
    """Learn the guard, and attack what it releases.

    Parameters
    ----------
    guard
        Unfitted; it is learnt here.
    attacks
        Untrained attackers who do not know the guard.
    retrained
        Untrained attackers who know it; they learn anew for every one of the budgets, which rise from 0.
    """
    ladder, above = tuple(budgets), [budget for budget in budgets if budget > 0]
    guard_users, attacker_users, test_users = groups
    learning, attacking, retraining = progress.parts(2, len(attacks), len(retrained) * len(above))
    fitting, planning = learning.named("the guard").parts(4, 1)
    guard.fit(guard_users.X, guard_users.y, progress=fitting)
    plan = guard.plan(test_users.X, budget=ladder[-1], progress=planning)
    trial = _Trial(plan, test_users, ladder, seed)
    points = []
    for attack, part in attacking.each(attacks, name_of):
        ready = attack.untrained().fit(attacker_users.X, attacker_users.y, progress=part)
        points += [trial.point(attack.name, "original", ready, budget) for budget in ladder]
    for attack, part in retraining.each(retrained, lambda attack: f"{attack.name} retrained"):
        for budget, inner in zip(above, part.parts(*[1.0] * len(above)), strict=True):
            knowing = Retrained(attack, guard, draws=DRAWS, budget=budget, random_state=seed)
            knowing.fit(attacker_users.X, attacker_users.y, progress=inner)
            points.append(trial.point(attack.name, "released", knowing, budget))
    progress.tell("", 1.0)
    return Protection(
        n_guard=guard_users.n_users,
        n_attacker=attacker_users.n_users,
        n_test=test_users.n_users,
        budgets=ladder,
        changes=tuple(trial.changes[budget] for budget in ladder),
        points=tuple(points),
        spread=spread_of(plan),
        forensics=_told(test_users, plan, guard.habits_, seed),
        extended=float(plan.extended.mean()),
        unreached=0 if plan.target is None else int((~plan.success).sum()),
    )


def _told(users: PublicData, plan: Plan, habits: Habits | None, seed: int) -> Forensics | None:
    """How well added rows can be told in a table of nothing but users, items and ratings."""
    plain, released = replace(users, source=None), plan.release(seed)
    if habits is not None:
        released = draw_ratings(plain, plan.X, released, users.items, Chance.of(seed, None), habits)
    return added_rows(plain, make_release(plain, released, random_state=seed))


class _Trial:
    """The attacked users, as they are and as they are released for every budget: the same for all attackers."""

    def __init__(self, plan: Plan, users: PublicData, ladder: Sequence[float], seed: int) -> None:
        self.users, self.together = users, np.zeros(users.n_users, dtype=np.int64)
        self.releases: dict[float, list[csr_array]] = {}
        self.changes: dict[float, float] = {}
        for budget in ladder:
            known = plan.with_budget(budget)
            self.releases[budget] = [known.release(seed + k) for k in range(RELEASES)] if budget else [plan.X]
            self.changes[budget] = float(known.expected_cost.mean()) if budget else 0.0

    def point(self, name: str, learnt_from: str, ready: Attack, budget: float) -> Point:
        """What a trained attacker infers, on average over the releases; with two values he turns what is wrong."""
        found = [
            inference(name, learnt_from, ready.predict_proba(release), self.users.y, self.together)
            for release in self.releases[budget]
        ]
        return Point(budget, mean_of(found).at_best)
