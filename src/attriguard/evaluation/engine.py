"""The evaluation engine: many attacks, many budgets, nothing computed twice.

With a plan, Phase I is done once, each attack predicts once on each of the m candidates x + r_i, and every budget is
arithmetic: Σ_i M*_i [C_a(x + r_i) = s], exact. A defense without a plan is sampled, and the curve carries an interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_matrix, check_rng
from attriguard.attacks.base import Attack
from attriguard.errors import ParameterError
from attriguard.evaluation.accuracy import Z95, Curve, check_budgets
from attriguard.evaluation.job import Job, check_training, check_truth
from attriguard.evaluation.measure import PLAIN, Measure, Training
from attriguard.plan import Plan
from attriguard.progress import Progress, ProgressLike

# How often a defense without a plan is released for every budget.
DRAWS = 20


@runtime_checkable
class Releases(Protocol):
    """Anything that releases protected data for a budget, or whatever number it trades privacy for utility with.

    One whose ``needs_truth`` is true is also given ``truth=``, the users' values.
    """

    def release_for(self, X: csr_array, budget: float, random_state: np.random.Generator) -> csr_array:
        """One release of everyone's data."""


def evaluate(
    protection: Plan | Releases,
    attacks: Sequence[Attack],
    y: ArrayLike,
    budgets: Sequence[float],
    *,
    train: Training | None = None,
    X: csr_array | None = None,
    measure: Measure = PLAIN,
    progress: ProgressLike = None,
) -> list[Curve]:
    """One curve an attack: its accuracy on untouched data and, for every budget, on what is released.

    Parameters
    ----------
    protection
        A plan, whose evaluation is exact; or a defense with ``release_for``, which is sampled.
    attacks
        An attack that adapts to a budget is trained for every budget, unless it was trained before.
    y
        The true values of the users who are attacked.
    budgets
        Rising numbers, 0 or more.
    train
        The attackers' users and their values. Without it the attacks must have been trained, and are used as they are.
    X
        The data to protect, for a defense without a plan.
    measure
        A defense without a plan is released ``draws`` times for every budget (20), the same releases for all attacks.
        Only predictions of attacks that are trained here are kept in the cache.
    """
    ladder = check_budgets(budgets)
    rows = protection.X if isinstance(protection, Plan) else check_matrix(X) if X is not None else None
    if rows is None:
        raise ParameterError("a defense without a plan needs the data to protect: pass X")
    if not isinstance(protection, (Plan, Releases)):
        raise ParameterError(f"expected a plan, or a defense with release_for, got {type(protection).__name__}")
    truth = check_truth(y, rows.shape[0])
    if train is not None:
        check_training(train)
    job = Job(truth, train, measure.cache)
    parts = Progress.of(progress).each(attacks, name_of)
    try:
        if isinstance(protection, Plan):
            return [exact_curve(job, protection, attack, ladder, part) for attack, part in parts]
        seeds = seeds_of(measure.seed, len(ladder), measure.draws_or(DRAWS))
        releases = Sampled(protection, rows, ladder, seeds, protection)
        return [sampled_curve(job, releases, attack, part) for attack, part in parts]
    finally:
        job.finish()


def name_of(attack: Attack) -> str:
    """What a progress bar calls an attack."""
    return attack.name


def exact_curve(job: Job, plan: Plan, attack: Attack, ladder: tuple[float, ...], progress: Progress) -> Curve:
    """The expected accuracy on a plan, for every budget.

    Where neither the attack nor the candidates depend on the budget, the attack predicts once for all budgets.
    """
    plan = plan if plan.follows_budget else plan.with_budget(ladder[-1])  # candidates for all budgets
    adapts = attack.follows_budget and job.train is not None
    shared = None if adapts or plan.follows_budget else job.hits(attack, plan, progress)
    length = plan.edits.with_cost("l2", plan.X).cost
    accuracy, l0, l2, before = [], [], [], []
    for budget, part in zip(ladder, progress.parts(*[1.0] * len(ladder)), strict=True):
        known = plan.with_budget(budget)
        if plan.follows_budget:
            length = known.edits.with_cost("l2", plan.X).cost
        hits = shared
        if hits is None:
            hits = job.hits(attack.with_budget(budget) if adapts else attack, known, part)
        accuracy.append(float((known.probabilities * hits[:, :-1]).sum(axis=1).mean()))
        l0.append(float(known.expected_cost.mean()))
        l2.append(float((known.probabilities * length).sum(axis=1).mean()))
        before.append(float(hits[:, -1].mean()))
    return Curve(
        attack=attack.name,
        budgets=ladder,
        accuracy=tuple(accuracy),
        expected_cost=tuple(l0),
        expected_l2=tuple(l2),
        n_users=job.truth.size,
        before=None if adapts else before[0],
    )


def seeds_of(random_state: int | np.random.Generator | None, n_budgets: int, draws: int) -> NDArray[np.int64]:
    """(budgets, draws): what seeds each release, so that any one of them can be made again."""
    return check_rng(random_state).integers(2**62, size=(n_budgets, draws))


class Sampled:
    """The releases of a defense without a plan: every budget is drawn with its own seeds."""

    def __init__(
        self, defense: Releases, X: csr_array, ladder: tuple[float, ...], seeds: NDArray[np.int64], known_by: Any
    ) -> None:
        self.defense, self.X, self.ladder, self.seeds = defense, X, ladder, seeds
        self.known_by = known_by  # what the releases depend on besides X, the budget and the seed

    def release(self, budget: float, seed: int, truth: NDArray[Any]) -> csr_array:
        """The release for a budget and a seed."""
        extra = {"truth": truth} if getattr(self.defense, "needs_truth", False) else {}
        release = self.defense.release_for(self.X, budget, check_rng(seed), **extra)
        return check_matrix(release, name="the release", n_items=self.X.shape[1])


def sampled_curve(job: Job, releases: Sampled, attack: Attack, progress: Progress) -> Curve:
    """The mean accuracy over draws, for every budget, with its interval."""
    if attack.follows_budget:
        raise ParameterError(f"{attack.name} adapts to a guard's plan; this defense has none")
    X = releases.X
    learning, attacking = progress.parts(1, 1)
    before = job.outcome(attack, X, "untouched", lambda: X, learning)
    count = attacking.counter(releases.seeds.size, "attacks")
    accuracy, l0, l2, spread = [], [], [], []
    for budget, seeds in zip(releases.ladder, releases.seeds, strict=True):
        parts = []
        for seed in seeds:
            make = partial(releases.release, budget, int(seed), job.truth)
            parts.append(job.outcome(attack, X, (releases.known_by, budget, seed), make, learning))
            count(1)
        right = np.mean([part.right for part in parts], axis=0)
        accuracy.append(float(right.mean()))
        # Users differ and draws differ: the spread of the users' means holds both.
        spread.append(Z95 * float(right.std(ddof=1) / np.sqrt(right.size)))
        l0.append(float(np.mean([part.l0 for part in parts])))
        l2.append(float(np.mean([part.l2 for part in parts])))
    return Curve(
        attack=attack.name,
        budgets=releases.ladder,
        accuracy=tuple(accuracy),
        expected_cost=tuple(l0),
        expected_l2=tuple(l2),
        n_users=X.shape[0],
        before=float(before.right.mean()),
        intervals=tuple(spread),
    )
