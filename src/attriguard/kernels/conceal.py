"""The search of the goal "conceal": the changes that lower most what an ensemble infers from a user's ratings.

The leakage of a user's ratings is what they say of the user's own value, in nats: log(mean posterior / target) there,
or 0 where they say no more of it than they shall. Where that value is not known, it is what is expected of the value,
each value being as likely as the user's own ratings say. The target is a share of the prior, which is what the ensemble
would say without ratings. A changed entry moves every member's pre-activations by one row of the first layer; the layer
after it is small. The compiler may reorder the sums, but does so in the same way for every user, so the result does not
depend on the number of threads.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numba.core import types as nb

from attriguard.kernels.types import ROWS, const, out

FAST = {"contract", "reassoc", "nsz"}
# What an item is to a user: it may be added, it may be removed, or it stays as it is.
OTHER, OWN, FIXED = 0, 1, 2
# So many changes are tried at a time: `_add_up` has a sum for each.
TOGETHER = 5


@njit(cache=True, nogil=True, fastmath=FAST)
def _exponentials(scores: Any, bits: Any, powers: Any) -> None:
    """Replace scores of at most 0 by their exponentials; `powers` are the bits of `bits` as float32.

    2^x is 2^n, whose bits are known, times 2^f with f in [-0.5, 0.5], which a polynomial gives to 1e-7. Unlike the
    library's function, it runs in vector registers.
    """
    for v in range(scores.shape[0]):
        x = max(scores[v] * np.float32(1.4426950408889634), np.float32(-120.0))
        n = np.floor(x + np.float32(0.5))
        f = x - n
        p = np.float32(1.5403530e-4)
        p = p * f + np.float32(1.3333558e-3)
        p = p * f + np.float32(9.6181291e-3)
        p = p * f + np.float32(5.5504109e-2)
        p = p * f + np.float32(2.4022651e-1)
        p = p * f + np.float32(6.9314718e-1)
        scores[v] = p * f + np.float32(1.0)
        bits[v] = (np.int32(n) + np.int32(127)) << np.int32(23)
    for v in range(scores.shape[0]):
        scores[v] *= powers[v]


@njit(cache=True, nogil=True, fastmath=FAST)
def _add_up(active: Any, low: int, high: int, outputs: Any, bias: Any, scores: Any, place: int) -> None:
    """A member's scores for `TOGETHER` rows of its units, `low` to `high`; each weight is read once for all of them."""
    on0, on1, on2, on3, on4 = active[0], active[1], active[2], active[3], active[4]
    for v in range(bias.shape[0]):
        t0 = t1 = t2 = t3 = t4 = np.float32(0.0)
        weights = outputs[v, low:high]
        for h in range(weights.shape[0]):
            w = weights[h]
            t0 += on0[h] * w
            t1 += on1[h] * w
            t2 += on2[h] * w
            t3 += on3[h] * w
            t4 += on4[h] * w
        k, b = place + v, bias[v]
        scores[0, k], scores[1, k], scores[2, k], scores[3, k], scores[4, k] = t0 + b, t1 + b, t2 + b, t3 + b, t4 + b


@njit(cache=True, nogil=True, fastmath=FAST)
def _softmax(scores: Any, m: int, counts: Any, bits: Any, powers: Any, mean: Any) -> None:
    """Replace each member's scores, `m` after `m`, by its posterior; the mean counts each member as `counts` says."""
    zero, n = np.float32(0.0), scores.shape[0] // m
    for c in range(n):
        its, top = scores[c * m : (c + 1) * m], np.float32(-np.inf)
        for v in range(m):
            top = max(top, its[v])
        for v in range(m):
            its[v] -= top
    _exponentials(scores, bits, powers)
    mean[:] = zero
    for c in range(n):
        its, total = scores[c * m : (c + 1) * m], zero
        for v in range(m):
            total += its[v]
        part = np.float32(1.0) / total
        for v in range(m):
            its[v] *= part
            mean[v] += counts[c] * its[v]


@njit(cache=True, nogil=True, fastmath=FAST)
def _posteriors(
    pre: Any, W1: Any, changed: Any, moves: Any, places: Any, ends: Any, outputs: Any, b2: Any, counts: Any, work: Any
) -> None:  # fmt: skip
    """The members' posteriors, side by side, and their mean after each of at most `TOGETHER` changes, one at a time."""
    active, shares, means, bits, powers = work
    zero, m = np.float32(0.0), b2.shape[1]
    for c in range(b2.shape[0]):
        low, high = ends[c], ends[c + 1]
        before = pre[low:high]
        for t in range(places.shape[0]):
            row, move, its = W1[changed[places[t]], low:high], moves[places[t]], active[t, : high - low]
            for h in range(its.shape[0]):
                z = before[h] + move * row[h]
                its[h] = z if z > zero else zero
        _add_up(active, low, high, outputs, b2[c], shares, c * m)
    for t in range(places.shape[0]):
        _softmax(shares[t], m, counts, bits, powers, means[t])


@njit(cache=True, nogil=True, fastmath=FAST)
def _leakage(mean: Any, target: Any, belief: Any) -> Any:
    """Σ belief · max(0, log(mean posterior / target)): what is expected to be said of the user's own value."""
    leakage = np.float32(0.0)
    for v in range(mean.shape[0]):
        if belief[v] > np.float32(0.0) and mean[v] > target[v]:
            leakage += belief[v] * np.float32(math.log(mean[v] / target[v]))
    return leakage


@njit(cache=True, nogil=True, fastmath=FAST)
def _enter_row(indices: Any, data: Any, W1: Any, b1: Any, pre: Any) -> None:
    """The members' pre-activations for the ratings of one user."""
    pre[:] = b1
    for e in range(indices.shape[0]):
        x, row = data[e], W1[indices[e]]
        for h in range(pre.shape[0]):
            pre[h] += x * row[h]


@njit(cache=True, nogil=True, fastmath=FAST)
def _slopes(
    pre: Any, ends: Any, outputs: Any, counts: Any, shares: Any, mean: Any, target: Any, belief: Any, rises: Any,
    slope: Any,
) -> None:  # fmt: skip
    """How fast the leakage rises with each pre-activation, given the members' posteriors and their mean.

    `rises` is scratch, four longer than the values, and 0 there: five values are added at a time.
    """
    zero, n, m = np.float32(0.0), ends.shape[0] - 1, mean.shape[0]
    for v in range(m):  # the leakage's derivative by the mean
        mean[v] = belief[v] / mean[v] if mean[v] > target[v] else zero
    for c in range(n):
        low, high, share, middle = ends[c], ends[c + 1], shares[c * m : (c + 1) * m], zero
        for v in range(m):
            middle += share[v] * mean[v]
        for v in range(m):
            rises[v] = counts[c] * share[v] * (mean[v] - middle)
        own, before = slope[low:high], pre[low:high]
        own[:] = zero
        for v in range(0, m, 5):
            r0, r1, r2, r3, r4 = rises[v], rises[v + 1], rises[v + 2], rises[v + 3], rises[v + 4]
            w0, w1 = outputs[v, low:high], outputs[min(v + 1, m - 1), low:high]
            w2, w3 = outputs[min(v + 2, m - 1), low:high], outputs[min(v + 3, m - 1), low:high]
            w4 = outputs[min(v + 4, m - 1), low:high]
            for h in range(own.shape[0]):
                own[h] += r0 * w0[h] + r1 * w1[h] + r2 * w2[h] + r3 * w3[h] + r4 * w4[h]
        for h in range(own.shape[0]):
            own[h] = own[h] if before[h] > zero else zero


@njit(cache=True, nogil=True, fastmath=FAST)
def _product(weights: Any, slope: Any) -> Any:
    """The product of an item's first-layer row with the slopes."""
    total = np.float32(0.0)
    for h in range(slope.shape[0]):
        total += weights[h] * slope[h]
    return total


@njit(cache=True, nogil=True, fastmath=FAST)
def _apart(slope: Any, then: Any) -> tuple[Any, Any]:
    """The multiple of `then` that is closest to `slope`, and the norm of their difference."""
    both, square, rest = 0.0, 1e-300, 0.0  # in double precision, where squares of small slopes do not vanish
    for h in range(slope.shape[0]):
        both += np.float64(slope[h]) * then[h]
        square += np.float64(then[h]) * then[h]
    share = both / square
    for h in range(slope.shape[0]):
        rest += (slope[h] - share * then[h]) ** 2
    return share, math.sqrt(rest)


@njit(cache=True, nogil=True)
def _enter(rise: Any, place: int, rises: Any, places: Any, count: int) -> int:
    """Put a change among those that promise most, behind those that promise as much; gives their number."""
    if count == rises.shape[0]:
        if not rise < rises[count - 1]:
            return count
        count -= 1
    k = count
    while k > 0 and rise < rises[k - 1]:
        rises[k], places[k] = rises[k - 1], places[k - 1]
        k -= 1
    rises[k], places[k] = rise, place
    return count + 1


@njit(cache=True, nogil=True)
def _promising(
    slope: Any, then: Any, fresh: bool, W1: Any, changed: Any, moves: Any, state: Any, was: Any,
    rise: Any, reach: Any, rises: Any, places: Any,
) -> tuple[int, bool]:  # fmt: skip
    """The changes that promise most by the slopes now; how many there are, and whether to look at all again.

    `rise` holds what each change promised under the slopes `then`. The slopes now are a share of those and a rest; the
    rest moves what a change promises by no more than its norm times `reach`, the norm of the change's row (Cauchy and
    Schwarz). So most need not be looked at.
    """
    if fresh:
        then[:] = slope
    share, rest = _apart(slope, then)
    rest *= 1.001  # and what is lost by rounding
    count, looked, left = 0, 0, 0
    for place in range(changed.shape[0]):
        if state[changed[place]] != was[place]:
            continue
        left += 1
        if not fresh and count == rises.shape[0] and share * rise[place] - rest * reach[place] > rises[count - 1]:
            continue
        looked += 1
        weights = W1[changed[place]]
        now = moves[place] * _product(weights, slope)
        if fresh:
            rise[place], reach[place] = now, abs(moves[place]) * np.float32(math.sqrt(_product(weights, weights)))
        count = _enter(now, place, rises, places, count)
    return count, not fresh and 4 * looked > left


@njit(
    nb.void(
        *ROWS, const(nb.uint8, 1), const(nb.int32, 1), const(nb.float32, 1), const(nb.int64, 1), const(nb.int32, 1),
        *ROWS,
        const(nb.float32, 2), const(nb.float32, 1), const(nb.int64, 1), const(nb.float32, 2), const(nb.float32, 2),
        const(nb.float32, 1), const(nb.float32, 1), const(nb.int64, 1), nb.float64, nb.float64, nb.int64, nb.float64,
        nb.int64, nb.int64,
        out(nb.int64, 1), out(nb.int32, 2), out(nb.float32, 2), out(nb.float32, 2),
    ),
    cache=True,
    nogil=True,
)  # fmt: skip
def conceal_rows(
    indptr: Any, indices: Any, data: Any, free: Any, pool: Any, entry: Any, locked_indptr: Any, locked: Any,
    own_indptr: Any, own_indices: Any, own_data: Any,
    W1: Any, b1: Any, ends: Any, outputs: Any, b2: Any, counts: Any, priors: Any, truth: Any, left: float,
    guessed: float, tried: int, price: float, start: int, stop: int, found: Any, items: Any, values: Any, leakage: Any,
) -> None:  # fmt: skip
    """For users `start` to `stop`: one change after another, each the one with the least leakage after it.

    A change removes one of the user's ratings that is `free`, or adds an item of the `pool` with its value in `entry`,
    if the user has not rated it and it is not `locked`. Of all changes, the `tried` that promise most by the slope of
    the leakage are tried out; of equally good ones, the more promising is taken. `counts` says what each member
    counts. Where `truth` has a user's value, the target is `left` times the prior. It has -1, or nothing at all, where
    the value is not known: then the target is `guessed` times the prior, and how likely each value is, the user's
    ratings say, or the `own` ones, where they are given: a row for every user, or none at all. A leakage of 0 ends the
    search. A user gets no more changes once no larger number of them can be worth `price` nats each; below 0, nothing
    else ends the search. `found` counts a user's changes, `items` and `values` list them in order, `leakage` holds the
    leakage before the first change and after each; where a user has fewer changes, the last one is repeated.
    """
    hidden, (n_members, m), most = b1.shape[0], b2.shape, items.shape[1]
    pre, slope, then = np.empty(hidden, np.float32), np.empty(hidden, np.float32), np.empty(hidden, np.float32)
    active, shares = np.zeros((TOGETHER, hidden), np.float32), np.empty((TOGETHER, n_members * m), np.float32)
    means, bits = np.empty((TOGETHER, m), np.float32), np.empty(n_members * m, np.int32)
    work = (active, shares, means, bits, bits.view(np.float32))
    # The posteriors of the row as it is, which are those after no change at all.
    share, mean = np.empty(n_members * m, np.float32), np.empty(m, np.float32)
    unmoved = (np.zeros(1, np.int32), np.zeros(1, np.float32), np.zeros(1, np.int64))
    longest = pool.shape[0]
    for u in range(start, stop):
        longest = max(longest, pool.shape[0] + indptr[u + 1] - indptr[u])
    changed, moves, was = np.empty(longest, np.int32), np.empty(longest, np.float32), np.empty(longest, np.uint8)
    rise, reach = np.empty(longest, np.float32), np.empty(longest, np.float32)
    rises, places = np.empty(min(tried, longest), np.float32), np.empty(min(tried, longest), np.int64)
    state, none = np.zeros(W1.shape[0], np.uint8), np.float32(0.0)
    target, belief, scratch = np.empty(m, np.float32), np.empty(m, np.float32), np.zeros(m + 4, np.float32)
    for u in range(start, stop):
        first, last = indptr[u], indptr[u + 1]
        value = truth[u] if truth.shape[0] > 0 else -1
        target[:] = priors * np.float32(left if value >= 0 else guessed)
        _enter_row(indices[first:last], data[first:last], W1, b1, pre)
        _posteriors(pre, W1, *unmoved, ends, outputs, b2, counts, work)
        share[:], mean[:] = shares[0], means[0]
        if value >= 0:
            belief[:] = none
            belief[value] = np.float32(1.0)
        elif own_indptr.shape[0] > 1:
            low, high = own_indptr[u], own_indptr[u + 1]
            _enter_row(own_indices[low:high], own_data[low:high], W1, b1, then)
            _posteriors(then, W1, *unmoved, ends, outputs, b2, counts, work)
            belief[:] = means[0]
        else:
            belief[:] = mean
        for e in range(first, last):
            state[indices[e]] = OWN if free[e] else FIXED
        for e in range(locked_indptr[u], locked_indptr[u + 1]):
            state[locked[e]] = FIXED
        # All changes there are: the user's own ratings, then the pool's items.
        n, fresh = 0, True
        for e in range(first, last):
            changed[n], moves[n], was[n] = indices[e], -data[e], OWN
            n += 1
        for p in range(pool.shape[0]):
            changed[n], moves[n], was[n] = pool[p], entry[p], OTHER
            n += 1
        leakage[u, 0] = _leakage(mean, target, belief)
        found[u], lowest = 0, np.float64(leakage[u, 0])
        for k in range(most):
            if price * (k + 1) > lowest or leakage[u, k] <= none:
                break
            _slopes(pre, ends, outputs, counts, share, mean, target, belief, scratch, slope)
            count, fresh = _promising(
                slope, then, fresh, W1, changed[:n], moves[:n], state, was[:n], rise[:n], reach[:n], rises, places
            )  # fmt: skip
            best, item, change = np.float32(np.inf), -1, none
            for tries in range(0, count, TOGETHER):
                some = places[tries : min(tries + TOGETHER, count)]
                _posteriors(pre, W1, changed, moves, some, ends, outputs, b2, counts, work)
                for t in range(some.shape[0]):
                    after = _leakage(means[t], target, belief)
                    if after < best:
                        best, item, change = after, changed[some[t]], moves[some[t]]
                        share[:], mean[:] = shares[t], means[t]
            if item < 0:
                break
            state[item] = FIXED
            row = W1[item]
            for h in range(hidden):
                pre[h] += change * row[h]
            items[u, k], values[u, k], leakage[u, k + 1] = item, max(change, none), best
            found[u] = k + 1
            lowest = min(lowest, np.float64(best) + price * (k + 1))
        for k in range(found[u], most):
            leakage[u, k + 1] = leakage[u, k]
        for e in range(first, last):
            state[indices[e]] = OTHER
        for e in range(locked_indptr[u], locked_indptr[u + 1]):
            state[locked[e]] = OTHER
        for k in range(found[u]):
            state[items[u, k]] = OTHER


@njit(
    nb.void(
        *ROWS, const(nb.float32, 2), const(nb.float32, 1), const(nb.int64, 1), const(nb.float32, 2),
        const(nb.float32, 2), const(nb.float32, 1), nb.int64, nb.int64, out(nb.float64, 2),
    ),
    cache=True,
    nogil=True,
)  # fmt: skip
def posterior_rows(
    indptr: Any, indices: Any, data: Any, W1: Any, b1: Any, ends: Any, outputs: Any, b2: Any, counts: Any,
    start: int, stop: int, posterior: Any,
) -> None:  # fmt: skip
    """For users `start` to `stop`: the mean of the members' posteriors, each as much as `counts` says."""
    (n_members, m), pre = b2.shape, np.empty(b1.shape[0], np.float32)
    means, bits = np.empty((TOGETHER, m), np.float32), np.empty(n_members * m, np.int32)
    active, shares = np.zeros((TOGETHER, pre.shape[0]), np.float32), np.empty((TOGETHER, n_members * m), np.float32)
    unmoved = (np.zeros(1, np.int32), np.zeros(1, np.float32), np.zeros(1, np.int64))
    for u in range(start, stop):
        first, last = indptr[u], indptr[u + 1]
        _enter_row(indices[first:last], data[first:last], W1, b1, pre)
        work = (active, shares, means, bits, bits.view(np.float32))
        _posteriors(pre, W1, *unmoved, ends, outputs, b2, counts, work)
        posterior[u] = means[0]
