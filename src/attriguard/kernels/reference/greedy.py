"""Twin of Algorithm 1: one (user, value) pair at a time, every item looked at in every step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from attriguard.kernels.greedy import EXTENDED, REACHED
from attriguard.kernels.reference.arrays import Bools, Floats, Ints, dense
from attriguard.kernels.reference.moves import GreedyOptions, best_move


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
) -> NDArray[np.float64] | None:
    """Algorithm 1 on dense vectors; None where it does not reach value i."""
    start = x.astype(np.float64)
    now = start.copy()
    way = np.zeros(x.size, dtype=np.int8)
    scores = b.copy()
    for j in np.flatnonzero(start):
        scores += start[j] * W[j]
    taken = 0
    while not _infers(scores, i, options.kappa):
        gradient = W[:, i] - (W[:, rival_of(scores, i)] if options.margin else 0.0)
        move = best_move(start, now, way, gradient, fixed, options) if taken <= options.max_steps else None
        if move is None:
            return None
        entry, after = move
        scores += (after - now[entry]) * W[entry]
        now[entry] = after
        taken += 1
    return now


def run_on(
    x: NDArray[np.float32],
    decide: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    slope: Callable[[NDArray[np.float64], int, int], NDArray[np.float64]],
    i: int,
    fixed: NDArray[np.bool_],
    options: GreedyOptions,
) -> NDArray[np.float64] | None:
    """Algorithm 1 on any differentiable classifier, everything computed anew in every step.

    `decide(x)` gives C_1 … C_m, `slope(x, i, k)` the gradient of C_i − C_k (of C_i for k = -1).
    """
    start = x.astype(np.float64)
    now, way, taken = start.copy(), np.zeros(x.size, dtype=np.int8), 0
    while not _infers(scores := decide(now), i, options.kappa):
        gradient = slope(now, i, rival_of(scores, i) if options.margin else -1)
        move = best_move(start, now, way, gradient, fixed, options) if taken <= options.max_steps else None
        if move is None:
            return None
        now[move[0]] = move[1]
        taken += 1
    return now


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
    options: GreedyOptions, run: Callable[[GreedyOptions], NDArray[np.float64] | None]
) -> tuple[NDArray[np.float64] | None, bool]:
    """The policy asked for, then Modify_Add; on each the search asked for, then C_i alone."""
    policies = [options]
    if options.extend and not (options.modify and options.add):
        policies.append(replace(options, modify=True, add=True))
    for policy in policies:
        for margin in (True, False) if options.margin else (False,):
            found = run(replace(policy, margin=margin))
            if found is not None:
                return found, policy is not options
    return None, False


def greedy_search(
    indptr: Ints, indices: Ints, data: Floats,
    locked_indptr: Ints, locked_indices: Ints,
    W: NDArray[np.float64], b: NDArray[np.float64],
    upper: NDArray[np.float64], jump: bool,
    ranked: Ints, ranked_end: Ints, whole: Bools,
    modify: bool, add: bool, margin: bool, extend: bool,
    step: float, levels: int, kappa: Floats, max_steps: int,
    start: int, stop: int,
    counts: Ints, flags: Ints, items: Ints, values: Floats,
) -> tuple[int, int]:  # fmt: skip
    """`search_pair` for all values of users ``start`` to ``stop``; the sorted lists (``ranked``) are not looked at.

    Returns the first user that was not done and how much of the buffers is used, as the kernel does.
    """
    X, used = dense(indptr, indices, data, W.shape[0]).astype(np.float32), 0
    for u in range(start, stop):
        options = GreedyOptions(
            modify=modify, add=add, margin=margin, extend=extend, step=step, levels=levels, kappa=float(kappa[u]),
            max_steps=max_steps, upper=upper, jump=jump,
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
