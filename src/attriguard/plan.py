"""Plan: what a guard would do to each user's data, and with what probability; nothing drawn yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_budget, check_ids, check_rng
from attriguard._keys import derive_key
from attriguard._text import facts_html, facts_text
from attriguard.errors import ParameterError
from attriguard.mechanism.sampling import draw, draw_keyed
from attriguard.mechanism.strategies import Mechanism
from attriguard.noise.edits import Edits
from attriguard.progress import Progress

# Budgets whose candidates are remembered: an evaluation asks for the same budgets again for every attack.
REMEMBERED = 16
# The most changes: one number for everybody, or one a user.
Most = int | NDArray[np.int64]


class Finder(Protocol):
    """Phase I of a goal: finds the candidates for a release. It holds plain data, so that a plan can be pickled."""

    @property
    def follows_budget(self) -> bool:
        """Whether every budget has candidates of its own."""

    def covers(self, X: csr_array, edits: Edits, budget: NDArray[np.float64]) -> bool:
        """Whether candidates that were found for another budget serve this one, too."""

    def find(self, X: csr_array, budget: NDArray[np.float64], progress: Progress) -> Edits:
        """The candidates of every user within these budgets."""

    def limited(self, most: Most) -> Finder:
        """The same where no user gets more than so many changes, whatever is drawn."""


@dataclass(frozen=True, eq=False)
class AtMost:
    """Phase I for users who accept so many changes and no more, whatever the draw."""

    finder: Finder
    most: Most

    def limited(self, most: Most) -> AtMost:
        """The smaller limit holds."""
        return AtMost(self.finder, np.minimum(self.most, most))

    @property
    def follows_budget(self) -> bool:
        """As what it limits."""
        return self.finder.follows_budget

    def covers(self, X: csr_array, edits: Edits, budget: NDArray[np.float64]) -> bool:
        """As what it limits."""
        return self.finder.covers(X, edits, np.minimum(budget, self.most))

    def find(self, X: csr_array, budget: NDArray[np.float64], progress: Progress) -> Edits:
        """Within a budget of ``most`` a user's cheapest candidate makes no more changes, so one is always left."""
        return self.finder.find(X, np.minimum(budget, self.most), progress).at_most(self.most)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Plan:
    """For every user some candidates for a release, and how likely each is.

    For the goals "mislead" and "both" candidate i is the representative noise for value i, and the probabilities are
    the mechanism M*. For "conceal" candidate k makes the first k changes.
    """

    X: csr_array
    edits: Edits
    infer: Callable[[csr_array], NDArray[np.int64]]  # C: what the guard's classifier infers from rows
    mechanism: Mechanism
    budget: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    users: NDArray[Any]
    finder: Finder | None = None  # None: the candidates serve every budget
    attribute: str = ""  # its name: under one key, the draws for two attributes have nothing to do with each other
    _found: dict[bytes, Edits] = field(default_factory=dict)  # candidates by budget, shared by plans of one search

    @cached_property
    def inferred(self) -> NDArray[np.int64]:
        """(n,): C(x), what the guard's classifier infers without noise."""
        return self.infer(self.X)

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

    @property
    def follows_budget(self) -> bool:
        """Whether another budget has other candidates, so that `with_budget` searches again."""
        return self.finder is not None and self.finder.follows_budget

    def with_budget(self, budget: ArrayLike) -> Plan:
        """The same with another budget: Phase II only, unless the candidates found so far do not serve it."""
        budgets = check_budget(budget, self.X.shape[0])
        edits = self._edits_for(budgets)
        return replace(self, edits=edits, budget=budgets, probabilities=self.mechanism.probabilities(edits, budgets))

    def _edits_for(self, budget: NDArray[np.float64]) -> Edits:
        if self.finder is None or self.finder.covers(self.X, self.edits, budget):
            return self.edits
        key = budget.tobytes()
        if key not in self._found:
            if len(self._found) >= REMEMBERED:
                self._found.pop(next(iter(self._found)))
            self._found[key] = self.finder.find(self.X, budget, Progress())
        return self._found[key]

    def names(self, values: Sequence[str]) -> tuple[str, ...]:
        """What to call each candidate: the value it points to, one of ``values``, or how many changes it makes."""
        if self.target is not None:
            return tuple(values)
        if self.mechanism.shared:
            return ("the changes that gain more than the price", "and those that gain as much")
        return ("no change", *(f"{k} change{'s' * (k > 1)}" for k in range(1, self.edits.m)))

    def candidate(self, i: int) -> csr_array:
        """Everyone's data with candidate i's edits (unchanged for those whose search did not reach it)."""
        if not 0 <= i < self.edits.m:
            raise ParameterError(f"a candidate's index lies between 0 and {self.edits.m - 1}, got {i}")
        return self.edits.apply(self.X, np.full(self.X.shape[0], i, dtype=np.int64))

    def draw(
        self, random_state: int | np.random.Generator | None = None, *, key: bytes | str | None = None, turn: int = 0
    ) -> NDArray[np.int64]:
        """Which candidate each user gets: one draw; under a key, another one in another ``turn``."""
        if key is None:
            return draw(self.probabilities, None if random_state is None else check_rng(random_state))
        if random_state is not None:
            raise ParameterError("give either a key or a random_state: a keyed draw leaves nothing to chance")
        purpose = f"draws {turn}" if turn else "draws"
        return draw_keyed(self.probabilities, self.users, derive_key(key, self.attribute, purpose))

    def release(
        self, random_state: int | np.random.Generator | None = None, *, key: bytes | str | None = None, turn: int = 0
    ) -> csr_array:
        """What is published: one draw a user.

        Unseeded draws come from the operating system. With a secret ``key`` the draw of a user is a function of the
        key, the attribute's name and the user's id (``users`` of ``guard.plan``; the row number if none were given), so
        that the same user gets the same noise in every release: an attacker who sees many releases cannot average the
        noise away. Another ``turn`` is another draw under the same key, for ratings that have come since.
        """
        return self.edits.apply(self.X, self.draw(random_state, key=key, turn=turn))

    @property
    def facts(self) -> dict[str, str]:
        """What there is to say about the plan in a few lines; nothing about a single user."""
        n, m = self.probabilities.shape
        budget = f"{self.budget.mean():g}" if n else "–"
        low, high = (f"{share:.1f}" for share in np.quantile(self.expected_cost, [0.25, 0.75])) if n else ("–", "–")
        whose = f"on average over users: half of them {low} to {high}" if self.mechanism.shared else "a user"
        return {
            "users": f"{n:,}",
            "candidates a user": f"{m}, {'one a value' if self.target is not None else 'one a number of changes'}",
            "reached": f"{self.success.mean():.1%} of (user, candidate) pairs" if n else "–",
            "budget": f"{budget} changes {whose}",
            "expected cost": f"{self.expected_cost.mean():.2f}, at most {self.expected_cost.max():.2f}" if n else "–",
        }

    def __repr__(self) -> str:
        return facts_text("Plan", self.facts)

    def _repr_html_(self) -> str:
        return facts_html("Plan", self.facts)

    def __getstate__(self) -> dict[str, Any]:
        """Candidates for other budgets are found again where they are needed."""
        return self.__dict__ | {"_found": {}}


def make_plan(
    X: csr_array,
    edits: Edits,
    mechanism: Mechanism,
    *,
    budget: ArrayLike,
    infer: Callable[[csr_array], NDArray[np.int64]],
    users: ArrayLike | None = None,
    finder: Finder | None = None,
) -> Plan:
    """Phase II for what Phase I found; ``users`` are ids for keyed draws, row numbers if not given."""
    ids = np.arange(X.shape[0]) if users is None else check_ids(users, X.shape[0])
    budgets = check_budget(budget, X.shape[0])
    return Plan(
        X=X,
        edits=edits,
        infer=infer,
        mechanism=mechanism,
        budget=budgets,
        probabilities=mechanism.probabilities(edits, budgets),
        users=ids,
        finder=finder,
        _found={budgets.tobytes(): edits},
    )
