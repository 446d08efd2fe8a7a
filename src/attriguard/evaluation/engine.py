"""The evaluation engine: many attacks, many budgets, nothing computed twice.

With a plan, Phase I is done once, each attack predicts once on each of the m candidates x + r_i, and every budget is
arithmetic: Σ_i M*_i [C_a(x + r_i) = s], exact. A defense without a plan is sampled, and the curve says how exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import UNDISCLOSED, check_count, check_labels, check_matrix, check_rng
from attriguard._progress import Progress
from attriguard.attacks.base import Attack
from attriguard.errors import DataError, NotFittedError, ParameterError
from attriguard.evaluation.accuracy import Curve, check_budgets
from attriguard.evaluation.cache import Cache, key_of
from attriguard.plan import Plan
from attriguard.utility.norms import norms

FEWEST_PER_VALUE = 2
# Quantile of the normal distribution that a 95 % interval needs.
Z95 = 1.96


@runtime_checkable
class Releases(Protocol):
    """Anything that releases protected data for a budget, or whatever number it trades privacy for utility with.

    One whose ``needs_truth`` is true is also given ``truth=``, the users' values.
    """

    def release_for(self, X: csr_array, budget: float, random_state: np.random.Generator) -> csr_array: ...


def evaluate(
    protection: Plan | Releases,
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
    For a defense without a plan, ``X`` is the data to protect, and every budget is released ``draws`` times, the same
    releases for all attacks.
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
    job = Job(truth, ladder, train, cache, progress or (lambda what, steps: None))
    try:
        if isinstance(protection, Plan):
            return [exact_curve(job, protection, attack) for attack in attacks]
        number = check_count(draws, name="draws")
        seeds = seeds_of(random_state, len(ladder), number)
        return [sampled_curve(job, protection, rows, attack, seeds) for attack in attacks]
    finally:
        if cache is not None:
            cache.clear_networks()


class Outcome(NamedTuple):
    """Of one attack on one release."""

    right: NDArray[np.float64]  # 1 where it is right about the user
    l0: float  # of the noise, on average
    l2: float


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
        self._last: tuple[Attack, Attack] | None = None

    def trained(self, attack: Attack) -> Attack:
        """A trained copy, so that what it has learnt is forgotten with it; or the attack itself, trained already."""
        if self.train is None:
            if not hasattr(attack, "classes_"):
                raise NotFittedError(f"{attack.name} has not been trained yet: train it, or pass train=(X, y)")
            return self.known(attack)
        if self._last is not None and self._last[0] is attack:
            return self._last[1]
        self._last = None  # let go of the one before: networks are large
        folder = None if self.cache is None else self.cache.networks
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        self.progress(f"{attack.name} learns", 0)
        report = self.progress
        ready = self.known(
            attack.untrained().fit(
                *self.train, work=folder, progress=lambda what, _: report(f"{attack.name}: {what}", 0)
            )
        )
        self._last = attack, ready
        return ready

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

    def outcome(self, attack: Attack, X: csr_array, known_by: Any, release: Callable[[], csr_array]) -> Outcome:
        """Is the attack right on one release, and what does it cost a user? From the cache, or new."""
        key = None
        if self.cache is not None and self.train is not None:
            key = key_of(attack, *self.train, X, self.truth, known_by)
        stored = None if key is None or self.cache is None else self.cache.load(key)
        if stored is None:
            released = release()
            right, noise = self.trained(attack).predict(released) == self.truth, norms(X, released)
            stored = {"hits": right.astype(np.uint8), "norms": np.array([noise.mean_l0, noise.mean_l2])}
            if key is not None and self.cache is not None:
                self.cache.save(key, stored)
        self.progress(f"{attack.name} attacks", 1)
        return Outcome(stored["hits"].astype(np.float64), *map(float, stored["norms"]))


def exact_curve(job: Job, plan: Plan, attack: Attack) -> Curve:
    shared = None if attack.follows_budget or plan.mechanism.searches_again else job.hits(attack, plan)
    length = plan.edits.with_cost("l2", plan.X).cost
    accuracy, l0, l2, before = [], [], [], []
    for budget in job.ladder:
        known = plan.with_budget(budget)
        if plan.mechanism.searches_again:
            length = known.edits.with_cost("l2", plan.X).cost
        hits = shared
        if hits is None:
            hits = job.hits(attack.with_budget(budget) if attack.follows_budget else attack, known)
        accuracy.append(float((known.probabilities * hits[:, :-1]).sum(axis=1).mean()))
        l0.append(float(known.expected_cost.mean()))
        l2.append(float((known.probabilities * length).sum(axis=1).mean()))
        before.append(float(hits[:, -1].mean()))
    return Curve(
        attack=attack.name,
        budgets=job.ladder,
        accuracy=tuple(accuracy),
        expected_cost=tuple(l0),
        expected_l2=tuple(l2),
        n_users=job.truth.size,
        before=None if attack.follows_budget else before[0],
    )


def seeds_of(random_state: int | np.random.Generator | None, n_budgets: int, draws: int) -> NDArray[np.int64]:
    """(budgets, draws): what seeds each release, so that any one of them can be made again."""
    return check_rng(random_state).integers(2**62, size=(n_budgets, draws))


def sampled_curve(
    job: Job, defense: Releases, X: csr_array, attack: Attack, seeds: NDArray[np.int64], *, known_by: Any = None
) -> Curve:
    """``known_by``: what the defense's releases depend on, where it is not to be told from the defense itself."""
    if attack.follows_budget:
        raise ParameterError(f"{attack.name} adapts to a guard's plan; this defense has none")
    before = job.outcome(attack, X, "untouched", lambda: X)
    accuracy, l0, l2, spread = [], [], [], []
    for budget, each in zip(job.ladder, seeds, strict=True):
        parts = [
            job.outcome(
                attack,
                X,
                (known_by if known_by is not None else defense, budget, seed),
                partial(_release, defense, X, budget, int(seed), job.truth),
            )
            for seed in each
        ]
        right = np.mean([part.right for part in parts], axis=0)
        accuracy.append(float(right.mean()))
        # Users differ and draws differ: the spread of the users' means holds both.
        spread.append(Z95 * float(right.std(ddof=1) / np.sqrt(right.size)))
        l0.append(float(np.mean([part.l0 for part in parts])))
        l2.append(float(np.mean([part.l2 for part in parts])))
    return Curve(
        attack=attack.name,
        budgets=job.ladder,
        accuracy=tuple(accuracy),
        expected_cost=tuple(l0),
        expected_l2=tuple(l2),
        n_users=X.shape[0],
        before=float(before.right.mean()),
        intervals=tuple(spread),
    )


def _release(defense: Releases, X: csr_array, budget: float, seed: int, truth: NDArray[Any]) -> csr_array:
    told = {"truth": truth} if getattr(defense, "needs_truth", False) else {}
    return check_matrix(defense.release_for(X, budget, check_rng(seed), **told), name="the release", n_items=X.shape[1])


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
