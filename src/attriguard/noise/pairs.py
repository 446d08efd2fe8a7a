"""Algorithm 1 on any differentiable classifier: all (user, value) pairs of a batch of users, step by step.

The classifier's engine gives gradients and decision functions (`classifiers.engines`). Which entry moves, and how far,
is decided here, as on a linear classifier (`noise.greedy` says how that differs from the printed algorithm). On a
classifier that is not linear a gain can change its sign on the way; an entry still moves one way only, so every search
ends.

C_i of a network is log p_i already, so the search on the probability would be PANDA. Here it takes the smaller noise
of what PANDA and the search on the lead find, PANDA's where both are as small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from attriguard.classifiers.engines import Engine
from attriguard.classifiers.outputs import Ints
from attriguard.kernels.aims import LEAD, PROBABILITY, VALUE
from attriguard.kernels.threads import over_users
from attriguard.noise.base import SearchTask
from attriguard.noise.constraints import NO_LIMIT
from attriguard.noise.edits import Edits
from attriguard.progress import Progress

# Pairs in one call of the kernel that picks the moves.
PAIRS_A_RANGE = 16
# Steps where maxiter sets no limit. A value that a network hardly ever infers can stay out of reach while every entry
# still gains a little: thousands of steps, for noise that no budget pays for.
MOST_STEPS = 100


@dataclass(frozen=True, eq=False)
class PairEdits:
    """The edits of some pairs: entry e belongs to ``pairs[e]``."""

    reached: Ints
    extended: bool
    pairs: Ints
    items: Ints
    values: NDArray[np.float32]

    def of(self, wanted: NDArray[np.bool_]) -> PairEdits:
        """Those of the wanted pairs alone."""
        kept = wanted[self.pairs]
        reached = self.reached[wanted[self.reached]]
        return PairEdits(reached, self.extended, self.pairs[kept], self.items[kept], self.values[kept])


def search_pairs(engine: Engine, task: SearchTask, *, m: int, aim: int, progress: Progress) -> Edits:
    """Phase I for all users, a batch at a time."""
    n, size = task.n_users, max(1, engine.users_at_once())
    success, extended = np.zeros(n * m, dtype=np.bool_), np.zeros(n * m, dtype=np.bool_)
    parts: list[PairEdits] = []
    count = progress.counter(n, "Phase I")
    for start in range(0, n, size):
        batch = Batch(engine, task.of_users(slice(start, start + size)), m)
        for found in batch.search(aim):
            success[start * m + found.reached] = True
            extended[start * m + found.reached] = found.extended
            parts.append(replace(found, pairs=start * m + found.pairs))
        count(batch.task.n_users)
    return as_edits(parts, success.reshape(n, m), extended.reshape(n, m))


def as_edits(parts: list[PairEdits], success: NDArray[np.bool_], extended: NDArray[np.bool_]) -> Edits:
    """The edits of all pairs in the order of users and values; ``pairs`` count over all users here."""
    pairs = np.concatenate([part.pairs for part in parts] or [np.empty(0, dtype=np.int64)])
    items = np.concatenate([part.items for part in parts] or [np.empty(0, dtype=np.int64)])
    values = np.concatenate([part.values for part in parts] or [np.empty(0, dtype=np.float32)])
    order = np.argsort(pairs, kind="stable")  # within a pair the items are sorted already
    counts = np.bincount(pairs, minlength=success.size)
    return Edits(
        indptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        items=items[order].astype(np.int32),
        values=values[order],
        cost=counts.reshape(success.shape).astype(np.float64),
        success=success,
        extended=extended,
    )


class Batch:
    """Some users and all their pairs."""

    def __init__(self, engine: Engine, task: SearchTask, m: int) -> None:
        n, constraints = task.n_users, task.constraints
        self.engine, self.task, self.constraints = engine, task, constraints
        self.users = np.repeat(np.arange(n), m)
        self.values = np.tile(np.arange(m), n)
        self.kappa = task.confidence[self.users]
        limit = MOST_STEPS if constraints.max_steps == NO_LIMIT else constraints.max_steps
        self.limits = np.full(n * m, limit)
        self.start = task.X.toarray()
        self.fixed = (task.locked.toarray() != 0) | (constraints.upper < 0)
        self.base = engine.begin(task.X)
        self.scores = np.empty((n * m, m))
        self.now = np.empty((n * m, constraints.n_items), dtype=np.float32)
        self.way = np.empty(self.now.shape, dtype=np.int8)

    def search(self, aim: int) -> Iterator[PairEdits]:
        """The policy asked for, then Modify_Add; on each the aim asked for, then C_i alone."""
        policy, left = self.constraints.policy, np.arange(self.users.size)
        for extended in (False, True):
            if extended and (not self.constraints.extend or (policy.modify and policy.add)):
                return
            allowed = policy.modify or extended, policy.add or extended
            for found in self._smaller(left, *allowed) if aim == PROBABILITY else self._one_by_one(left, *allowed, aim):
                yield replace(found, extended=extended)
                left = np.setdiff1d(left, found.reached, assume_unique=True)

    def _one_by_one(self, left: Ints, modify: bool, add: bool, aim: int) -> Iterator[PairEdits]:
        """The aim asked for, and C_i alone for the pairs that it does not reach."""
        for each in (LEAD, VALUE) if aim == LEAD else (VALUE,):
            found, _ = self._attempt(left, modify, add, each == LEAD, self.limits)
            yield found
            left = np.setdiff1d(left, found.reached, assume_unique=True)

    def _smaller(self, left: Ints, modify: bool, add: bool) -> Iterator[PairEdits]:
        """C_i alone, then the lead in fewer steps; of each pair what changes less."""
        first, taken = self._attempt(left, modify, add, False, self.limits)
        limits = self.limits.copy()
        limits[first.reached] = taken[first.reached] - 2  # a limit of n allows n + 1 steps, as printed
        second, _ = self._attempt(left, modify, add, True, limits)
        size = np.full((2, self.users.size), np.iinfo(np.int64).max)
        for found, sizes in zip((first, second), size, strict=True):
            sizes[found.reached] = np.bincount(found.pairs, minlength=self.users.size)[found.reached]
        yield first.of(size[0] <= size[1])
        yield second.of(size[1] < size[0])

    def _attempt(self, pairs: Ints, modify: bool, add: bool, margin: bool, limits: Ints) -> tuple[PairEdits, Ints]:
        """One run towards every pair's value: the edits of those that got there, and in how many steps."""
        from attriguard.kernels.moves import best_moves

        for p in pairs:
            self.now[p] = self.start[self.users[p]]
        self.way[pairs] = 0
        self.scores[pairs] = self.base[self.users[pairs]]
        self.engine.reset(pairs)
        asked, chosen, change = self.constraints, np.empty(self.users.size, np.int64), np.empty(self.users.size)
        taken, steps, reached = 0, np.zeros(self.users.size, dtype=np.int64), [np.empty(0, dtype=np.int64)]
        while pairs.size:
            rivals, there = self._stand(pairs)
            reached.append(pairs[there])
            steps[pairs[there]] = taken
            going = ~there & (taken <= limits[pairs])
            pairs, rivals = pairs[going], rivals[going]
            if not pairs.size:
                break
            against = np.full(self.users.size, -1)
            if margin:
                against[pairs] = rivals
            gradient = self.engine.gradient(pairs, against, self.now)
            given = (
                pairs, self.users, gradient, self.start, self.fixed, asked.upper, asked.jump,
                modify, add, margin, asked.step, asked.levels, self.now, self.way, chosen, change,
            )  # fmt: skip
            _over(pairs, partial(best_moves, *given))
            pairs = pairs[chosen[pairs] >= 0]
            self.engine.move(pairs, chosen, change, self.now, self.scores)
            taken += 1
        return self._edits_of(np.sort(np.concatenate(reached))), steps

    def _edits_of(self, reached: Ints) -> PairEdits:
        """What these pairs have become."""
        at, items = np.nonzero(self.now[reached] != self.start[self.users[reached]])
        return PairEdits(reached, False, reached[at], items, self.now[reached[at], items])

    def _stand(self, pairs: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """The closest rival of each pair's value, and whether C infers the value with a lead of κ."""
        scores, i, each = self.scores[pairs].copy(), self.values[pairs], np.arange(pairs.size)
        own = scores[each, i]
        scores[each, i] = -np.inf
        rivals = np.argmax(scores, axis=1)
        lead, kappa = own - scores[each, rivals], self.kappa[pairs]
        plain = (lead > 0) | ((lead == 0) & (i < rivals))
        return rivals, np.where(kappa > 0, lead >= kappa, plain)


def _over(pairs: Ints, work: Callable[[int, int], None]) -> None:
    over_users(pairs.size, work, smallest=PAIRS_A_RANGE)
