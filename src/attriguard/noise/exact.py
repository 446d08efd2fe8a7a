"""The yardstick: noise of the least possible L0 norm (equation 2), as a mixed-integer program solved by HiGHS.

The greedy search gives a first answer of U entries. What remains is to find one of U - 1 entries or to prove that there
is none. Counting already rules out most items: for every rival k the entries of a solution must close the gap
C_k - C_i, so an item that cannot do so together with the best U - 2 others is no part of one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_number
from attriguard._progress import Progress
from attriguard.classifiers.base import Classifier, linear_parts
from attriguard.noise.base import NoiseSearch, Rules
from attriguard.noise.edits import Edits
from attriguard.noise.greedy import Margin
from attriguard.noise.policy import POLICIES

# A lead this small counts as none: it would not survive rounding to float32.
LEAST_LEAD = 1e-6


@dataclass(frozen=True, eq=False)
class Moves:
    """The entries of one user that may change, how far, and what that does to C_i - C_k for every rival k."""

    items: NDArray[np.int64]
    now: NDArray[np.float64]
    low: NDArray[np.float64]  # the entry's new value lies between low and high
    high: NDArray[np.float64]
    lead: NDArray[np.float64]  # (moves, rivals): gradient of the lead
    gap: NDArray[np.float64]  # (rivals,): what is missing now

    def gains(self) -> NDArray[np.float64]:
        """(moves, rivals): the most that a move can add to the lead over each rival."""
        up, down = (self.high - self.now)[:, None], (self.low - self.now)[:, None]
        return np.maximum(up * self.lead, down * self.lead).clip(min=0.0)

    def keep(self, mask: NDArray[np.bool_]) -> Moves:
        return Moves(self.items[mask], self.now[mask], self.low[mask], self.high[mask], self.lead[mask], self.gap)


@dataclass(frozen=True, eq=False)
class Solution:
    """Entries and their new values (None: none found), and what is proven: no noise is smaller than ``bound``."""

    edits: tuple[NDArray[np.int64], NDArray[np.float64]] | None
    bound: float


class Exact(NoiseSearch):
    """The smallest noise there is, or the best found within the time limit and how far it can be from that.

    ``edits.bound`` holds the proven lower bound: where it equals the cost, the noise is optimal.
    """

    name = "exact"
    summary = "the provably smallest noise (mixed-integer program; slow)"
    revision = 2
    linear_only = True
    takes_steps = False

    def __init__(self, time_limit: float = 60.0) -> None:
        self.time_limit = check_number(time_limit, name="time_limit", low=0.0, open_low=True)

    def _find(
        self,
        classifier: Classifier,
        X: csr_array,
        rules: Rules,
        kappa: NDArray[np.float64],
        locked: csr_array,
        progress: Progress | None = None,
    ) -> Edits:
        W, b = linear_parts(classifier)
        n, m = X.shape[0], W.shape[1]
        first = Margin().find(classifier, X, replace(rules, extend=False), confidence=kappa, locked=locked)
        wider = None
        parts: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        success, extended = np.zeros((n, m), dtype=np.bool_), np.zeros((n, m), dtype=np.bool_)
        bound = np.zeros((n, m))
        for u in range(n):
            for i in range(m):
                found = self._solve(u, i, X, W, b, rules, kappa[u], locked, first)
                if found.edits is None and rules.extend and not (rules.policy.modify and rules.policy.add):
                    free = replace(rules, policy=POLICIES["modify_add"])
                    if wider is None:
                        wider = Margin().find(classifier, X, free, confidence=kappa, locked=locked)
                    found = self._solve(u, i, X, W, b, free, kappa[u], locked, wider)
                    extended[u, i] = found.edits is not None
                success[u, i], bound[u, i] = found.edits is not None, found.bound
                parts.append(found.edits or (np.empty(0, np.int64), np.empty(0)))
            if progress is not None:
                progress("Phase I", 1)
        lengths = np.array([items.size for items, _ in parts], dtype=np.int64)
        return Edits(
            indptr=np.concatenate([[0], np.cumsum(lengths)]),
            items=np.concatenate([items for items, _ in parts] or [np.empty(0, np.int64)]).astype(np.int32),
            values=np.concatenate([values for _, values in parts] or [np.empty(0)]).astype(np.float32),
            cost=lengths.reshape(n, m).astype(np.float64),
            success=success,
            extended=extended,
            bound=bound,
        )

    def _solve(
        self,
        u: int,
        i: int,
        X: csr_array,
        W: NDArray[np.float64],
        b: NDArray[np.float64],
        rules: Rules,
        kappa: float,
        locked: csr_array,
        greedy: Edits,
    ) -> Solution:
        """One user, one value: start from the greedy answer and look for a smaller one."""
        known = greedy.of(u, i) if greedy.success[u, i] else None
        if known is not None and known[0].size <= 1:  # 0, or 1 where 0 does not do: nothing is smaller
            return Solution((known[0].astype(np.int64), known[1].astype(np.float64)), float(known[0].size))
        moves = _moves(u, i, X, W, b, rules, kappa, locked)
        most = moves.items.size if known is None else known[0].size - 1
        least = _least_size(moves)
        if least <= most:
            smaller = self._program(_pruned(moves, most), least, most, rules)
            if smaller.edits is not None or known is None:
                return smaller
            least = int(smaller.bound)
        if known is None:
            return Solution(None, np.inf)
        size = known[0].size
        return Solution((known[0].astype(np.int64), known[1].astype(np.float64)), float(min(least, size)))

    def _program(self, moves: Moves, least: int, most: int, rules: Rules) -> Solution:
        """min Σ z_j over changes d_j that are 0 where z_j = 0, such that every gap is closed."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        count = moves.items.size
        if count == 0:
            return Solution(None, float(most + 1))
        unit = rules.levels or 1
        # With a rating scale the new values are whole levels; an addition that is asked for has its own, and no choice.
        graded = (moves.low < moves.high) & bool(rules.levels)
        up, down = (moves.high - moves.now) * unit, (moves.low - moves.now) * unit
        eye = _diagonal(np.ones(count))
        blocks = [
            LinearConstraint(_beside(_diagonal(-up), eye), ub=0.0),
            LinearConstraint(_beside(_diagonal(-down), eye), lb=0.0),
            LinearConstraint(_beside(csr_array((moves.gap.size, count)), csr_array(moves.lead.T / unit)), lb=moves.gap),
            LinearConstraint(_beside(csr_array(np.ones((1, count))), csr_array((1, count))), lb=least, ub=most),
        ]
        result = milp(
            c=np.concatenate([np.ones(count), np.zeros(count)]),
            constraints=blocks,
            integrality=np.concatenate([np.ones(count), graded]),
            # A change of an entry that stays is 0, whatever the change it would have to make.
            bounds=Bounds(
                np.concatenate([np.zeros(count), np.minimum(down, 0.0)]),
                np.concatenate([np.ones(count), np.maximum(up, 0.0)]),
            ),
            options={"time_limit": self.time_limit},
        )
        if result.x is None:
            proven = result.status == 2  # infeasible: no noise of up to `most` entries exists
            reached = getattr(result, "mip_dual_bound", None)
            bound = most + 1 if proven else max(least, np.ceil((reached if reached is not None else least) - 1e-6))
            return Solution(None, float(bound))
        changed = np.flatnonzero(result.x[:count] > 0.5)
        values = np.where(
            graded, np.rint(moves.now * unit + result.x[count:]) / unit, moves.now + result.x[count:] / unit
        )
        return Solution(
            (moves.items[changed], values[changed].clip(0.0, 1.0)), float(np.ceil(result.mip_dual_bound - 1e-6))
        )


def _moves(
    u: int,
    i: int,
    X: csr_array,
    W: NDArray[np.float64],
    b: NDArray[np.float64],
    rules: Rules,
    kappa: float,
    locked: csr_array,
) -> Moves:
    x = X[[u]].toarray()[0].astype(np.float64)
    if rules.levels:  # as float32 knows it, a level is a hair off the grid that the program moves on
        x = np.rint(x * rules.levels) / rules.levels
    free = rules.upper >= 0
    free[locked.indices[locked.indptr[u] : locked.indptr[u + 1]]] = False
    old = free & (x > 0) & rules.policy.modify
    new = free & (x == 0) & (rules.upper > 0) & rules.policy.add
    items = np.flatnonzero(old | new)
    rivals = np.delete(np.arange(W.shape[1]), i)
    scores = x @ W + b
    fresh = new[items]
    # An addition at a rating that was asked for is all or nothing; z_j decides.
    high = np.where(fresh & rules.jump, rules.upper[items], 1.0)
    low = np.where(fresh & rules.jump, rules.upper[items], 0.0)
    return Moves(
        items=items,
        now=x[items],
        low=low,
        high=high,
        lead=W[items, i][:, None] - W[items][:, rivals],
        gap=max(kappa, LEAST_LEAD) - (scores[i] - scores[rivals]),
    )


def _least_size(moves: Moves) -> int:
    """The fewest entries that could close every gap, each gap by the items best for it."""
    if moves.items.size == 0:
        return 1
    best = np.cumsum(np.sort(moves.gains(), axis=0)[::-1], axis=0)
    reachable = best >= moves.gap
    if not reachable[-1].all():
        return moves.items.size + 1
    return int(reachable.argmax(axis=0).max()) + 1


def _pruned(moves: Moves, most: int) -> Moves:
    """Without the items that cannot be part of a solution of at most ``most`` entries."""
    while True:
        gains = moves.gains()
        others = np.sort(gains, axis=0)[::-1][: most - 1].sum(axis=0)
        useful = (gains + others >= moves.gap).all(axis=1)
        if useful.all():
            return moves
        moves = moves.keep(useful)


def _diagonal(values: NDArray[np.float64]) -> csr_array:
    index = np.arange(values.size)
    return csr_array((values, (index, index)), shape=(values.size, values.size))


def _beside(left: Any, right: Any) -> csr_array:
    from scipy.sparse import hstack

    return csr_array(hstack([left, right]))
