"""What a guard is for: to mislead an attacker, to conceal what tells, or both; what each learns and searches."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_choice, check_number, check_rng
from attriguard._progress import Progress
from attriguard.classifiers.base import Classifier
from attriguard.classifiers.ensemble import Ensemble, fit_ensemble
from attriguard.classifiers.factory import check_classifier, fit_classifier
from attriguard.errors import ParameterError
from attriguard.mechanism.strategies import Counts, Divergence, Mechanism, PerBudget
from attriguard.noise.confidence import AUTO, LADDER, affordable_noise, check_confidence, fitting_confidence
from attriguard.noise.constraints import Constraints
from attriguard.noise.edits import Edits
from attriguard.noise.registry import get_search
from attriguard.noise.removals import find_changes
from attriguard.noise.shared import Both

if TYPE_CHECKING:
    from attriguard.guard import AttriGuard

MISLEAD, CONCEAL, BOTH = "mislead", "conceal", "both"
# Changes beyond which nobody counts candidates in advance; a budget may be infinite.
MOST_COUNTED = 1_000


@dataclass(frozen=True, slots=True)
class Goal:
    name: str
    meaning: str  # in one sentence that a person understands


GOALS = {
    goal.name: goal
    for goal in (
        Goal(MISLEAD, "An attacker who does not know the guard infers something else: the paper's guard."),
        Goal(CONCEAL, "What tells most is taken away, so that even an attacker who knows the guard infers less."),
        Goal(BOTH, "Part of the changes takes away what tells most, the rest points elsewhere."),
    )
}


def check_goal(goal: Any) -> str:
    return check_choice(goal, GOALS, name="goal")


def candidates_of(goal: str, m: int, budget: float) -> int:
    """How many candidates a plan has at most."""
    return int(min(np.ceil(budget), MOST_COUNTED)) + 1 if check_goal(goal) == CONCEAL else m


def confidence_of(guard: AttriGuard) -> float | None:
    """κ, or None where the budget decides it. "both" lets it unless told otherwise: half a budget leads by little."""
    if guard.confidence is None:
        return check_confidence(AUTO if guard.goal == BOTH else 0.0)
    return check_confidence(guard.confidence)


def follows_budget(guard: AttriGuard) -> bool:
    """Whether another budget has other candidates."""
    return guard.goal == BOTH or (guard.goal == MISLEAD and confidence_of(guard) != 0.0)


def phase_one_steps(guard: AttriGuard, n_users: int) -> int:
    """How many steps `phase_one` reports at most."""
    searches = {0.0: 1, None: len(LADDER) + 2}.get(confidence_of(guard), 2)
    return n_users * {MISLEAD: searches, CONCEAL: 1, BOTH: 1 + searches}[guard.goal]


def check_split(split: Any) -> float | None:
    return None if split is None else check_number(split, name="split", low=0.0, high=1.0)


class Learnt(NamedTuple):
    """What `fit` keeps; which of it there is depends on the goal."""

    classifier: Classifier
    ensemble: Ensemble | None  # looks for what tells most; None: to mislead only
    split: float  # the share of the budget that takes away
    goal: str


def learn(
    guard: AttriGuard,
    X: csr_array,
    codes: NDArray[np.int64],
    *,
    items: NDArray[Any] | None,
    checkpoint: str | os.PathLike[str] | None,
    progress: Progress | None,
) -> Learnt:
    """What the goal needs: a classifier to mislead, an ensemble to conceal, and how to share the budget."""
    goal, ensemble, split = guard.goal, None, float(guard.goal == CONCEAL)
    if goal == CONCEAL and checkpoint is not None:
        raise ParameterError("a guard that conceals learns small networks, which need no checkpoint")
    if isinstance(guard.classifier, str):
        check_classifier(guard.classifier)
    if goal != CONCEAL:
        check_classifier(guard.classifier, checkpoint, linear_only=get_search(guard.search).linear_only)
    if goal != MISLEAD:
        chance = check_rng(guard.random_state)
        ensemble = fit_ensemble(X, codes, members=guard.members, chance=chance, progress=progress)
        if goal == CONCEAL:
            return Learnt(ensemble, ensemble, split, goal)
    classifier = fit_classifier(
        guard.classifier, X, codes, checkpoint=checkpoint, random_state=guard.random_state, progress=progress
    )
    if goal == BOTH:
        from attriguard.splitting import find_split

        split = find_split(guard, X, codes, items, progress) if guard.split is None else float(guard.split)
    return Learnt(classifier, ensemble, split, goal)


def check_learnt(guard: AttriGuard) -> None:
    """A guard learnt for both goals can do either; any other only its own."""
    if check_goal(guard.goal) != guard.goal_ and guard.goal_ != BOTH:
        raise ParameterError(
            f"this guard was learnt to {guard.goal_}; to {guard.goal}, fit it again with goal={guard.goal!r}"
            if guard.goal != BOTH
            else f"this guard was learnt to {guard.goal_} only; fit it again with goal='both'"
        )


def phase_one(
    guard: AttriGuard,
    X: csr_array,
    rules: Constraints,
    budget: NDArray[np.float64],
    *,
    locked: Any,
    progress: Progress | None,
) -> tuple[Edits, Mechanism]:
    """Phase I of the guard's goal, and the mechanism that goes with it."""
    # A plan may search again after the guard's parameters were set anew: what they are now is what counts. It may do so
    # long after, too: who watches this search does not watch those.
    target, classifier, cost = guard.target_, guard.classifier_, guard.cost
    search, kappa = get_search(guard.search), confidence_of(guard)

    def noise(rows: csr_array, fixed: Any, left: NDArray[np.float64], watcher: Progress | None) -> Edits:
        def find(asked: ArrayLike) -> Edits:
            return search.find(classifier, rows, rules, confidence=asked, cost=cost, locked=fixed, progress=watcher)

        if kappa is None:
            return find(fitting_confidence(find, target, left))
        return affordable_noise(find, kappa, left) if kappa else find(0.0)

    if guard.goal == MISLEAD or guard.ensemble_ is None:
        if kappa == 0.0:  # what C infers now costs nothing: the noise fits any budget
            return noise(X, locked, budget, progress), Divergence(target)
        lead = PerBudget(target, lambda left, watcher: noise(X, locked, left, watcher))
        return lead.edits(budget, progress), lead
    if guard.goal == CONCEAL:
        most, whole = _changes_to_find(X, rules, budget)
        found = find_changes(guard.ensemble_, X, rules, most, locked=locked, progress=progress)
        return found.prefixes(), Counts(np.inf if whole else float(most))
    both = Both(
        ensemble=guard.ensemble_,
        noise=noise,
        X=X,
        rules=rules,
        split=float(guard.split_ if guard.split is None else guard.split),
        cost=cost,
        locked=locked,
    )
    shared = PerBudget(target, both.find)
    return shared.edits(budget, progress), shared


def _changes_to_find(X: csr_array, rules: Constraints, budget: NDArray[np.float64]) -> tuple[int, bool]:
    """The next whole number from the largest budget on; and whether nobody has more to change than that."""
    limit = int(np.diff(X.indptr).max(initial=0)) if rules.policy.modify else int((rules.upper > 0).sum())
    most = int(min(np.ceil(budget.max(initial=0.0)), limit))
    return most, most == limit
