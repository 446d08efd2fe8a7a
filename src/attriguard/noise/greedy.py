"""PANDA and its variants: Algorithm 1 of the paper on C_i, on the lead of C_i, and on the value's probability.

Differences from the printed algorithm, all of them needed:

* Under Add_New the printed arg max has no factor (1 − x̄_j), so with τ = 1 it would pick the same saturated entry for
  ever. An entry that has reached its bound is no candidate here, under any policy.
* Where no entry can raise the objective any more, the printed loop would change nothing until maxiter; here it ends.
* `margin` and `probability` may meet another rival after every step. An entry they have raised they do not lower
  again, nor the reverse, so they end; where `margin` ends without success, PANDA is tried, and where `probability`
  does, `margin`.

`probability` raises p_i, with p the softmax of C_1 … C_m. The gradient of log p_i is Σ_k p_k (∂C_i − ∂C_k): every rival
counts by how likely it is (here by p_k², `kernels.aims`), while `margin` sees the closest one alone and PANDA none. As
soon as one step on the lead is enough, it is the last.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from attriguard.classifiers.base import Classifier
from attriguard.classifiers.readings import Reading
from attriguard.kernels.aims import CONFIDENCE, LEAD, VALUE
from attriguard.kernels.threads import over_users
from attriguard.noise.base import NoiseSearch, SearchTask
from attriguard.noise.candidates import linear_model
from attriguard.noise.edits import Edits
from attriguard.noise.pairs import search_pairs
from attriguard.progress import Progress

# Edits a (user, value) that the first buffer of a range of users has room for.
EDITS_A_PAIR = 4
# From so many edits on they are joined on all cores.
MANY_EDITS = 10**6
# Edits that the first buffer has room for, at least.
SMALLEST_BUFFER = 1024

Parts = list[tuple[NDArray[np.int32], NDArray[np.float32]]]


class GreedySearch(NoiseSearch):
    """One entry after another, the one with the largest gain first, until C infers the value."""

    aim: ClassVar[int]  # what a step raises, as `kernels.greedy` numbers it
    decrease: float = 1.0  # so many times its gain a decrease counts on the way to a probability
    shorter: bool = False  # the lead's way is taken where it is shorter than the probability's

    def _find(self, classifier: Classifier, task: SearchTask, progress: Progress) -> Edits:
        if classifier.is_linear:
            return self._find_linear(classifier, self.aim, task, progress)
        if self.aim == VALUE and isinstance(classifier, Reading) and classifier.classifier.is_linear:
            # C_i is the probability of a linear classifier's value: the kernel knows its gradient, too.
            return self._find_linear(classifier.classifier, CONFIDENCE, task, progress)
        return search_pairs(classifier.pair_engine(), task, m=classifier.m, aim=self.aim, progress=progress)

    def _find_linear(self, classifier: Classifier, aim: int, task: SearchTask, progress: Progress) -> Edits:
        from attriguard.kernels.greedy import EXTENDED, REACHED, greedy_search

        asked, model = task.constraints, linear_model(classifier)
        n, m = task.n_users, model.W.shape[1]
        lists = model.candidates(asked.upper, rivals=aim != VALUE)
        counts = np.empty((n, m), dtype=np.int32)
        flags = np.empty((n, m), dtype=np.uint8)
        given = (
            *task.rows, *task.locked_rows[:2], model.W, model.b, asked.upper, asked.jump,
            lists.heads, lists.items, lists.bounds, lists.whole,
            asked.policy.modify, asked.policy.add, aim, self.decrease, self.shorter, asked.extend,
            asked.step, asked.levels, task.confidence, asked.max_steps,
        )  # fmt: skip
        search = partial(_search_range, partial(greedy_search, *given), counts, flags)
        found = over_users(n, search, count=None if progress.quiet else progress.counter(n, "Phase I"))
        parts = [part for each in found for part in each]
        indptr = np.zeros(n * m + 1, dtype=np.int64)
        np.cumsum(counts.ravel(), out=indptr[1:])
        return Edits(
            indptr=indptr,
            items=_joined([items for items, _ in parts], np.int32),
            values=_joined([values for _, values in parts], np.float32),
            cost=counts.astype(np.float64),
            success=(flags & REACHED).astype(np.bool_),
            extended=(flags & EXTENDED).astype(np.bool_),
        )


def _joined(parts: list[NDArray[Any]], dtype: type) -> NDArray[Any]:
    """The parts one after another; many are copied on all cores, since most of the time goes into new memory."""
    ends = np.cumsum([0, *(part.size for part in parts)])
    whole = np.empty(ends[-1], dtype=dtype)
    if whole.size < MANY_EDITS:
        return np.concatenate([*parts, whole[:0]])
    over_users(len(parts), lambda a, b: np.concatenate(parts[a:b], out=whole[ends[a] : ends[b]]), smallest=1)
    return whole


def _search_range(
    kernel: Callable[..., Any], counts: NDArray[np.int32], flags: NDArray[np.uint8], start: int, stop: int
) -> Parts:
    """The edits of users ``start`` to ``stop``, a new buffer wherever one is full."""
    parts: Parts = []
    room = max(SMALLEST_BUFFER, (stop - start) * counts.shape[1] * EDITS_A_PAIR)
    while start < stop:
        items, values = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.float32)
        done, used = kernel(start, stop, counts, flags, items, values)
        if done == start:  # not even one user fits
            room *= 2
            continue
        parts.append((items[:used], values[:used]))  # what is unused of a buffer was never touched
        start = done
    return parts


class Panda(GreedySearch):
    """The paper's search: greedy on C_i."""

    name = "panda"
    plain_name = "the paper's greedy search"
    summary = "the paper's Algorithm 1: greedy on the value's own decision function"
    aim = VALUE


class Margin(GreedySearch):
    """Greedy on C_i − max C_k: on linear classifiers less noise, which transfers better."""

    name = "margin"
    plain_name = "greedy search on the lead"
    summary = "Algorithm 1 on the lead over the closest other value"
    aim = LEAD
