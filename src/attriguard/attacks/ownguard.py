"""An attacker who does not have the publisher's guard, and learns one of the same kind to protect users of his own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from sklearn.base import clone

from attriguard._checks import check_count, check_rng
from attriguard.attacks.base import Attack
from attriguard.attacks.retrained import protected_rows
from attriguard.errors import DataError, ParameterError


class OwnGuard(Attack):
    """Any attack, trained on rows protected by a guard of the attacker's own.

    The attacker's users fall into two halves. A guard learns from each half and protects the other, so that no user is
    protected by a guard that learnt from him.

    Parameters
    ----------
    base
        The attack to train; it is not changed.
    guard
        A guard of the kind that the attacker expects; it is not changed, and need not be fitted.
    draws
        How often each of the attacker's users is protected.
    originals
        Also train on the users' rows as the attacker has them. Where he has released rows with their values, these
        are the released rows.
    budget
        The budget that the attacker expects; None: the guard's own.
    random_state
        Seeds the halves, the guards' learning and the draws.
    """

    plain_name = "an attack with a guard of its own"
    summary = "another attack, trained on ratings that a guard of the attacker's own has protected"
    follows_budget = True

    def __init__(
        self,
        base: Attack,
        guard: Any = None,
        *,
        draws: int = 2,
        originals: bool = False,
        budget: float | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.base = base
        self.guard = guard
        self.draws = draws
        self.originals = originals
        self.budget = budget
        self.random_state = random_state

    @property
    def name(self) -> str:  # type: ignore[override]  # of an instance: it depends on the base
        """The name of the base attack, and what it is trained on."""
        return f"{self.base.name} with a guard of its own{' and originals' if self.originals else ''}"

    def check_options(self) -> None:
        """There must be a guard that can learn and plan, and at least one draw."""
        if not (hasattr(self.guard, "fit") and hasattr(self.guard, "plan")):
            raise ParameterError(f"{self.name} learns a guard and must know of what kind: pass guard=AttriGuard(...)")
        check_count(self.draws, name="draws")
        self.base.check_options()

    def with_budget(self, budget: float) -> Attack:
        """A new, untrained attack that protects its users with this budget."""
        return self.untrained(budget=budget)

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        chance = check_rng(self.random_state)
        learning, training = self._progress.parts(2, 3)
        rows, truth = ([X], [codes]) if self.originals else ([], [])
        half = halves(codes, chance)
        for side, part in learning.each((False, True), lambda side: f"a guard of the attacker's own, {side + 1} of 2"):
            seed = {"random_state": int(chance.integers(2**31))} if "random_state" in self.guard.get_params() else {}
            guard = clone(self.guard).set_params(**seed).fit(X[half == side], codes[half == side], progress=part)
            others = np.flatnonzero(half != side)
            rows.append(protected_rows(guard, X[others], self.draws, self.budget, chance))
            truth.append(np.tile(codes[others], rows[-1].shape[0] // others.size))
        self._attack = self.base.untrained().fit(
            csr_array(vstack(rows, format="csr")), np.concatenate(truth), work=self._work, progress=training
        )

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        return self._attack.predict_proba(X)


def halves(codes: NDArray[np.int64], chance: np.random.Generator) -> NDArray[np.bool_]:
    """Which half each user belongs to: as many of every value in both, give or take one."""
    if np.bincount(codes).min() < 2:
        raise DataError("a value has a single user: two halves need at least 2 of each; merge or drop the rare ones")
    order = chance.permutation(codes.size)
    order = order[np.argsort(codes[order], kind="stable")]
    half = np.empty(codes.size, dtype=np.bool_)
    first = np.searchsorted(codes[order], codes[order])  # where the users of the same value begin
    half[order] = (np.arange(codes.size) - first) % 2 == 1
    return half
