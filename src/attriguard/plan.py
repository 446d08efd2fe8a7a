"""Plan: what a guard would do to each user's data, and with what probability; nothing drawn yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_budget, check_rng
from attriguard.errors import ParameterError
from attriguard.mechanism.sampling import draw, draw_keyed
from attriguard.mechanism.strategies import Mechanism
from attriguard.noise.edits import Edits


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """For every user some candidates for a release, and how likely each is.

    For the goals "mislead" and "both" candidate i is the representative noise for value i, and the probabilities are
    the mechanism M*. For "conceal" candidate k makes the first k changes.
    """

    X: csr_array
    edits: Edits
    inferred: NDArray[np.int64]  # C(x): what the guard's classifier infers without noise
    mechanism: Mechanism
    budget: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    users: NDArray[Any]

    @property
    def target(self) -> NDArray[np.float64] | None:
        """The distribution p over the m values; None where nothing is drawn by value."""
        return self.mechanism.target

    @property
    def cost(self) -> NDArray[np.float64]:
        """(n, candidates): the cost of each; 0 where ``success`` is false, and never drawn there."""
        return self.edits.cost

    @property
    def success(self) -> NDArray[np.bool_]:
        """(n, candidates): did the search reach value i, or was there a k-th change to make?"""
        return self.edits.success

    @property
    def extended(self) -> NDArray[np.bool_]:
        """(n, candidates): did the search have to go beyond the policy, to modify_add?"""
        return self.edits.extended

    @property
    def expected_cost(self) -> NDArray[np.float64]:
        """(n,): what the release costs each user on average; never above the budget."""
        return np.einsum("ui,ui->u", self.probabilities, self.cost)

    def with_budget(self, budget: ArrayLike) -> Plan:
        """The same with another budget: Phase II only, but where the noise belongs to the budget (the goal "both", or a
        confidence): there it is searched again."""
        return make_plan(
            X=self.X,
            edits=self.edits,
            inferred=self.inferred,
            mechanism=self.mechanism,
            budget=budget,
            users=self.users,
        )

    def names(self, values: Sequence[str]) -> tuple[str, ...]:
        """What to call each candidate: the value it points to, one of ``values``, or how many changes it makes."""
        if self.target is not None:
            return tuple(values)
        return ("no change", *(f"{k} change{'s' * (k > 1)}" for k in range(1, self.edits.m)))

    def candidate(self, i: int) -> csr_array:
        """Everyone's data with candidate i's edits (unchanged for those whose search did not reach it)."""
        if not 0 <= i < self.edits.m:
            raise ParameterError(f"a candidate's index lies between 0 and {self.edits.m - 1}, got {i}")
        return self.edits.apply(self.X, np.full(self.X.shape[0], i, dtype=np.int64))

    def draw(
        self, random_state: int | np.random.Generator | None = None, *, key: bytes | str | None = None
    ) -> NDArray[np.int64]:
        """Which candidate each user gets: one draw."""
        if key is None:
            return draw(self.probabilities, check_rng(random_state))
        if random_state is not None:
            raise ParameterError("give either a key or a random_state: a keyed draw leaves nothing to chance")
        return draw_keyed(self.probabilities, self.users, key)

    def release(
        self, random_state: int | np.random.Generator | None = None, *, key: bytes | str | None = None
    ) -> csr_array:
        """What is published: one draw a user.

        Unseeded draws come from the operating system's entropy. With a secret ``key`` the draw of a user is a function
        of the key and the user's id (``users`` of ``guard.plan``; the row number if none were given), so that the same
        user gets the same noise in every release: an attacker who sees many releases cannot average the noise away.
        """
        return self.edits.apply(self.X, self.draw(random_state, key=key))


def make_plan(
    *,
    X: csr_array,
    edits: Edits,
    inferred: NDArray[np.int64],
    mechanism: Mechanism,
    budget: ArrayLike,
    users: NDArray[Any],
) -> Plan:
    """Phase II for what Phase I found."""
    budgets = check_budget(budget, X.shape[0])
    edits, probabilities = mechanism.solve(edits, budgets)
    return Plan(
        X=X,
        edits=edits,
        inferred=inferred,
        mechanism=mechanism,
        budget=budgets,
        probabilities=probabilities,
        users=users,
    )
