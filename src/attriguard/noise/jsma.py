"""JSMA, the Jacobian-based saliency map attack (Papernot et al., 2016).

An entry j counts where raising it raises the value's own output and lowers the sum of the others:
S_j = 0 if ∂F_i/∂x_j < 0 or Σ_{k≠i} ∂F_k/∂x_j > 0, else ∂F_i/∂x_j · |Σ_{k≠i} ∂F_k/∂x_j|. The entry with the largest S
moves by θ, is out of the search once it is saturated, and so on until C infers the value. With ``pairs`` two entries
move at a time, the pair whose summed derivatives give the largest S, as published (`noise.saliency` finds it). All
entries are raised, or all are lowered; their own value, (1 − x_j), has no part in the map. PANDA differs in both.

What F is: on a linear classifier or a module its decision functions, on a network p_1 … p_m, as for PANDA. ``of`` asks
for either everywhere. The authors advise the outputs before a network's softmax; on rating data these leave rare values
out of reach, since the sum of all others says little about the one that leads. Behind the softmax all derivatives sum
to 0, so both conditions are one, and S_j is the squared slope of p_i. Other implementations (that of the Adversarial
Robustness Toolbox) take the two largest slopes of p_i, without conditions.

θ is the guard's ``step``, 1 unless said otherwise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attriguard._checks import check_choice, check_number
from attriguard.classifiers.maths import softmax
from attriguard.classifiers.outputs import Ints, Outputs, Point
from attriguard.noise.constraints import NO_LIMIT, Constraints
from attriguard.noise.evasion import Block, EvasionSearch, Proposal, infers
from attriguard.noise.pairs import MOST_STEPS
from attriguard.noise.saliency import best_items, best_pairs, ranked_items

AUTO = "auto"
MAPS = (AUTO, "outputs", "probabilities")


class JSMA(EvasionSearch):
    """The most salient entry, or pair of entries, one after another.

    Parameters
    ----------
    pairs
        Move two entries in each step, as published.
    decrease
        Lower entries instead of raising them.
    of
        What the saliency map is of: "outputs", "probabilities", or "auto" (as the module's text says).
    max_distortion
        Υ, the largest share of all entries that may change.
    """

    name = "jsma"
    plain_name = "saliency map"
    summary = "Jacobian-based saliency map attack: the most salient entry first, upwards only"
    takes_steps = True

    def __init__(
        self, *, pairs: bool = False, decrease: bool = False, of: str = AUTO, max_distortion: float = 1.0
    ) -> None:
        self.pairs, self.decrease = pairs, decrease
        self.of = check_choice(of, MAPS, name="map (of)")
        self.max_distortion = check_number(max_distortion, name="max_distortion", low=0.0, high=1.0)

    def _on_probabilities(self, outputs: Outputs) -> bool:
        return outputs.softmax if self.of == AUTO else self.of == "probabilities"

    def _fixed_map(self, outputs: Outputs) -> NDArray[np.floating] | None:
        """The derivatives where the map never changes, so that the items are sorted once; else None."""
        moving = self.pairs or self.decrease or self._on_probabilities(outputs)
        return None if moving else outputs.jacobian

    def _rows_a_user(self, outputs: Outputs) -> int:
        return outputs.m if self._fixed_map(outputs) is None else 1

    def _limit(self, constraints: Constraints, *, linear: bool) -> int:
        limit = (MOST_STEPS if constraints.max_steps == NO_LIMIT and not linear else constraints.max_steps) + 1
        if self.max_distortion == 1.0:
            return limit
        return min(limit, int(self.max_distortion * constraints.n_items / (2 if self.pairs else 1)))

    def _propose(self, outputs: Outputs, block: Block, constraints: Constraints) -> Proposal:
        limit = self._limit(constraints, linear=outputs.jacobian is not None)
        jacobian = self._fixed_map(outputs)
        if jacobian is None:
            return self._step_by_step(outputs, block, constraints.step, limit)
        scores = outputs.at(block.start).scores
        return self._down_the_list(jacobian, scores, block, constraints.step, limit)

    def _step_by_step(self, outputs: Outputs, block: Block, step: float, limit: int) -> Proposal:
        """A new map in every step."""
        users, values, kappa = block.users, block.values, block.kappa[block.users]
        now, bound = block.start[users], np.float32(0.0 if self.decrease else 1.0)
        active, taken = np.arange(users.size), 0
        while active.size:
            point = outputs.at(now[active])
            there = infers(point.scores, values[active], kappa[active])
            if taken == limit or there.all():
                break
            raising, lowering = self._slopes(point, values[active], self._on_probabilities(outputs))
            moved = block.free[users[active]] & (now[active] != bound)
            best = (best_pairs if self.pairs else best_items)(raising, lowering, moved & ~there[:, None])
            going = best[:, 0] >= 0
            active, best = active[going], best[going]
            for items in best.T:
                now[active, items] = self._moved(now[active, items], step)
            taken += 1
        before = block.start[users]
        pairs, items = np.nonzero(now != before)
        return Proposal(pairs, items, now[pairs, items])

    def _slopes(
        self, point: Point, values: Ints, on_probabilities: bool
    ) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """∂F_i and −Σ_{k≠i} ∂F_k for a move upwards, or for one downwards."""
        own = np.eye(point.scores.shape[1])[values]
        sign = -1.0 if self.decrease else 1.0
        if on_probabilities:
            slope = sign * point.slope(own - softmax(point.scores))  # but for the factor p_i, which changes no order
            return slope, slope
        return sign * point.slope(own), -sign * point.slope(1.0 - own)

    def _moved(self, entries: NDArray[np.float32], step: float) -> NDArray[np.float32]:
        change = -step if self.decrease else step
        return np.clip(entries.astype(np.float64) + change, 0.0, 1.0).astype(np.float32)

    def _down_the_list(
        self, coef: NDArray[np.floating], scores: NDArray[np.floating], block: Block, step: float, limit: int
    ) -> Proposal:
        """All pairs walk down their value's list at once, past the entries that may not move."""
        lists, weights = ranked_items(coef, coef.sum(axis=0) - coef), np.ascontiguousarray(coef.T)
        users, values, kappa = block.users, block.values, block.kappa[block.users]
        closed = ~block.free | (block.start >= 1.0)
        scores = scores[users]
        place, moves = np.zeros(users.size, dtype=np.int64), [np.empty((2, 0), dtype=np.int64)]
        entry, fresh = np.empty(users.size, dtype=np.float32), np.ones(users.size, dtype=np.bool_)
        active, taken = np.arange(users.size), 0
        while active.size and taken < limit:
            active = active[~infers(scores[active], values[active], kappa[active])]
            active, items = _next_open(active, lists, place, closed, values, users)
            before = np.where(fresh[active], block.start[users[active], items], entry[active])
            after = self._moved(before, step)
            scores[active] += (after.astype(np.float64) - before)[:, None] * weights[items]
            moves.append(np.stack([active[fresh[active]], items[fresh[active]]]))
            entry[active], fresh[active] = after, after >= 1.0
            place[active] += fresh[active]
            taken += 1
        pairs, items = np.concatenate(moves, axis=1)
        unfinished = ~fresh[pairs] & (items == lists[values[pairs], np.minimum(place[pairs], lists.shape[1] - 1)])
        order = np.lexsort((items, pairs))
        return Proposal(pairs[order], items[order], np.where(unfinished, entry[pairs], np.float32(1.0))[order])


def _next_open(
    active: Ints, lists: Ints, place: Ints, closed: NDArray[np.bool_], values: Ints, users: Ints
) -> tuple[Ints, Ints]:
    """Every pair's next item that may move; the pairs that have none are left out. Their places are brought forward."""
    waiting = active
    while waiting.size:
        items = lists[values[waiting], place[waiting]]
        waiting = waiting[(items >= 0) & closed[users[waiting], items]]
        place[waiting] += 1
    items = lists[values[active], place[active]]
    return active[items >= 0], items[items >= 0]
