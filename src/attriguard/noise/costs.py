"""What noise costs: the norms of r_i that a budget can be measured in. A new one is a class and a line in `COSTS`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._registry import Registry
from attriguard.kernels.rows import rows_of
from attriguard.kernels.threads import over_users

if TYPE_CHECKING:
    from attriguard.noise.edits import Edits


class Cost(ABC):
    """A norm of the noise."""

    name: ClassVar[str]
    plain_name: ClassVar[str]  # for readers who do not know the paper's names
    summary: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def of(self, edits: Edits, X: csr_array) -> NDArray[np.float64]:
        """(n, m): what the noise of every user for every value costs; 0 where there is none."""


class L0(Cost):
    """‖r‖₀, the number of changed entries."""

    name = "l0"
    plain_name = "changed ratings"
    summary = "the number of changed entries"

    def of(self, edits: Edits, X: csr_array) -> NDArray[np.float64]:
        """Counted from the lengths of the edits; X has no part in it."""
        return np.diff(edits.indptr).reshape(edits.success.shape).astype(np.float64)


class L2(Cost):
    """‖r‖₂, the length of the change."""

    name = "l2"
    plain_name = "length of the change"
    summary = "the Euclidean length of the change"

    def of(self, edits: Edits, X: csr_array) -> NDArray[np.float64]:
        """The root of the summed squares of new value minus old value."""
        from attriguard.kernels.edits import l2_costs

        rows, cost = rows_of(X), np.empty(edits.success.shape)
        given = *rows, edits.indptr, edits.items, edits.values, edits.m
        over_users(edits.n_users, lambda start, stop: l2_costs(*given, start, stop, cost))
        return cost


COSTS: Registry[Cost] = Registry(
    "cost", "attriguard.noise.costs:Cost", {"l0": "attriguard.noise.costs:L0", "l2": "attriguard.noise.costs:L2"}
)


def get_cost(cost: str | Cost) -> Cost:
    """A cost by its name, or the cost itself; an unknown name is refused."""
    return cost if isinstance(cost, Cost) else COSTS.make(cost)
