"""Twin of Algorithm 1: one (user, value) pair at a time, every item looked at in every step."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attriguard.kernels.aims import CONFIDENCE, LEAD, PROBABILITY, SHARPNESS, VALUE
from attriguard.kernels.greedy import EXTENDED, REACHED
from attriguard.kernels.reference.arrays import Floats, Ints, dense
from attriguard.kernels.reference.moves import GreedyOptions, best_move


class Found(NamedTuple):
    """Where a run ended."""

    now: NDArray[np.float64]  # what the user's data has become
    changed: int  # entries
    taken: int  # steps


def _infers(scores: NDArray[np.float64], i: int, kappa: float) -> bool:
    """Whether value i is inferred, with a lead of at least κ."""
    if kappa > 0:
        return bool(scores[i] - np.delete(scores, i).max() >= kappa)
    return int(np.argmax(scores)) == i


def rival_of(scores: NDArray[np.float64], i: int) -> int:
    """The value that leads C_i or follows it closest."""
    rivals = scores.copy()
    rivals[i] = -np.inf
    return int(np.argmax(rivals))


def _run(
    x: NDArray[np.float32],
    W: NDArray[np.float64],
    b: NDArray[np.float64],
    i: int,
    fixed: NDArray[np.bool_],
    options: GreedyOptions,
) -> Found | None:
    """Algorithm 1 on dense vectors; None where it does not reach value i."""
    start = x.astype(np.float64)
    now = start.copy()
    way = np.zeros(x.size, dtype=np.int8)
    scores = b.copy()
    for j in np.flatnonzero(start):
        scores += start[j] * W[j]
    taken = 0
    while not _infers(scores, i, options.kappa):
        k = rival_of(scores, i)
        alone, lead = W[:, i], W[:, i] - W[:, k]
        turns = [alone] if options.aim == VALUE else [lead]
        if options.aim == PROBABILITY:
            turns.append(mixed_slope(scores, W, i, SHARPNESS))
        if options.aim == CONFIDENCE:
            turns = [mixed_slope(scores, W, i, 1.0)]
        move = None
        for gradient in turns if taken <= options.max_steps else []:
            trial_way = way.copy()
            found = best_move(start, now, trial_way, gradient, fixed, options)
            move, moved_way = found, trial_way
            if found is None:
                continue
            trial = scores + (found[1] - now[found[0]]) * W[found[0]]
            if _infers(trial, i, options.kappa):
                break
        if move is None:
            return None
        way, scores, now[move[0]] = moved_way, trial, move[1]
        taken += 1
    return Found(now, int((now != start).sum()), taken)


def mixed_slope(scores: NDArray[np.float64], W: NDArray[np.float64], i: int, sharpness: float) -> NDArray[np.float64]:
    """(items,): Σ_v s_v (W_i − W_v), with s the sharpened softmax of the scores.

    Four values are summed at a time, and so on a page and in the kernel: equal gains are then equal everywhere.
    """
    shares = [math.exp(sharpness * (score - scores.max())) for score in scores]
    total = 0.0
    for share in shares:
        total += share
    parts = [share / total * (W[:, i] - W[:, v]) for v, share in enumerate(shares)]
    slope, even = np.zeros(W.shape[0]), len(parts) - len(parts) % 4
    for v in range(0, even, 4):
        slope += (parts[v] + parts[v + 1]) + (parts[v + 2] + parts[v + 3])
    for part in parts[even:]:
        slope += part
    return slope


def run_on(
    x: NDArray[np.float32],
    decide: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    slope: Callable[[NDArray[np.float64], int, int], NDArray[np.float64]],
    i: int,
    fixed: NDArray[np.bool_],
    options: GreedyOptions,
) -> Found | None:
    """Algorithm 1 on any differentiable classifier, everything computed anew in every step.

    `decide(x)` gives C_1 … C_m, `slope(x, i, k)` the gradient of C_i − C_k (of C_i for k = -1).
    """
    start = x.astype(np.float64)
    now, way, taken = start.copy(), np.zeros(x.size, dtype=np.int8), 0
    while not _infers(scores := decide(now), i, options.kappa):
        gradient = slope(now, i, rival_of(scores, i) if options.aim == LEAD else -1)
        move = best_move(start, now, way, gradient, fixed, options) if taken <= options.max_steps else None
        if move is None:
            return None
        now[move[0]] = move[1]
        taken += 1
    return Found(now, int((now != start).sum()), taken)


def search_pair(
    x: NDArray[np.float32],
    W: NDArray[np.float64],
    b: NDArray[np.float64],
    i: int,
    *,
    fixed: NDArray[np.bool_],
    options: GreedyOptions,
) -> tuple[NDArray[np.float64] | None, bool]:
    """What a user's data becomes on the way to value i (None: not reached), and whether the policy was extended."""
    return attempts(options, lambda attempt: _run(x, W, b, i, fixed, attempt))


def attempts(
    options: GreedyOptions, run: Callable[[GreedyOptions], Found | None]
) -> tuple[NDArray[np.float64] | None, bool]:
    """The policy asked for, then Modify_Add; on each the aim asked for, then those before it.

    Where the search on the probability gets there, the one on the lead may be smaller, in fewer steps (``shorter``).
    """
    policies = [options]
    if options.extend and not (options.modify and options.add):
        policies.append(replace(options, modify=True, add=True))
    for policy in policies:
        for aim in [CONFIDENCE] if options.aim == CONFIDENCE else range(options.aim, VALUE - 1, -1):
            found = run(replace(policy, aim=aim))
            if found is None:
                continue
            if options.shorter and aim == PROBABILITY and found.taken > 2:
                other = run(replace(policy, aim=LEAD, max_steps=found.taken - 2))  # a limit of n allows n + 1 steps
                found = other if other is not None and other.changed < found.changed else found
            return found.now, policy is not options
    return None, False


def greedy_search(
    indptr: Ints, indices: Ints, data: Floats,
    locked_indptr: Ints, locked_indices: Ints,
    W: NDArray[np.float64], b: NDArray[np.float64],
    upper: NDArray[np.float64], jump: bool,
    heads: Ints, ranked: Ints, bounds: Floats, whole: bool,
    modify: bool, add: bool, aim: int, decrease: float, shorter: bool, extend: bool,
    step: float, levels: int, kappa: Floats, max_steps: int,
    start: int, stop: int,
    counts: Ints, flags: Ints, items: Ints, values: Floats,
) -> tuple[int, int]:  # fmt: skip
    """`search_pair` for all values of users ``start`` to ``stop``; the lists are not looked at.

    Returns the first user that was not done and how much of the buffers is used, as the kernel does.
    """
    X, used = dense(indptr, indices, data, W.shape[0]).astype(np.float32), 0
    for u in range(start, stop):
        options = GreedyOptions(
            modify=modify, add=add, aim=aim, decrease=decrease, shorter=shorter, extend=extend,
            step=step, levels=levels, kappa=float(kappa[u]), max_steps=max_steps, upper=upper, jump=jump,
        )  # fmt: skip
        fixed = upper < 0
        fixed[locked_indices[locked_indptr[u] : locked_indptr[u + 1]]] = True
        before = used
        for i in range(W.shape[1]):
            found, extended = search_pair(X[u], W, b, i, fixed=fixed, options=options)
            changed = np.flatnonzero(found != X[u]) if found is not None else np.empty(0, dtype=np.int64)
            if used + changed.size > items.size:
                return u, before
            counts[u, i] = changed.size
            flags[u, i] = 0 if found is None else REACHED | (EXTENDED if extended else 0)
            if found is not None:
                items[used : used + changed.size], values[used : used + changed.size] = changed, found[changed]
            used += changed.size
    return stop, used
