"""The evaluation engine: many attacks, many budgets, nothing computed twice.

With a plan, Phase I is done once, each attack predicts once on each of the m candidates x + r_i, and every budget is
arithmetic: Σ_i M*_i [C_a(x + r_i) = s], exact. A defense without a plan is sampled, and the curve says how exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import UNDISCLOSED, check_labels, check_matrix, check_number, check_rng
from attriguard.attacks.base import Attack
from attriguard.errors import DataError, NotFittedError, ParameterError
from attriguard.evaluation.accuracy import Curve, check_budgets
from attriguard.evaluation.cache import Cache, key_of
from attriguard.plan import Plan

Progress = Callable[[str, int], None]
FEWEST_PER_VALUE = 2
# Quantile of the normal distribution that a 95 % interval needs.
Z95 = 1.96


@runtime_checkable
class Defense(Protocol):
    """Anything that releases protected data for a budget, or whatever number it trades privacy for utility with."""

    def release_for(self, X: csr_array, budget: float, random_state: np.random.Generator) -> csr_array: ...


def evaluate(
    protection: Plan | Defense,
    attacks: Sequence[Attack],
    y: ArrayLike,
    budgets: Sequence[float],
    *,
    train: tuple[csr_array, ArrayLike] | None = None,
    X: csr_array | None = None,
    draws: int = 20,
    random_state: int | np.random.Generator | None = None,
    cache: Cache | None = None,
    progress: Progress | None = None,
) -> list[Curve]:
    """One curve an attack: its accuracy on untouched data and, for every budget, on what is released.

    ``train``: the attackers' users and their values; without it the attacks must have been trained. ``cache`` keeps
    the predictions of attacks that are trained here. An attack that adapts to a budget is trained for every one.
    For a defense without a plan, ``X`` is the data to protect, and every budget is released ``draws`` times.
    """
    ladder = check_budgets(budgets)
    rows = protection.X if isinstance(protection, Plan) else check_matrix(X) if X is not None else None
    if rows is None:
        raise ParameterError("a defense without a plan needs the data to protect: pass X")
    if not isinstance(protection, (Plan, Defense)):
        raise ParameterError(f"expected a plan, or a defense with release_for, got {type(protection).__name__}")
    truth = check_truth(y, rows.shape[0])
    if train is not None:
        check_training(train)
    job = Job(truth, ladder, train, cache, progress or (lambda what, steps: None))
    try:
        if isinstance(protection, Plan):
            return [_exact(job, protection, attack) for attack in attacks]
        number = int(check_number(draws, name="draws", low=1))
        chance = check_rng(random_state)
        return [_sampled(job, protection, rows, attack, number, chance) for attack in attacks]
    finally:
        if cache is not None:
            cache.clear_networks()


class Job:
    """What all attacks of one evaluation share."""

    def __init__(
        self,
        truth: NDArray[Any],
        ladder: tuple[float, ...],
        train: tuple[csr_array, ArrayLike] | None,
        cache: Cache | None,
        progress: Progress,
    ) -> None:
        self.truth, self.ladder, self.train, self.cache, self.progress = truth, ladder, train, cache, progress

    def trained(self, attack: Attack) -> Attack:
        """A trained copy, so that what it has learnt is forgotten with it; or the attack itself, trained already."""
        if self.train is None:
            if not hasattr(attack, "classes_"):
                raise NotFittedError(f"{attack.name} has not been trained yet: train it, or pass train=(X, y)")
            return self.known(attack)
        folder = None if self.cache is None else self.cache.networks
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        self.progress(f"{attack.name} learns", 0)
        report = self.progress
        return self.known(
            attack.untrained().fit(
                *self.train, work=folder, progress=lambda what, _: report(f"{attack.name}: {what}", 0)
            )
        )

    def known(self, attack: Attack) -> Attack:
        """Refuse test users whose value the attack cannot name: it could only be wrong about them."""
        unseen = int((~np.isin(self.truth, attack.classes_)).sum())
        if unseen:
            raise DataError(
                f"{unseen:,} of {self.truth.size:,} test users have a value that {attack.name} never saw in training; "
                "leave them out, or train on users of every value"
            )
        return attack

    def hits(self, attack: Attack, plan: Plan) -> NDArray[np.bool_]:
        """(n, m + 1): is the attack right on each candidate and, last, on untouched data? From the cache, or new."""
        m = plan.edits.m
        key = None
        if self.cache is not None and self.train is not None:
            edits = plan.edits
            key = key_of(attack, *self.train, plan.X, edits.indptr, edits.items, edits.values, self.truth)
        stored = None if key is None or self.cache is None else self.cache.load(key)
        if stored is not None and stored["hits"].shape == (self.truth.size, m + 1):
            self.progress(f"{attack.name}: known", 1 + m)
            return stored["hits"].astype(np.bool_)
        ready = self.trained(attack)
        hits = np.empty((self.truth.size, m + 1), dtype=np.bool_)
        for i in range(m + 1):
            hits[:, i] = ready.predict(plan.X if i == m else plan.candidate(i)) == self.truth
            self.progress(f"{attack.name} attacks", 1)
        if key is not None and self.cache is not None:
            self.cache.save(key, {"hits": hits.astype(np.uint8)})
        return hits


def _exact(job: Job, plan: Plan, attack: Attack) -> Curve:
    shared = None if attack.follows_budget else job.hits(attack, plan)
    accuracy, cost, before = [], [], []
    for budget in job.ladder:
        hits = job.hits(attack.with_budget(budget), plan) if shared is None else shared
        known = plan.with_budget(budget)
        accuracy.append(float((known.probabilities * hits[:, :-1]).sum(axis=1).mean()))
        cost.append(float(known.expected_cost.mean()))
        before.append(float(hits[:, -1].mean()))
    return Curve(
        attack=attack.name,
        budgets=job.ladder,
        accuracy=tuple(accuracy),
        expected_cost=tuple(cost),
        n_users=job.truth.size,
        before=before[0] if shared is not None else None,
    )


def _sampled(
    job: Job, defense: Defense, X: csr_array, attack: Attack, draws: int, chance: np.random.Generator
) -> Curve:
    if attack.follows_budget:
        raise ParameterError(f"{attack.name} adapts to a guard's plan; this defense has none")
    ready = job.trained(attack)
    before = ready.predict(X) == job.truth
    accuracy, cost, spread = [], [], []
    for budget in job.ladder:
        right, changed = np.zeros(X.shape[0]), 0.0
        for _ in range(draws):
            release = check_matrix(defense.release_for(X, budget, chance), name="the release", n_items=X.shape[1])
            right += ready.predict(release) == job.truth
            changed += (release != X).nnz
            job.progress(f"{attack.name} attacks", 1)
        share = right / draws
        accuracy.append(float(share.mean()))
        # Users differ and draws differ: the spread of the users' means holds both.
        spread.append(Z95 * float(share.std(ddof=1) / np.sqrt(share.size)))
        cost.append(changed / draws / X.shape[0])
    return Curve(
        attack=attack.name,
        budgets=job.ladder,
        accuracy=tuple(accuracy),
        expected_cost=tuple(cost),
        n_users=X.shape[0],
        before=float(before.mean()),
        intervals=tuple(spread),
    )


def check_truth(y: ArrayLike, n_users: int) -> NDArray[Any]:
    """The values of the users who are attacked: all known, one a row."""
    truth = np.asarray(y)
    if truth.shape != (n_users,):
        raise DataError(f"y must have one value for each of the {n_users:,} users, got shape {truth.shape}")
    if n_users < 2:
        raise DataError("an evaluation needs at least two users")
    hidden = int((truth == UNDISCLOSED).sum()) if truth.dtype.kind in "iu" else 0
    if hidden:
        raise DataError(f"{hidden:,} of {n_users:,} test users do not disclose their value; leave them out")
    return truth


def check_training(train: tuple[csr_array, ArrayLike]) -> None:
    """Refuse values that nothing can be learnt about."""
    classes, codes = check_labels(train[1], train[0].shape[0])
    rare = int((np.bincount(codes[codes != UNDISCLOSED], minlength=classes.size) < FEWEST_PER_VALUE).sum())
    if rare:
        raise DataError(
            f"{rare} of {classes.size} values have a single training user; at least {FEWEST_PER_VALUE} are needed: "
            "merge or drop the rare ones"
        )
