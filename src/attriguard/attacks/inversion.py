"""An attacker who inverts the guard: he weighs the originals from which it could have made a release."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_number
from attriguard.attacks._aware import KnowsGuard, check_guard
from attriguard.attacks.base import Attack
from attriguard.errors import ParameterError

# Rows of a release worked on at a time, so that memory stays bounded.
BLOCK = 400
# How many users' weight the item's overall popularity has against its popularity among one value's users.
SMOOTHING = 20.0


class MechanismInversion(KnowsGuard, Attack):
    """Weighs every value s by how likely the guard would have made the release z from a user of value s.

    The guard moved some x to z = x + r_i(x), and its classifier C now infers i. What it added are ratings at the top
    that pull towards i. So for the ``suspects`` ratings of z that pull most, every subset (at most ``most``) is taken
    away, which gives candidates x_k for the original, and

        P(s | z) ∝ Σ_k P(s | x_k) P(x_k) M*_i(x_k) [x_k + r_i(x_k) = z].

    P(s | x) is the ``base`` attack, learnt from untouched users. P(x_k) weighs only the suspects, which are taken to
    be independent given the value, with the popularity they have among its users. M* and the bracket come from the
    guard itself, run on every candidate. Ratings that the guard removed are not looked for.

    Parameters
    ----------
    base
        The attack that gives P(s | x); it is not changed.
    guard
        The fitted guard; its goal must be "mislead".
    suspects
        How many ratings of a release the guard may have added, at most; 1 to 16.
    most
        How many of them are taken away together, at most.
    budget
        The budget that the attacker expects; None: the guard's own.
    """

    plain_name = "an attack that knows the guard and undoes it"
    summary = "another attack, on the originals from which the guard could have made the release"
    needs = ("guard",)
    follows_budget = True

    def __init__(
        self,
        base: Attack,
        guard: Any = None,
        *,
        suspects: int = 6,
        most: int = 4,
        budget: float | None = None,
    ) -> None:
        self.base = base
        self.guard = guard
        self.suspects = suspects
        self.most = most
        self.budget = budget

    @property
    def name(self) -> str:  # type: ignore[override]  # of an instance: it depends on the base
        """ "Mechanism inversion", and the name of the base attack."""
        return f"mechanism inversion with {self.base.name}"

    def check_options(self) -> None:
        """The guard must be there, fitted, and mislead; a guard that removes ratings cannot be undone."""
        check_guard(self.guard, self.name)
        goal = getattr(self.guard, "goal", "mislead")
        if goal != "mislead":
            raise ParameterError(
                f"{self.name} undoes a guard that misleads; this one's goal is {goal!r}, which takes ratings away: "
                "use RemovalInversion"
            )
        check_number(self.suspects, name="suspects", low=1, high=16)
        check_number(self.most, name="most", low=1)
        self.base.check_options()

    def with_budget(self, budget: float) -> Attack:
        """A new, untrained attack that asks the guard for this budget."""
        return self.untrained(budget=budget)

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        self._attack = self.base.untrained().fit(X, codes, work=self._work, progress=self._progress)
        m, n = self.classes_.size, X.shape[0]
        rated = csr_array((np.ones_like(X.data), X.indices, X.indptr), shape=X.shape)
        members = csr_array((np.ones(n), (codes, np.arange(n))), shape=(m, n))
        overall = (np.bincount(X.indices, minlength=X.shape[1]) + 0.5) / (n + 1.0)
        counts = np.asarray(members.sum(axis=1)).reshape(-1, 1)
        # (items, m): the share of a value's users who have rated the item
        self._popularity = (((members @ rated).toarray() + SMOOTHING * overall) / (counts + SMOOTHING)).T

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        parts = [self._invert(X[start : start + BLOCK]) for start in range(0, X.shape[0], BLOCK)]
        return np.concatenate(parts) if parts else np.empty((0, self.classes_.size))

    def _invert(self, Z: csr_array) -> NDArray[np.float64]:
        inferred = np.argmax(self.guard.classifier_.decision_function(Z), axis=1)
        suspects = self._suspects(Z, inferred)
        away = _subsets(suspects.shape[1], self.most)
        keys = np.where(suspects < 0, 0, suspects)
        # A user may have fewer suspects than columns; a candidate without a missing suspect repeats another candidate.
        real = ~(away[None] & (suspects < 0)[:, None, :]).any(axis=2)
        row, which = np.nonzero(real)
        taken = away[which]
        candidates = _without(Z, row, keys[row], taken)
        sure = self._attack.predict_proba(candidates)
        rest = self._attack.predict_proba(_without(Z, np.arange(Z.shape[0]), keys, suspects >= 0))
        with np.errstate(divide="ignore"):
            weight = np.log(self._prior(suspects[row], keys[row], taken, rest[row]))
            weight += np.log(self._made(candidates, Z, row, inferred[row]))
        top = np.full(Z.shape[0], -np.inf)
        np.maximum.at(top, row, weight)
        share = np.exp(weight - np.where(np.isfinite(top), top, 0.0)[row])
        result = np.zeros((Z.shape[0], self.classes_.size))
        np.add.at(result, row, share[:, None] * sure)
        lost = result.sum(axis=1) <= 0
        result[lost] = sure[which == 0][lost]  # no candidate explains the release: take it as it is
        return result

    def _suspects(self, Z: csr_array, inferred: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n, suspects): the ratings that the lead of the inferred value needs most; -1: none.

        A guard adds at the top of the scale, unless it was given ratings of its own to add.
        """
        found = np.full((Z.shape[0], int(self.suspects)), -1, dtype=np.int64)
        own = getattr(self.guard, "additions", None) is not None
        added = np.flatnonzero(Z.data >= (0.0 if own else 1.0))
        row = np.searchsorted(Z.indptr, added, side="right") - 1
        alone = _without(Z, row, Z.indices[added][:, None].astype(np.int64), np.ones((row.size, 1), dtype=np.bool_))
        scores = self.guard.classifier_.decision_function(alone)
        mine = scores[np.arange(row.size), inferred[row]].copy()
        scores[np.arange(row.size), inferred[row]] = -np.inf
        lead = mine - scores.max(axis=1)
        order = np.lexsort((lead, row))
        rank = np.arange(order.size) - np.searchsorted(row[order], row[order])
        few = rank < found.shape[1]
        found[row[order][few], rank[few]] = Z.indices[added][order][few]
        return found

    def _prior(
        self,
        suspects: NDArray[np.int64],
        keys: NDArray[np.int64],
        taken: NDArray[np.bool_],
        rest: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """P(x_k) up to a factor a row: Σ_s P(s | the rest of z) Π over suspects of having them, or not, given s."""
        popular = self._popularity[keys]  # (candidates, suspects, m)
        factor = np.where(taken[:, :, None], 1.0 - popular, popular)
        factor[suspects < 0] = 1.0
        return np.asarray((factor.prod(axis=1) * rest).sum(axis=1))

    def _made(
        self, candidates: csr_array, Z: csr_array, row: NDArray[np.int64], value: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """M*_i(x_k), or 0 where the guard would have made something else of x_k."""
        plan = self.guard.plan(candidates, budget=self.budget)
        release = plan.edits.apply(plan.X, value)
        other = np.asarray(abs(release - Z[row]).sum(axis=1)).ravel() > 0
        return np.asarray(plan.probabilities[np.arange(row.size), value] * ~other)


def _subsets(n: int, most: int) -> NDArray[np.bool_]:
    """All subsets of n things with at most ``most`` of them, the empty one first."""
    chosen = [subset for size in range(min(n, most) + 1) for subset in combinations(range(n), size)]
    result = np.zeros((len(chosen), n), dtype=np.bool_)
    for k, subset in enumerate(chosen):
        result[k, list(subset)] = True
    return result


def _without(Z: csr_array, row: NDArray[np.int64], items: NDArray[np.int64], taken: NDArray[np.bool_]) -> csr_array:
    """Rows ``row`` of Z, each without those of its ``items`` that are ``taken``."""
    result = csr_array(Z[row])
    at, k = np.nonzero(taken)
    gone = csr_array((np.ones(at.size, dtype=np.float32), (at, items[at, k])), shape=result.shape)
    result = csr_array(result - result.multiply(gone))
    result.eliminate_zeros()
    result.sort_indices()
    return result
