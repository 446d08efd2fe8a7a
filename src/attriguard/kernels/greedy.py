"""Phase I on a linear classifier: the greedy search of Algorithm 1, compiled.

Work for one (user, value) is proportional to the noise found plus the user's own ratings: the best item to add is the
head of a list that was sorted once for the model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.core import types as nb

from attriguard.kernels.types import ROWS, const, out

# What stands in the `blocked` work array: the item is one of the user's own, locked, or changed already.
FREE, OWN, TOUCHED = 0, 1, 2
# Which way an own entry has moved: up (1), down (-1), not at all (0); or that it is locked.
FIXED = 2
# Bits of the result for one (user, value).
REACHED, EXTENDED = 1, 2


@njit(cache=True, nogil=True, inline="always")
def _highest(values: Any, n: int) -> float:
    """The highest of the first n values, -inf if there is none."""
    # Four maxima side by side, since each comparison of one must wait for the one before.
    a, b, c, d = -np.inf, -np.inf, -np.inf, -np.inf
    for k in range(0, n - 3, 4):
        a = values[k] if values[k] > a else a
        b = values[k + 1] if values[k + 1] > b else b
        c = values[k + 2] if values[k + 2] > c else c
        d = values[k + 3] if values[k + 3] > d else d
    for k in range(n - n % 4, n):
        a = values[k] if values[k] > a else a
    return max(max(a, b), max(c, d))


@njit(cache=True, nogil=True, inline="always")
def _rival(scores: Any, i: int) -> int:
    """The value that leads C_i or follows it closest: arg max over k ≠ i, first index in a tie."""
    m, own = scores.shape[0], scores[i]
    scores[i] = -np.inf
    high = _highest(scores, m)
    scores[i] = own
    best = 0
    while best < m - 1 and (best == i or scores[best] != high):
        best += 1
    return best


@njit(cache=True, nogil=True, inline="always")
def _reached(scores: Any, i: int, k: int, kappa: float) -> bool:
    """Does C infer i, with a lead of at least kappa? arg max takes the first index in a tie."""
    lead = scores[i] - scores[k]
    if kappa > 0.0:
        return bool(lead >= kappa)
    return bool(lead > 0.0 or (lead == 0.0 and i < k))


@njit(cache=True, nogil=True, inline="always")
def _moved(current: float, target: float, levels: int) -> float:
    """A step towards `target`, on the rating grid, and by one level at least; exactly what float32 will hold."""
    value = target
    if levels > 0:
        level = np.rint(target * levels)
        if target > current and level <= np.rint(current * levels):
            level = np.rint(current * levels) + 1.0
        if target < current and level >= np.rint(current * levels):
            level = np.rint(current * levels) - 1.0
        value = min(1.0, max(0.0, level / levels))
    return float(np.float64(np.float32(value)))


@njit(cache=True, nogil=True, inline="always")
def _best_addition(
    i: int,
    k: int,
    W: Any,
    upper: Any,
    blocked: Any,
    ranked: Any,
    ranked_end: Any,
    whole: Any,
    row: int,
    at: int,
) -> tuple[int, int]:
    """The first free item of list `row` from position `at` on; a full scan where a shortened list has run out."""
    while at < ranked_end[row]:
        item = ranked[at]
        if blocked[item] == FREE:
            return item, at
        at += 1
    if whole[row]:
        return -1, at
    best, best_gain = -1, -np.inf
    for item in range(W.shape[0]):
        if blocked[item] == FREE and upper[item] > 0.0:
            gain = upper[item] * (W[item, i] - (W[item, k] if k >= 0 else 0.0))
            if gain > best_gain:
                best, best_gain = item, gain
    return best, at


@njit(cache=True, nogil=True, inline="always")
def _own_gains(i: int, k: int, weights: Any, now: Any, way: Any, bound: bool, n_own: int, gain: Any) -> None:
    """What moving each of the user's own entries to its bound would gain; 0 where it may not move (`bound`: some)."""
    for s in range(n_own):
        gradient = weights[i, s] - (weights[k, s] if k >= 0 else 0.0)
        gain[s] = (1.0 - now[s]) * gradient if gradient > 0.0 else -now[s] * gradient
    for s in range(n_own if bound else 0):
        # An entry moves one way only, so that a changing rival cannot make the search go in circles.
        if way[s] != 0:
            gradient = weights[i, s] - (weights[k, s] if k >= 0 else 0.0)
            if way[s] == FIXED or way[s] * gradient < 0.0:
                gain[s] = 0.0


@njit(cache=True, nogil=True, inline="always")
def _attempt(
    i: int, modify: bool, add: bool, margin: bool,
    W: Any, upper: Any, jump: bool, ranked: Any, ranked_end: Any, whole: Any,
    step: float, levels: int, kappa: float, max_steps: int,
    own: Any, own_weights: Any, own_now: Any, own_way: Any, gain: Any, n_own: int,
    new: Any, new_now: Any, blocked: Any, scores: Any,
) -> tuple[bool, int]:  # fmt: skip
    """One run of the search towards value i; returns whether it got there, and how many entries it added."""
    m = scores.shape[0]
    n_new, taken = 0, 0
    bound = False  # is an own entry fixed, or has one moved?
    for s in range(n_own):
        bound |= own_way[s] != 0
    against, row, at = -2, -1, 0
    while True:
        k = _rival(scores, i)
        if _reached(scores, i, k, kappa):
            return True, n_new
        if taken > max_steps:
            return False, n_new
        if not margin:
            k = -1
        if modify and k != against:
            _own_gains(i, k, own_weights, own_now, own_way, bound, n_own, gain)
        if k != against:
            row = m + i * m + k if margin else i
            at = ranked_end[row - 1] if row > 0 else 0
        against = k
        # The best move, as (gain, item, slot, upwards); slots: own entries, then added ones, -1 for a new entry.
        best, item, slot, up = -np.inf, -1, -1, True
        if modify:
            # Without a gain the search stands still; only Add_New on C_i goes on, as printed.
            best = max(0.0, _highest(gain, n_own))
            for s in range(n_own if best > 0.0 else 0):
                if gain[s] == best:
                    rises = own_weights[i, s] > (own_weights[k, s] if margin else 0.0)
                    if item < 0 or (rises and not up):  # an increase wins a tie
                        item, slot, up = own[s], s, rises
        elif margin:
            best = 0.0
        if add:
            if not jump and step < 1.0:
                for s in range(n_new):
                    if new_now[s] < 1.0:
                        j = new[s]
                        g = W[j, i] - (W[j, k] if margin else 0.0)
                        if modify:  # Add_New as printed compares gradients without the factor 1 - x
                            g *= 1.0 - new_now[s]
                        if g > best or (g == best and item >= 0 and (not up or j < item)):
                            best, item, slot, up = g, j, n_own + s, True
            j, at = _best_addition(i, k, W, upper, blocked, ranked, ranked_end, whole, row, at)
            if j >= 0:
                g = upper[j] * (W[j, i] - (W[j, k] if margin else 0.0))
                if g > best or (g == best and item >= 0 and (not up or j < item)):
                    best, item, slot, up = g, j, -1, True
        if item < 0:
            return False, n_new
        if slot < 0:
            before = 0.0
            after = upper[item] if jump else _moved(0.0, step, levels)
            new[n_new], new_now[n_new] = item, after
            n_new += 1
            blocked[item] = TOUCHED
        elif slot >= n_own:
            before = new_now[slot - n_own]
            after = _moved(before, min(1.0, before + step), levels)
            new_now[slot - n_own] = after
        else:
            before = own_now[slot]
            after = _moved(before, min(1.0, before + step) if up else max(0.0, before - step), levels)
            own_now[slot] = after
            own_way[slot] = 1 if up else -1
            bound = True
            gradient = own_weights[i, slot] - (own_weights[k, slot] if margin else 0.0)
            gain[slot] = (1.0 - after) * gradient if up else -after * gradient
        for v in range(m):
            scores[v] += (after - before) * W[item, v]
        taken += 1


@njit(cache=True, nogil=True, inline="always")
def _emit(
    own: Any, own_x: Any, own_now: Any, n_own: int, new: Any, new_now: Any, n_new: int,
    items: Any, values: Any, used: int,
) -> int:  # fmt: skip
    """Write the changed entries, sorted by item; -1 where the buffer is too small."""
    start = used
    for s in range(n_own):
        if own_now[s] != own_x[s]:
            if used == items.shape[0]:
                return -1
            items[used], values[used] = own[s], own_now[s]
            used += 1
    for s in range(n_new):
        if used == items.shape[0]:
            return -1
        item, value = new[s], new_now[s]
        place = used
        while place > start and items[place - 1] > item:
            items[place], values[place] = items[place - 1], values[place - 1]
            place -= 1
        items[place], values[place] = item, value
        used += 1
    return used


@njit(
    [
        nb.UniTuple(nb.int64, 2)(
            *ROWS,
            const(nb.int64, 1), const(nb.int32, 1),
            const(nb.float64, 2), const(nb.float64, 1), const(nb.float64, 1), nb.boolean,
            const(nb.int32, 1), const(nb.int64, 1), const(nb.boolean, 1),
            nb.boolean, nb.boolean, nb.boolean, nb.boolean,
            nb.float64, nb.int64, const(nb.float64, 1), nb.int64,
            nb.int64, nb.int64,
            out(nb.int32, 2), out(nb.uint8, 2),
            out(nb.int32, 1), out(nb.float32, 1),
        )
    ],
    cache=True,
    nogil=True,
)  # fmt: skip
def greedy_search(
    indptr: Any, indices: Any, data: Any,
    locked_indptr: Any, locked_indices: Any,
    W: Any, b: Any, upper: Any, jump: bool,
    ranked: Any, ranked_end: Any, whole: Any,
    modify: bool, add: bool, margin: bool, extend: bool,
    step: float, levels: int, kappa: Any, max_steps: int,
    start: int, stop: int,
    counts: Any, flags: Any, items: Any, values: Any,
) -> tuple[int, int]:  # fmt: skip
    """Search for users `start` to `stop`, all values; fill counts, flags and the edits (items, values).

    Returns the first user not done (the buffers were full before it, or `stop`) and how much of the buffers is used.
    """
    n_items, m = W.shape
    longest = 0
    for u in range(start, stop):
        longest = max(longest, indptr[u + 1] - indptr[u])
    own_weights, gain = np.empty((m, longest)), np.empty(longest)
    own_x, own_now = np.empty(longest), np.empty(longest)
    own_way, own_fixed = np.empty(longest, np.int8), np.empty(longest, np.int8)
    new, new_now = np.empty(n_items, np.int32), np.empty(n_items)
    blocked = np.zeros(n_items, np.uint8)
    base, scores = np.empty(m), np.empty(m)
    used = 0
    for u in range(start, stop):
        first = indptr[u]
        n_own = indptr[u + 1] - first
        own = indices[first : first + n_own]
        for v in range(m):
            base[v] = b[v]
        for s in range(locked_indptr[u], locked_indptr[u + 1]):
            blocked[locked_indices[s]] = OWN
        for s in range(n_own):
            own_x[s] = data[first + s]
            # Locked for this user, or for everybody (an upper bound below 0).
            own_fixed[s] = FIXED if blocked[own[s]] == OWN or upper[own[s]] < 0.0 else 0
            x, j = own_x[s], own[s]
            for v in range(m):
                own_weights[v, s] = W[j, v]
            for v in range(m):
                base[v] += x * W[j, v]
        for s in range(n_own):
            blocked[own[s]] = OWN
        user_start = used
        for i in range(m):
            reached, n_new, extended = False, 0, False
            # The policy asked for, then Modify_Add; on each the search asked for, then C_i alone.
            for attempt in range(4):
                extended = attempt >= 2
                if extended and (not extend or (modify and add)):
                    break
                if attempt % 2 == 1 and not margin:
                    continue
                for s in range(n_own):  # loops, since slices cost more than these few entries
                    own_now[s], own_way[s] = own_x[s], own_fixed[s]
                for v in range(m):
                    scores[v] = base[v]
                reached, n_new = _attempt(
                    i, modify or extended, add or extended, margin and attempt % 2 == 0,
                    W, upper, jump, ranked, ranked_end, whole,
                    step, levels, kappa[u], max_steps,
                    own, own_weights, own_now, own_way, gain, n_own,
                    new, new_now, blocked, scores,
                )  # fmt: skip
                for s in range(n_new):
                    blocked[new[s]] = FREE
                if reached:
                    break
            counts[u, i] = 0
            flags[u, i] = 0
            if reached:
                end = _emit(own, own_x, own_now, n_own, new, new_now, n_new, items, values, used)
                if end < 0:
                    return u, user_start
                counts[u, i] = end - used
                flags[u, i] = REACHED | (EXTENDED if extended else 0)
                used = end
        for s in range(n_own):
            blocked[own[s]] = FREE
        for s in range(locked_indptr[u], locked_indptr[u + 1]):
            blocked[locked_indices[s]] = FREE
    return stop, used
