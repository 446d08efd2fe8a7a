"""Attackers who know the guard, beside the same attackers who do not: three groups of users, one guard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from attriguard.attacks.absence import RemovalInversion
from attriguard.attacks.base import Attack
from attriguard.attacks.detector import Detector
from attriguard.attacks.inversion import MechanismInversion
from attriguard.attacks.retrained import Retrained
from attriguard.evaluation.accuracy import Curve, check_budgets
from attriguard.evaluation.engine import evaluate
from attriguard.evaluation.guards import fit_kept
from attriguard.evaluation.measure import PLAIN, Measure
from attriguard.evaluation.protocol import Groups
from attriguard.plan import Plan
from attriguard.progress import Progress, ProgressLike

# How often an attacker who retrains protects each of his users.
DRAWS = 4


@dataclass(frozen=True)
class Aware:
    """What knowing the guard is worth to an attacker."""

    unaware: tuple[Curve, ...]
    retrained: tuple[Curve, ...]
    inversion: tuple[Curve, ...]
    detection: tuple[float, ...]  # the detector's AUC for every budget, where it was asked for
    n_guard: int
    n_attacker: int
    draws: int

    @property
    def worst(self) -> Curve:
        """The attacker who knows and infers most at the largest budget."""
        return max((*self.retrained, *self.inversion), key=lambda curve: curve.accuracy[-1])

    def most(self, *, retrained: bool) -> tuple[float, ...]:
        """For every budget the accuracy of the strongest attacker, of those who retrain or of those who do not know."""
        curves = self.retrained if retrained else self.unaware
        return tuple(max(each) for each in zip(*(curve.accuracy for curve in curves), strict=True))


def evaluate_aware(
    groups: Groups,
    guard: Any,
    attacks: Sequence[Attack],
    budgets: Sequence[float],
    *,
    inversion: Sequence[Attack] = (),
    detector: bool = False,
    measure: Measure = PLAIN,
    progress: ProgressLike = None,
) -> Aware:
    """What attackers infer who know the guard, and the same attackers who do not.

    Parameters
    ----------
    groups
        The guard's users, the attacker's users and the test users.
    guard
        An unfitted guard. It is learnt here, from the guard's users.
    attacks
        Each is trained twice on the attacker's users: as they are, and protected by that guard.
    inversion
        Attacks that also try to undo the guard's changes: noise that misleads, or removals.
    detector
        Also measure how well protected users are told from untouched ones.
    measure
        The attacker protects each of his users ``draws`` times (4).
    """
    ladder, draws, seed = check_budgets(budgets), measure.draws_or(DRAWS), measure.seed
    # An attacker who knows the guard learns anew for every budget.
    weights = (1, int(detector), len(attacks), len(attacks) * len(ladder), len(inversion) * len(ladder))
    learning, detecting, *attacking = Progress.of(progress).parts(*weights)
    guard_users, attacker_users, test_users = groups
    learning.tell("the guard learns from its users")
    fitting, planning = learning.parts(4, 1)
    fit_kept(guard, guard_users.X, guard_users.y, measure.cache, fitting)
    plan = guard.plan(test_users.X, budget=ladder[-1], progress=planning)
    auc = _detection(groups, guard, plan, ladder if detector else (), seed, detecting)

    def curves(lineup: Sequence[Attack], part: Progress) -> tuple[Curve, ...]:
        train = (attacker_users.X, attacker_users.y)
        return tuple(evaluate(plan, lineup, test_users.y, ladder, train=train, measure=measure, progress=part))

    retrained = [Retrained(attack, guard, draws=draws, random_state=seed) for attack in attacks]
    undoing = [undone_by(attack, guard, seed) for attack in inversion]
    plain, known, undone = map(curves, (attacks, retrained, undoing), attacking)
    return Aware(plain, known, undone, auc, guard_users.n_users, attacker_users.n_users, draws)


def undone_by(attack: Attack, guard: Any, seed: int | None) -> Attack:
    """The attack that undoes what the guard does: noise that misleads, or removals."""
    if guard.goal == "mislead":
        return MechanismInversion(attack, guard)
    return RemovalInversion(attack, guard, random_state=seed)


def _detection(
    groups: Groups, guard: Any, plan: Plan, ladder: Sequence[float], seed: int | None, progress: Progress
) -> tuple[float, ...]:
    """For every budget the AUC of a detector that has learnt from the attacker's users."""
    auc = []
    for budget, _ in progress.each(ladder, lambda budget: f"detecting at budget {budget:g}"):
        found = Detector(guard, budget=budget, random_state=seed).fit(groups.attacker_users.X)
        auc.append(found.auc(groups.test_users.X, plan.with_budget(budget).release(seed)))
    return tuple(auc)
