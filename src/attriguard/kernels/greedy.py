"""Phase I on a linear classifier: the greedy search of Algorithm 1, compiled.

Work for one (user, value) is proportional to the noise found plus the user's own ratings: the best item to add is found
near the head of a list that was sorted once for the model (`kernels.additions`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.core import types as nb

from attriguard.kernels.additions import (
    ALONE,
    FREE,
    MIXED,
    OWN,
    SURELY,
    TOUCHED,
    _best_of_all,
    _best_of_list,
    _next_of_list,
    _slope,
)
from attriguard.kernels.aims import CONFIDENCE, LEAD, PROBABILITY, SHARPNESS, VALUE
from attriguard.kernels.scores import _highest, _reached, _rival, _shares
from attriguard.kernels.types import ROWS, const, out

# Which way an own entry has moved: up (1), down (-1), not at all (0); or that it is locked.
FIXED = 2
# Bits of the result for one (user, value).
REACHED, EXTENDED = 1, 2


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
def _own_gains(
    i: int, k: int, mix: Any, weights: Any, now: Any, way: Any, bound: bool, fall: float, n_own: int, slope: Any,
    gain: Any,
) -> None:  # fmt: skip
    """What moving each of the user's own entries to its bound would gain; 0 where it may not move (`bound`: some).

    A decrease counts `fall` times.
    """
    if k == MIXED:
        m = mix.shape[0]
        for s in range(n_own):
            slope[s] = 0.0
        for v in range(0, m - 3, 4):  # four at a time, as `_slope` sums them
            a, b, c, d = mix[v], mix[v + 1], mix[v + 2], mix[v + 3]
            for s in range(n_own):
                x = weights[i, s]
                low = a * (x - weights[v, s]) + b * (x - weights[v + 1, s])
                slope[s] += low + (c * (x - weights[v + 2, s]) + d * (x - weights[v + 3, s]))
        for v in range(m - m % 4, m):
            for s in range(n_own):
                slope[s] += mix[v] * (weights[i, s] - weights[v, s])
    elif k == ALONE:
        for s in range(n_own):
            slope[s] = weights[i, s]
    else:
        for s in range(n_own):
            x = weights[i, s] - weights[k, s]
            slope[s] = x
            gain[s] = (1.0 - now[s]) * x if x > 0.0 else -(fall * now[s]) * x
    if k < 0:  # in one loop with the slopes above, where most steps come from
        for s in range(n_own):
            gain[s] = (1.0 - now[s]) * slope[s] if slope[s] > 0.0 else -(fall * now[s]) * slope[s]
    for s in range(n_own if bound else 0):
        # An entry moves one way only, so that a changing rival cannot make the search go in circles.
        if way[s] != 0 and (way[s] == FIXED or way[s] * slope[s] < 0.0):
            gain[s] = 0.0


@njit(cache=True, nogil=True, inline="always")
def _best_move(
    i: int, k: int, mix: Any, modify: bool, add: bool, again: bool, listed: bool, at: int,
    W: Any, upper: Any, heads: Any, ranked: Any, bounds: Any, whole: bool,
    own: Any, own_weights: Any, own_now: Any, own_way: Any, bound: bool, fall: float, slope: Any, gain: Any, n_own: int,
    new: Any, new_now: Any, n_new: int, blocked: Any,
) -> tuple[int, int, bool, int, float]:  # fmt: skip
    """The move that gains most, as (item, slot, upwards), the place in the list for C_i alone, and the gain.

    Slots: own entries, then added ones (which rise `again` where steps are small), -1 for a new entry.
    """
    best, item, slot, up = -np.inf, -1, -1, True
    if modify:
        _own_gains(i, k, mix, own_weights, own_now, own_way, bound, fall, n_own, slope, gain)
        # Without a gain the search stands still; only Add_New on C_i goes on, as printed.
        best = max(0.0, _highest(gain, n_own))
        for s in range(n_own if best > 0.0 else 0):
            if gain[s] == best and (item < 0 or (slope[s] > 0.0 and not up)):  # an increase wins a tie
                item, slot, up = own[s], s, slope[s] > 0.0
    elif k != ALONE:
        best = 0.0
    if not add:
        return item, slot, up, at, best
    for s in range(n_new if again else 0):
        if new_now[s] < 1.0:
            j = new[s]
            g = _slope(i, k, mix, W, j)
            if modify:  # Add_New as printed compares gradients without the factor 1 - x
                g *= 1.0 - new_now[s]
            if g > best or (g == best and item >= 0 and (not up or j < item)):
                best, item, slot, up = g, j, n_own + s, True
    if not listed:
        j = _best_of_all(i, k, mix, W, upper, blocked)
    elif k == ALONE:
        j, at = _next_of_list(i, W, upper, blocked, ranked, whole, at)
    else:
        j = _best_of_list(i, k, mix, W, upper, blocked, heads, ranked, bounds, whole)
    if j >= 0:
        g = upper[j] * _slope(i, k, mix, W, j)
        if g > best or (g == best and item >= 0 and (not up or j < item)):
            best, item, slot, up = g, j, -1, True
    return item, slot, up, at, best


@njit(cache=True, nogil=True, inline="always")
def _attempt(
    i: int, modify: bool, add: bool, aim: int, decrease: float, listed: bool, first_shares: Any,
    W: Any, upper: Any, jump: bool, heads: Any, ranked: Any, bounds: Any, whole: bool,
    step: float, levels: int, kappa: float, max_steps: int,
    own: Any, own_weights: Any, own_now: Any, own_way: Any, slope: Any, gain: Any,
    new: Any, new_now: Any, blocked: Any, scores: Any, trial: Any, shares: Any,
) -> tuple[bool, int, int]:  # fmt: skip
    """One run of the search towards value i: whether it got there, how many entries it added, in how many steps."""
    m, n_own = scores.shape[0], own.shape[0]
    n_new, taken, at = 0, 0, 0
    fall = decrease if aim == PROBABILITY else 1.0
    bound = False  # is an own entry fixed, or has one moved?
    for s in range(n_own):
        bound |= own_way[s] != 0
    k = _rival(scores, i)
    there, closest = _reached(scores, i, k, kappa), k
    longest = np.inf  # no step gains more against the rival k; known once it has been looked for
    while not there:
        if taken > max_steps:
            return False, n_new, taken
        item, slot, up, before, after = -1, -1, True, 0.0, 0.0
        # First the lead or C_i alone, then the probability; some aims have one of the two.
        behind = (scores[k] - scores[i] + kappa) * SURELY
        for turn in range(1 if aim == CONFIDENCE or behind > longest else 0, 2 if aim >= PROBABILITY else 1):
            if turn == 1:
                if taken == 0:
                    for v in range(m):
                        shares[v] = first_shares[v]
                else:
                    _shares(scores, SHARPNESS if aim == PROBABILITY else 1.0, shares)
            against = MIXED if turn == 1 else k if aim != VALUE else ALONE
            item, slot, up, at, most = _best_move(
                i, against, shares, modify, add, not jump and step < 1.0, listed, at,
                W, upper, heads, ranked, bounds, whole,
                own, own_weights, own_now, own_way, bound, fall, slope, gain, n_own, new, new_now, n_new, blocked,
            )  # fmt: skip
            if against >= 0 and step >= 1.0:  # gains only shrink: an entry moves once
                if aim == PROBABILITY:
                    longest = most
                elif behind > (max_steps - taken + 1.0) * most:
                    return False, n_new, taken
            if item < 0:
                continue
            if slot < 0:
                before, after = 0.0, upper[item] if jump else _moved(0.0, step, levels)
            else:
                before = new_now[slot - n_own] if slot >= n_own else own_now[slot]
                after = _moved(before, min(1.0, before + step) if up else max(0.0, before - step), levels)
            for v in range(m):
                trial[v] = scores[v] + (after - before) * W[item, v]
            closest = _rival(trial, i)
            there = _reached(trial, i, closest, kappa)
            if there:
                break
        if item < 0:
            return False, n_new, taken
        if slot < 0:
            new[n_new], new_now[n_new] = item, after
            n_new += 1
            blocked[item] = TOUCHED
        elif slot >= n_own:
            new_now[slot - n_own] = after
        else:
            own_now[slot] = after
            own_way[slot] = 1 if up else -1
            bound = True
        for v in range(m):
            scores[v] = trial[v]
        if closest != k:
            k, longest = closest, np.inf
        taken += 1
    return True, n_new, taken


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
            const(nb.int32, 3), const(nb.int32, 2), const(nb.float64, 3), nb.boolean,
            nb.boolean, nb.boolean, nb.int64, nb.float64, nb.boolean, nb.boolean,
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
    heads: Any, ranked: Any, bounds: Any, whole: bool,
    modify: bool, add: bool, aim: int, decrease: float, shorter: bool, extend: bool,
    step: float, levels: int, kappa: Any, max_steps: int,
    start: int, stop: int,
    counts: Any, flags: Any, items: Any, values: Any,
) -> tuple[int, int]:  # fmt: skip
    """Search for users `start` to `stop`, all values; fill counts, flags and the edits (items, values).

    Returns the first user not done (the buffers were full before it, or `stop`) and how much of the buffers is used.
    """
    n_items, m = W.shape
    aims = 1 if aim == CONFIDENCE else aim + 1
    longest = 0
    for u in range(start, stop):
        longest = max(longest, indptr[u + 1] - indptr[u])
    own_weights, slope, gain = np.empty((m, longest)), np.empty(longest), np.empty(longest)
    own_x, own_now = np.empty(longest), np.empty(longest)
    own_way, own_fixed = np.empty(longest, np.int8), np.empty(longest, np.int8)
    new, new_now = np.empty(n_items, np.int32), np.empty(n_items)
    blocked = np.zeros(n_items, np.uint8)
    base, scores, trial = np.empty(m), np.empty(m), np.empty(m)
    first_shares, shares = np.empty(m), np.empty(m)
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
        if aim >= PROBABILITY:
            _shares(base, SHARPNESS if aim == PROBABILITY else 1.0, first_shares)
        user_start = used
        for i in range(m):
            counts[u, i], flags[u, i] = 0, 0
            limit, end = max_steps, used
            # The policy asked for, then Modify_Add; on each the aim asked for, then those before it.
            for attempt in range(2 * aims):
                extended, now_aim = attempt >= aims, aim - attempt % aims
                if extended and (not extend or (modify and add)):
                    break
                for s in range(n_own):  # loops, since slices cost more than these few entries
                    own_now[s], own_way[s] = own_x[s], own_fixed[s]
                for v in range(m):
                    scores[v] = base[v]
                may_modify, may_add, listed = modify or extended, add or extended, now_aim in (aim, LEAD)
                reached, n_new, taken = _attempt(
                    i, may_modify, may_add, now_aim, decrease, listed, first_shares,
                    W, upper, jump, heads, ranked, bounds, whole, step, levels, kappa[u], limit,
                    own, own_weights, own_now, own_way, slope, gain,
                    new, new_now, blocked, scores, trial, shares,
                )  # fmt: skip
                for s in range(n_new):
                    blocked[new[s]] = FREE
                found = flags[u, i] != 0
                if reached:
                    changed = n_new
                    for s in range(n_own):
                        changed += own_now[s] != own_x[s]
                    if not found or changed < counts[u, i]:
                        end = _emit(own, own_x, own_now, n_own, new, new_now, n_new, items, values, used)
                        if end < 0:
                            return u, user_start
                        counts[u, i] = changed
                        flags[u, i] = REACHED | (EXTENDED if extended else 0)
                # A single step on the lead was tried; in two steps or more it may be there before the probability.
                if found or (reached and (not shorter or now_aim != PROBABILITY or taken < 3)):
                    break
                if reached:
                    limit = taken - 2  # of fewer steps: a limit of n allows n + 1
            used = end
        for s in range(n_own):
            blocked[own[s]] = FREE
        for s in range(locked_indptr[u], locked_indptr[u + 1]):
            blocked[locked_indices[s]] = FREE
    return stop, used
