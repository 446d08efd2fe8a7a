"""The yardstick: noise of the least possible L0 norm (equation 2), as a mixed-integer program solved by HiGHS.

The greedy search gives a first answer of U entries. What remains is to find one of U - 1 entries or to prove that there
is none. Counting already rules out most items: for every rival k the entries of a solution must close the gap
C_k - C_i, so an item that cannot do so together with the best U - 2 others is no part of one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_number
from attriguard.classifiers.base import Classifier, linear_parts
from attriguard.noise.base import LINEAR, NoiseSearch, SearchTask
from attriguard.noise.constraints import Constraints
from attriguard.noise.edits import Edits
from attriguard.noise.greedy import Margin
from attriguard.noise.policy import POLICIES
from attriguard.progress import Progress

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
        """Some of the moves; the gaps stay."""
        return Moves(self.items[mask], self.now[mask], self.low[mask], self.high[mask], self.lead[mask], self.gap)


@dataclass(frozen=True, eq=False)
class Solution:
    """Entries and their new values (None: none found), and what is proven: no noise is smaller than ``bound``."""

    edits: tuple[NDArray[np.int64], NDArray[np.float64]] | None
    bound: float


@dataclass(frozen=True, eq=False)
class Attempt:
    """The task under one policy: the linear classifier, and what the greedy search finds."""

    classifier: Classifier
    task: SearchTask

    @cached_property
    def weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """W (items, m) and b (m,)."""
        return linear_parts(self.classifier)

    @cached_property
    def greedy(self) -> Edits:
        """A first answer for all users and values; the exact one is never larger."""
        return Margin()._find(self.classifier, self.task, Progress())

    def moves(self, user: int, value: int) -> Moves:
        """What one user may change on the way to one value."""
        (W, b), asked, locked = self.weights, self.task.constraints, self.task.locked
        x = self.task.X[[user]].toarray()[0].astype(np.float64)
        if asked.levels:  # in float32 a level is a little off the grid that the program moves on
            x = np.rint(x * asked.levels) / asked.levels
        free = asked.upper >= 0
        free[locked.indices[locked.indptr[user] : locked.indptr[user + 1]]] = False
        old = free & (x > 0) & asked.policy.modify
        new = free & (x == 0) & (asked.upper > 0) & asked.policy.add
        items = np.flatnonzero(old | new)
        rivals = np.delete(np.arange(W.shape[1]), value)
        scores = x @ W + b
        # An addition at a rating that was asked for is all or nothing; z_j decides.
        given = new[items] & asked.jump
        return Moves(
            items=items,
            now=x[items],
            low=np.where(given, asked.upper[items], 0.0),
            high=np.where(given, asked.upper[items], 1.0),
            lead=W[items, value][:, None] - W[items][:, rivals],
            gap=max(self.task.confidence[user], LEAST_LEAD) - (scores[value] - scores[rivals]),
        )


class Exact(NoiseSearch):
    """The smallest noise there is, or the best found within the time limit and how far it can be from that.

    ``edits.bound`` holds the proven lower bound: where it equals the cost, the noise is optimal.

    Parameters
    ----------
    time_limit
        Seconds for each user and value, at most.
    """

    name = "exact"
    plain_name = "exact search"
    summary = "the provably smallest noise (mixed-integer program; slow)"
    revision = 2
    needs = (LINEAR,)
    takes_steps = False

    def __init__(self, time_limit: float = 60.0) -> None:
        self.time_limit = check_number(time_limit, name="time_limit", low=0.0, open_low=True)

    def _find(self, classifier: Classifier, task: SearchTask, progress: Progress) -> Edits:
        linear_parts(classifier)  # refuses other classifiers
        asked, n, m = task.constraints, task.n_users, classifier.m
        narrow = Attempt(classifier, replace(task, constraints=replace(asked, extend=False)))
        wide = Attempt(classifier, replace(task, constraints=replace(asked, policy=POLICIES["modify_add"])))
        may_extend = asked.extend and not (asked.policy.modify and asked.policy.add)
        solutions: list[Solution] = []
        extended = np.zeros((n, m), dtype=np.bool_)
        count = progress.counter(n, "Phase I")
        for u in range(n):
            for i in range(m):
                solution = self._solve(narrow, u, i)
                if solution.edits is None and may_extend:
                    solution = self._solve(wide, u, i)
                    extended[u, i] = solution.edits is not None
                solutions.append(solution)
            count(1)
        return _as_edits(solutions, extended)

    def _solve(self, attempt: Attempt, user: int, value: int) -> Solution:
        """One user, one value: start from the greedy answer and look for a smaller one."""
        greedy = attempt.greedy
        known = greedy.of(user, value) if greedy.success[user, value] else None
        if known is not None and known[0].size <= 1:  # 0, or 1 where 0 does not do: nothing is smaller
            return Solution((known[0].astype(np.int64), known[1].astype(np.float64)), float(known[0].size))
        moves = attempt.moves(user, value)
        most = moves.items.size if known is None else known[0].size - 1
        least = _least_size(moves)
        if least <= most:
            smaller = self._program(_pruned(moves, most), least, most, attempt.task.constraints)
            if smaller.edits is not None or known is None:
                return smaller
            least = int(smaller.bound)
        if known is None:
            return Solution(None, np.inf)
        size = known[0].size
        return Solution((known[0].astype(np.int64), known[1].astype(np.float64)), float(min(least, size)))

    def _program(self, moves: Moves, least: int, most: int, asked: Constraints) -> Solution:
        """min Σ z_j over changes d_j that are 0 where z_j = 0, such that every gap is closed."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        count = moves.items.size
        if count == 0:
            return Solution(None, float(most + 1))
        unit = asked.levels or 1
        # With a rating scale the new values are whole levels; an addition that is asked for has its own, and no choice.
        graded = (moves.low < moves.high) & bool(asked.levels)
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


def _as_edits(solutions: list[Solution], extended: NDArray[np.bool_]) -> Edits:
    """The solutions of all users and values, in order."""
    parts = [solution.edits or (np.empty(0, np.int64), np.empty(0)) for solution in solutions]
    lengths = np.array([items.size for items, _ in parts], dtype=np.int64)
    return Edits(
        indptr=np.concatenate([[0], np.cumsum(lengths)]),
        items=np.concatenate([items for items, _ in parts] or [np.empty(0, np.int64)]).astype(np.int32),
        values=np.concatenate([values for _, values in parts] or [np.empty(0)]).astype(np.float32),
        cost=lengths.reshape(extended.shape).astype(np.float64),
        success=np.array([s.edits is not None for s in solutions], dtype=np.bool_).reshape(extended.shape),
        extended=extended,
        bound=np.array([s.bound for s in solutions], dtype=np.float64).reshape(extended.shape),
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
