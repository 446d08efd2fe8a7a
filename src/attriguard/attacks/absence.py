"""An attacker who knows a guard that removes: he weighs what it could have taken away from a released row."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_count, check_number, check_rng
from attriguard.attacks._aware import KnowsGuard, check_guard
from attriguard.attacks.base import Attack
from attriguard.attacks.ownguard import halves
from attriguard.attacks.retrained import protected_rows
from attriguard.classifiers.maths import softmax
from attriguard.errors import ParameterError

# Rows that the guard is asked about at a time, so that memory stays bounded.
BLOCK = 20_000
# How many users' weight the item's overall popularity has against its popularity among one value's users.
SMOOTHING = 20.0


class RemovalInversion(KnowsGuard, Attack):
    """Weighs every value s by how likely a user of value s had what the guard could have taken from the row z.

    An item that is missing in z tells nothing where the guard would have removed it. Let C(z) be those of the items it
    removes most often that it would also take away from z with the item, and o_js the odds that a user of value s has
    rated item j. With items independent given the value, and k of them removed,

        P(s | z) ∝ P(s | x = z) · Σ over sets of k items of C(z) of Π o_js.

    The first factor is the ``base`` attack, learnt from untouched users. The sum is an elementary symmetric polynomial;
    it is averaged over the k of the attacker's own users. Three logarithms are added: those of the sum, of the first
    factor, and of what the base infers after learning from protected rows. Their weights are found on halves of the
    attacker's own users; were the model true, they would be 1, 1 and 0.

    Parameters
    ----------
    base
        The attack to learn with; it is not changed.
    guard
        The fitted guard; its goal must be one that removes ratings, "conceal" or "both".
    share
        The items that the guard removes most often and that make up this share of its removals are looked at.
    trials
        How many of the attacker's own users find the weights, at most.
    draws
        How often each of the attacker's users is protected.
    budget
        The budget that the attacker expects; None: the guard's own.
    random_state
        Seeds the draws and the choice of users.
    """

    plain_name = "an attack that weighs what was removed"
    summary = "another attack, corrected by what the guard could have taken away"
    needs = ("guard",)
    follows_budget = True

    def __init__(
        self,
        base: Attack,
        guard: Any = None,
        *,
        share: float = 0.75,
        trials: int = 400,
        draws: int = 2,
        budget: float | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.base = base
        self.guard = guard
        self.share = share
        self.trials = trials
        self.draws = draws
        self.budget = budget
        self.random_state = random_state

    @property
    def name(self) -> str:  # type: ignore[override]  # of an instance: it depends on the base
        """ "Removal inversion", and the name of the base attack."""
        return f"removal inversion with {self.base.name}"

    def check_options(self) -> None:
        """The guard must be there, fitted, and remove ratings."""
        check_guard(self.guard, self.name)
        goal = getattr(self.guard, "goal", "conceal")
        if goal == "mislead":
            raise ParameterError(f"{self.name} weighs what a guard removes; one whose goal is 'mislead' mostly adds")
        check_number(self.share, name="share", low=0.0, high=1.0, open_low=True)
        check_count(self.trials, name="trials")
        check_count(self.draws, name="draws")
        self.base.check_options()

    def with_budget(self, budget: float) -> Attack:
        """A new, untrained attack that asks the guard for this budget."""
        return self.untrained(budget=budget)

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        chance = check_rng(self.random_state)
        protecting, weighing, training = self._progress.parts(1, 2, 2)
        protecting.tell("protecting the attacker's users")
        self._asked = one_by_one(self.guard, X, self.budget)
        released = protected_rows(self.guard, X, self.draws, self.budget, chance)
        self._learn_removals(X, codes, released[: X.shape[0]])
        half = halves(codes, chance)
        weighing.tell("weighing what was removed")
        self._learn(X[~half], codes[~half], released[np.tile(~half, released.shape[0] // X.shape[0])])
        some = chance.permutation(np.flatnonzero(half))[: self.trials]
        self._weights = agreeing_weights(self._parts(released[some]), codes[some])
        training.tell("learning from all of the attacker's users")
        self._learn(X, codes, released)

    def _learn(self, X: csr_array, codes: NDArray[np.int64], released: csr_array) -> None:
        """The base attack, learnt from original rows and from protected ones."""
        self._before = self.base.untrained().fit(X, codes)
        self._after = self.base.untrained().fit(released, np.tile(codes, released.shape[0] // codes.size))

    def _learn_removals(self, X: csr_array, codes: NDArray[np.int64], released: csr_array) -> None:
        """Which items the guard removes most often, how many from a user, and the odds that a user has rated them."""
        n, m = X.shape[0], self.classes_.size
        rated = csr_array((np.ones_like(X.data), X.indices, X.indptr), shape=X.shape)
        gone = csr_array(rated - rated.multiply(released > 0))
        gone.eliminate_zeros()
        times = np.bincount(gone.indices, minlength=X.shape[1])
        often = np.argsort(-times, kind="stable")[: np.count_nonzero(times)]
        before = np.cumsum(times[often]) - times[often]
        self._items = np.sort(often[before < self.share * times.sum()])
        self._counts = np.bincount(np.diff(gone[:, self._items].indptr)) / n  # the share of users who lose k of these
        members = csr_array((np.ones(n), (codes, np.arange(n))), shape=(m, n))
        raters = (members @ rated[:, self._items]).toarray()
        overall = (raters.sum(axis=0) + 0.5) / (n + 1.0)
        share = (raters + SMOOTHING * overall) / (np.bincount(codes)[:, None] + SMOOTHING)
        self._odds = (share / (1.0 - share)).T  # (items, m)
        self._entries = (X[:, self._items].sum(axis=0) / raters.sum(axis=0)).astype(np.float32)

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        return softmax(np.tensordot(self._parts(X), self._weights, axes=1))

    def _parts(self, Z: csr_array) -> NDArray[np.float64]:
        """(n, m, 3): the logarithms that the weights add up."""
        logs = [np.log(attack.predict_proba(Z) + 1e-9) for attack in (self._after, self._before)]
        return np.stack([*logs, self.evidence(Z)], axis=2)

    def evidence(self, Z: csr_array) -> NDArray[np.float64]:
        """(n, m): the logarithm of how likely the guard took something from a user of each value and left this row."""
        users = max(1, BLOCK // max(1, self._items.size))
        blocks = [self._evidence(Z[start : start + users]) for start in range(0, Z.shape[0], users)]
        logs = np.concatenate([np.empty((0, self.classes_.size)), *blocks])
        return logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)

    def _evidence(self, Z: csr_array) -> NDArray[np.float64]:
        sums = np.zeros((Z.shape[0], self.classes_.size, self._counts.size))  # over sets of k of the items so far
        sums[:, :, 0] = 1.0
        for odds, removable in zip(self._odds, self._removable(Z).T, strict=True):
            sums[removable, :, 1:] += odds[:, None] * sums[removable, :, :-1]
        return np.log(sums @ self._counts + 1e-300)

    def _removable(self, Z: csr_array) -> NDArray[np.bool_]:
        """(n, items): would the guard take the item away, if the row had it? It is asked."""
        found = Z[:, self._items].toarray() == 0
        row, place = np.nonzero(found)
        if row.size:
            at, items = np.arange(row.size), self._items[place]
            extra = csr_array((self._entries[place], (at, items)), shape=(row.size, Z.shape[1]))
            plan = self._asked(csr_array(Z[row] + extra))
            release = plan.edits.apply(plan.X, plan.probabilities.argmax(axis=1))
            found[row, place] = np.asarray(release[at, items]).ravel() == 0
        return found


def one_by_one(guard: Any, X: csr_array, budget: float | None) -> Callable[[csr_array], Any]:
    """What the guard would do to one row, whatever other rows there are; ``X`` are users of the attacker's own.

    A guard that only removes would have taken the last of its items first from the row with that item, so it is asked
    for one change. Under a budget of everyone the price of a change decides; the attacker settles it on his users.
    """
    removes = getattr(guard, "goal", "conceal") == "conceal"
    if getattr(guard, "budget_over", "user") == "user":
        return partial(guard.plan, budget=1.0 if removes else budget)
    own = copy.copy(guard).set_params(budget=guard.budget if budget is None else budget)
    if own.price_ is None or own.price_.budget != own.budget:
        own.settle(X)
    return partial(own.plan, most=1) if removes else own.plan


def agreeing_weights(parts: NDArray[np.float64], codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """The weights, none of them negative, under which Σ weight · part tells the values best (in likelihood)."""
    from scipy.optimize import minimize

    rows = np.arange(codes.size)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = parts @ weights
        total = np.logaddexp.reduce(scores, axis=1)
        slope = np.einsum("nm,nmk->nk", np.exp(scores - total[:, None]), parts) - parts[rows, codes]
        return float((total - scores[rows, codes]).mean()), slope.mean(axis=0)

    start = np.array([1.0] + [0.0] * (parts.shape[2] - 1))
    found = minimize(loss, start, jac=True, bounds=[(0.0, None)] * start.size, method="L-BFGS-B")
    return np.asarray(found.x)
