"""The base of all noise searches: it checks what comes in and what goes out; a search writes one method."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from attriguard._checks import check_choice, check_matrix, check_number
from attriguard._progress import Progress
from attriguard.classifiers.base import Classifier
from attriguard.errors import ParameterError
from attriguard.noise.edits import Edits
from attriguard.noise.policy import Policy

COSTS = ("l0", "l2")
# What `Rules.upper` says of an item that nobody's data may change.
LOCKED = -1.0
# What `Rules.max_steps` says where maxiter is None.
NO_LIMIT = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, kw_only=True, eq=False)
class Rules:
    """What the noise may look like, checked and as plain arrays."""

    policy: Policy
    step: float  # τ of Algorithm 1
    levels: int  # of the rating scale; 0: any value in [0, 1]
    max_steps: int  # maxiter of Algorithm 1
    upper: NDArray[np.float64]  # (items,) what an added entry may rise to; 0: may not be added; LOCKED: may not change
    jump: bool  # an added entry gets its upper value at once, whatever the step
    extend: bool = True  # to modify_add, where the policy finds nothing

    @property
    def n_items(self) -> int:
        return int(self.upper.size)


def make_rules(
    policy: Policy,
    n_items: int,
    *,
    step: float = 1.0,
    levels: int = 0,
    maxiter: int | None = None,
    locked: NDArray[np.int64] | None = None,
    additions: NDArray[np.float64] | None = None,
) -> Rules:
    """``locked``: columns that nobody's data may change. ``additions``: (items,) the entry to add, 0 for none."""
    step = check_number(step, name="step", low=0.0, high=1.0, open_low=True)
    if maxiter is not None and (not isinstance(maxiter, (int, np.integer)) or maxiter < 0):
        raise ParameterError(f"maxiter must be a whole number, 0 or more, or None for no limit, got {maxiter!r}")
    upper = np.ones(n_items) if additions is None else np.asarray(additions, dtype=np.float32).astype(np.float64)
    if locked is not None and locked.size:
        upper = upper.copy()
        upper[locked] = LOCKED
    return Rules(
        policy=policy,
        step=step,
        levels=levels,
        max_steps=NO_LIMIT if maxiter is None else int(maxiter),
        upper=upper,
        jump=additions is not None,
    )


class NoiseSearch(ABC):
    """Finds, for every user and every value i, noise r_i with C(x + r_i) = i (equation 2)."""

    name: ClassVar[str]
    summary: ClassVar[str]
    revision: ClassVar[int] = 1  # raise it when it finds other noise: what was kept is then not used any more
    linear_only: ClassVar[bool] = False
    takes_steps: ClassVar[bool] = True  # has a use for Algorithm 1's step and maxiter

    def check_rules(self, rules: Rules) -> None:
        """Refuse rules that this search cannot keep; a guard asks before it learns."""
        if not self.takes_steps and (rules.step != 1.0 or rules.max_steps != NO_LIMIT):
            raise ParameterError(f"the search {self.name!r} has no use for step and maxiter; leave them at 1 and None")

    def find(
        self,
        classifier: Classifier,
        X: csr_array,
        rules: Rules,
        *,
        confidence: ArrayLike = 0.0,
        cost: str = "l0",
        locked: Any = None,
        progress: Progress | None = None,
    ) -> Edits:
        """Search for all users; ``confidence`` κ is one number or one a user, ``locked`` marks items user by user.

        ``progress`` is called with what is going on and how many more users are done, where that takes long.
        """
        check_choice(cost, COSTS, name="cost")
        self.check_rules(rules)
        X = check_matrix(X, n_items=rules.n_items)
        kappa = np.asarray(confidence, dtype=np.float64)
        if not np.isfinite(kappa).all() or (kappa < 0).any():
            raise ParameterError("confidence must be a finite number, 0 or more")
        kappa = np.array(np.broadcast_to(kappa, (X.shape[0],)))
        edits = self._find(classifier, X, rules, kappa, check_locked(locked, X), progress)
        return edits.with_cost(cost, X)

    @abstractmethod
    def _find(
        self,
        classifier: Classifier,
        X: csr_array,
        rules: Rules,
        kappa: NDArray[np.float64],
        locked: csr_array,
        progress: Progress | None = None,
    ) -> Edits:
        """The edits, sorted by item, L0 cost; X is canonical, locked a pattern of the same shape."""


def check_locked(locked: Any, X: csr_array) -> csr_array:
    """Items that must not change, user by user, as a pattern of X's shape."""
    if locked is None:
        nothing = np.empty(0, dtype=np.float32), np.empty(0, dtype=np.int32)
        return csr_array((*nothing, np.zeros(X.shape[0] + 1, dtype=np.int32)), shape=X.shape)
    pattern = check_matrix(locked != 0 if issparse(locked) else locked, name="locked", n_items=X.shape[1])
    if pattern.shape != X.shape:
        raise ParameterError(f"locked must have the shape of X, {X.shape}, got {pattern.shape}")
    return pattern
