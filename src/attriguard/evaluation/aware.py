"""Attackers who know the guard, beside the same attackers who do not: three groups of users, one guard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from attriguard._progress import Progress
from attriguard.attacks.base import Attack
from attriguard.attacks.detector import Detector
from attriguard.attacks.inversion import MechanismInversion
from attriguard.attacks.retrained import Retrained
from attriguard.evaluation.accuracy import Curve, check_budgets
from attriguard.evaluation.cache import Cache
from attriguard.evaluation.engine import evaluate
from attriguard.evaluation.guards import fit_kept
from attriguard.evaluation.protocol import Groups


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


def evaluate_aware(
    groups: Groups,
    guard: Any,
    attacks: Sequence[Attack],
    budgets: Sequence[float],
    *,
    draws: int = 4,
    inversion: Sequence[Attack] = (),
    detector: bool = False,
    seed: int = 0,
    cache: Cache | None = None,
    progress: Progress | None = None,
) -> Aware:
    """``guard`` is learnt here, from the guard's users; each attack is trained on the attacker's users, as they are
    and protected by that guard; ``inversion``: attacks to undo the guard with, too."""
    ladder = check_budgets(budgets)
    report = progress or (lambda what, steps: None)
    theirs, own, test = groups
    report("the guard learns from its users", 0)
    fit_kept(guard, theirs.X, theirs.y, cache, report)
    plan = guard.plan(test.X, budget=ladder[-1])

    def curves(lineup: Sequence[Attack]) -> tuple[Curve, ...]:
        return tuple(evaluate(plan, lineup, test.y, ladder, train=(own.X, own.y), cache=cache, progress=report))

    auc = []
    for budget in ladder if detector else ():
        report(f"detecting at budget {budget:g}", 0)
        found = Detector(guard, budget=budget, random_state=seed).fit(own.X)
        auc.append(found.auc(test.X, plan.with_budget(budget).release(seed)))
    return Aware(
        unaware=curves(attacks),
        retrained=curves([Retrained(attack, guard, draws=draws, random_state=seed) for attack in attacks]),
        inversion=curves([MechanismInversion(attack, guard) for attack in inversion]),
        detection=tuple(auc),
        n_guard=theirs.n_users,
        n_attacker=own.n_users,
        draws=draws,
    )


def aware_steps(n_attacks: int, n_inversion: int, n_budgets: int, candidates: int) -> int:
    """How many steps `evaluate_aware` reports, for plans with so many candidates."""
    return (1 + candidates) * (n_attacks * (1 + n_budgets) + n_inversion * n_budgets)
