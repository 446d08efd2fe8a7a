"""What the noise may look like: the policy, the step, the rating scale, and which items may change or be added."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from attriguard._checks import check_matrix, check_number
from attriguard.errors import ParameterError
from attriguard.noise.policy import Policy

# What `Constraints.upper` says of an item that nobody's data may change.
LOCKED = -1.0
# What `Constraints.max_steps` says where maxiter is None.
NO_LIMIT = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, kw_only=True, eq=False)
class Constraints:
    """What the noise may look like, checked and as plain arrays; `make_constraints` makes them."""

    policy: Policy
    step: float  # τ of Algorithm 1
    levels: int  # of the rating scale; 0: any value in [0, 1]
    max_steps: int  # maxiter of Algorithm 1
    upper: NDArray[np.float64]  # (items,) what an added entry may rise to; 0: may not be added; LOCKED: may not change
    jump: bool  # an added entry gets its upper value at once, whatever the step
    extend: bool = True  # to modify_add, where the policy finds nothing

    def adding(self, entries: NDArray[np.float64]) -> Constraints:
        """The same where items that may be added get other entries."""
        return replace(self, upper=np.where(self.upper > 0, entries, self.upper), jump=True)

    @property
    def n_items(self) -> int:
        """The number of items, the columns of the data."""
        return int(self.upper.size)


def make_constraints(
    policy: Policy,
    n_items: int,
    *,
    step: float = 1.0,
    levels: int = 0,
    maxiter: int | None = None,
    locked: NDArray[np.int64] | None = None,
    additions: NDArray[np.float64] | None = None,
) -> Constraints:
    """``locked``: columns that nobody's data may change. ``additions``: (items,) the entry to add, 0 for none."""
    step = check_number(step, name="step", low=0.0, high=1.0, open_low=True)
    if maxiter is not None and (not isinstance(maxiter, (int, np.integer)) or maxiter < 0):
        raise ParameterError(f"maxiter must be a whole number, 0 or more, or None for no limit, got {maxiter!r}")
    upper = np.ones(n_items) if additions is None else np.asarray(additions, dtype=np.float32).astype(np.float64)
    if locked is not None and locked.size:
        upper = upper.copy()
        upper[locked] = LOCKED
    return Constraints(
        policy=policy,
        step=step,
        levels=levels,
        max_steps=NO_LIMIT if maxiter is None else int(maxiter),
        upper=upper,
        jump=additions is not None,
    )


def check_locked(locked: Any, X: csr_array) -> csr_array:
    """Items that must not change, user by user, as a pattern of X's shape."""
    if locked is None:
        nothing = np.empty(0, dtype=np.float32), np.empty(0, dtype=np.int32)
        return csr_array((*nothing, np.zeros(X.shape[0] + 1, dtype=np.int32)), shape=X.shape)
    pattern = check_matrix(locked != 0 if issparse(locked) else locked, name="locked", n_items=X.shape[1])
    if pattern.shape != X.shape:
        raise ParameterError(f"locked must have the shape of X, {X.shape}, got {pattern.shape}")
    return pattern
