"""Plan: what a guard would do to each user's data, and with what probability; nothing drawn yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_budget, check_rng
from attriguard.errors import ParameterError
from attriguard.mechanism.sampling import draw, draw_keyed
from attriguard.mechanism.solver import solve_mechanism, unaffordable
from attriguard.noise.edits import Edits


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """For every user the m representative noises and the mechanism M* over them."""

    X: csr_array
    edits: Edits
    inferred: NDArray[np.int64]  # C(x): what the guard's classifier infers without noise
    target: NDArray[np.float64]
    budget: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    users: NDArray[Any]

    @property
    def cost(self) -> NDArray[np.float64]:
        """(n, m): the cost of each representative noise; 0 where ``success`` is false, and never drawn there."""
        return self.edits.cost

    @property
    def success(self) -> NDArray[np.bool_]:
        """(n, m): did the search reach value i?"""
        return self.edits.success

    @property
    def extended(self) -> NDArray[np.bool_]:
        """(n, m): did the search have to go beyond the policy, to modify_add?"""
        return self.edits.extended

    @property
    def expected_cost(self) -> NDArray[np.float64]:
        """(n,): what the release costs each user on average; never above the budget."""
        return np.einsum("ui,ui->u", self.probabilities, self.cost)

    def with_budget(self, budget: ArrayLike) -> Plan:
        """The same noise with another budget: Phase II only."""
        return make_plan(
            X=self.X,
            edits=self.edits,
            inferred=self.inferred,
            target=self.target,
            budget=budget,
            users=self.users,
        )

    def candidate(self, i: int) -> csr_array:
        """Everyone's data with r_i added (unchanged for those whose search did not reach value i)."""
        if not 0 <= i < self.edits.m:
            raise ParameterError(f"a value's index lies between 0 and {self.edits.m - 1}, got {i}")
        return self.edits.apply(self.X, np.full(self.X.shape[0], i, dtype=np.int64))

    def draw(
        self, random_state: int | np.random.Generator | None = None, *, key: bytes | str | None = None
    ) -> NDArray[np.int64]:
        """Which value's noise each user gets: one draw of M*."""
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
    target: NDArray[np.float64],
    budget: ArrayLike,
    users: NDArray[Any],
) -> Plan:
    """Phase II for noise already found.

    With a confidence κ even the value that C infers now can cost noise. Where a user cannot afford any value, that one
    goes without noise, so that the budget always holds.
    """
    budgets = check_budget(budget, X.shape[0])
    costs = np.where(edits.success, edits.cost, np.inf)
    short = np.flatnonzero(unaffordable(costs, budgets))
    if short.size:
        edits = edits.cleared(short, inferred[short])
        costs[short, inferred[short]] = 0.0
    probabilities = solve_mechanism(target, costs, budgets)
    return Plan(
        X=X,
        edits=edits,
        inferred=inferred,
        target=target,
        budget=budgets,
        probabilities=probabilities,
        users=users,
    )
