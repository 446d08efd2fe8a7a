"""Slow NumPy twins of the kernels, one (user, value) at a time, every item looked at in every step.

They say what the kernels must compute, to the last bit; the tests compare the two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a search may do: the policy, the step, and what must not be touched."""

    modify: bool
    add: bool
    margin: bool
    extend: bool
    step: float
    levels: int
    kappa: float
    max_steps: int
    upper: NDArray[np.float64]
    jump: bool


def _moved(current: float, target: float, levels: int) -> float:
    value = target
    if levels:
        level, here = np.rint(target * levels), np.rint(current * levels)
        if target > current:
            level = max(level, here + 1)
        elif target < current:
            level = min(level, here - 1)
        value = min(1.0, max(0.0, level / levels))
    return float(np.float32(value))


def _infers(scores: NDArray[np.float64], i: int, kappa: float) -> bool:
    if kappa > 0:
        return bool(scores[i] - np.delete(scores, i).max() >= kappa)
    return int(np.argmax(scores)) == i


def best_move(
    start: NDArray[np.float64],
    now: NDArray[np.float64],
    way: NDArray[np.int8],
    gradient: NDArray[np.float64],
    fixed: NDArray[np.bool_],
    rules: Rules,
) -> tuple[int, float] | None:
    """The entry that gains most and what it becomes; None where nothing is left to gain. `way` is kept up to date."""
    old, new = start != 0, start == 0
    inc = np.full(start.size, -np.inf)
    dec = np.full(start.size, -np.inf)
    if rules.modify:
        can = old & ~fixed
        rise, fall = can & (now < 1) & (way >= 0), can & (now > 0) & (way <= 0)
        inc[rise] = (1 - now[rise]) * gradient[rise]
        dec[fall] = -now[fall] * gradient[fall]
    if rules.add:
        fresh = new & ~fixed & (rules.upper > 0) & (way == 0)
        again = new & (way == 1) & (now < 1) & (not rules.jump)
        inc[fresh] = rules.upper[fresh] * gradient[fresh]
        inc[again] = (1 - now[again]) * gradient[again] if rules.modify else gradient[again]
    e_inc, e_dec = int(np.argmax(inc)), int(np.argmax(dec))
    best = max(inc[e_inc], dec[e_dec])
    if best == -np.inf or (best <= 0 and (rules.modify or rules.margin)):
        return None
    if inc[e_inc] >= dec[e_dec]:
        way[e_inc] = 1
        if new[e_inc] and rules.jump:
            return e_inc, float(rules.upper[e_inc])
        return e_inc, _moved(now[e_inc], min(1.0, now[e_inc] + rules.step), rules.levels)
    way[e_dec] = -1
    return e_dec, _moved(now[e_dec], max(0.0, now[e_dec] - rules.step), rules.levels)


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
    rules: Rules,
) -> NDArray[np.float64] | None:
    """Algorithm 1 on dense vectors; None where it does not reach value i."""
    start = x.astype(np.float64)
    now = start.copy()
    way = np.zeros(x.size, dtype=np.int8)
    scores = b.copy()
    for j in np.flatnonzero(start):
        scores += start[j] * W[j]
    taken = 0
    while not _infers(scores, i, rules.kappa):
        gradient = W[:, i] - (W[:, rival_of(scores, i)] if rules.margin else 0.0)
        move = best_move(start, now, way, gradient, fixed, rules) if taken <= rules.max_steps else None
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
    rules: Rules,
) -> NDArray[np.float64] | None:
    """Algorithm 1 on any differentiable classifier, everything computed anew in every step.

    `decide(x)` gives C_1 … C_m, `slope(x, i, k)` the gradient of C_i − C_k (of C_i for k = -1).
    """
    start = x.astype(np.float64)
    now, way, taken = start.copy(), np.zeros(x.size, dtype=np.int8), 0
    while not _infers(scores := decide(now), i, rules.kappa):
        gradient = slope(now, i, rival_of(scores, i) if rules.margin else -1)
        move = best_move(start, now, way, gradient, fixed, rules) if taken <= rules.max_steps else None
        if move is None:
            return None
        now[move[0]] = move[1]
        taken += 1
    return now


def greedy_search(
    x: NDArray[np.float32],
    W: NDArray[np.float64],
    b: NDArray[np.float64],
    i: int,
    *,
    fixed: NDArray[np.bool_],
    rules: Rules,
) -> tuple[NDArray[np.float64] | None, bool]:
    """What a user's data becomes on the way to value i (None: not reached), and whether the policy was extended."""
    return attempts(rules, lambda attempt: _run(x, W, b, i, fixed, attempt))


def attempts(
    rules: Rules, run: Callable[[Rules], NDArray[np.float64] | None]
) -> tuple[NDArray[np.float64] | None, bool]:
    """The policy asked for, then Modify_Add; on each the search asked for, then C_i alone."""
    policies = [rules]
    if rules.extend and not (rules.modify and rules.add):
        policies.append(replace(rules, modify=True, add=True))
    for policy in policies:
        for margin in (True, False) if rules.margin else (False,):
            found = run(replace(policy, margin=margin))
            if found is not None:
                return found, policy is not rules
    return None, False


def solve_row(p: NDArray[np.float64], cost: NDArray[np.float64], budget: float) -> NDArray[np.float64]:
    """Twin of `kkt.solve_rows` for one user: bisection on the price ν of a unit of cost.

    M_i = p_i s / (1 + ν d_i) with d_i the cost above the cheapest value, s such that the M_i sum to 1; the expected
    cost falls as ν rises. A value of weight 0 takes part with weight 1e-300: it is used where nothing else fits.
    """
    q = np.where(np.isfinite(cost), np.maximum(p, 1e-300), 0.0)
    q /= q.sum()
    c = np.where(np.isfinite(cost), cost, 0.0)
    if q @ c <= budget:
        return q
    d = c - c[q > 0].min()

    def mechanism(log_price: float) -> NDArray[np.float64]:
        # In logarithms, since the price may run far beyond what a float holds.
        log_weight = np.where(q > 0, np.log(np.maximum(q, 1e-320)), -np.inf) - np.logaddexp(
            0.0, log_price + np.log(np.maximum(d, 1e-320))
        )
        weight = np.exp(log_weight - log_weight.max())
        return np.asarray(weight / weight.sum())

    low, high = -800.0, 1600.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if mechanism(middle) @ c > budget else (low, middle)
    return mechanism(high)


def apply_edits(x: NDArray[np.float32], items: NDArray[np.int32], values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Twin of `edits.merge_rows` for one user's dense row."""
    row = x.copy()
    row[items] = values
    return row


def l2_cost(x: NDArray[np.float32], items: NDArray[np.int32], values: NDArray[np.float32]) -> float:
    """Twin of `edits.l2_costs` for one (user, value)."""
    return float(np.linalg.norm(values.astype(np.float64) - x[items].astype(np.float64)))


def conceal(
    x: NDArray[np.float32],
    posterior: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    prior: NDArray[np.float64],
    fixed: NDArray[np.bool_],
    additions: dict[int, float],
    most: int,
) -> tuple[list[int], list[float]]:
    """Twin of `conceal.conceal_rows` for one user's dense row, everything predicted anew in every step.

    Own ratings that are not fixed may be removed; ``additions`` maps items that may be added to their value. Gives the
    changed items in order, and KL(posterior ‖ prior) before the first and after each.
    """

    def told(row: NDArray[np.float64]) -> float:
        p = posterior(row)
        return float((p * np.log(np.maximum(p, 1e-300) / prior)).sum())

    now = x.astype(np.float64)
    left = [(int(j), 0.0) for j in np.flatnonzero(x) if not fixed[j]]
    left += [(j, value) for j, value in additions.items() if x[j] == 0 and not fixed[j]]
    changes, course = [], [told(now)]
    for _ in range(min(most, len(left))):
        after = []
        for j, value in left:
            trial = now.copy()
            trial[j] = value
            after.append(told(trial))
        best = int(np.argmin(after))
        item, value = left.pop(best)
        now[item] = value
        changes.append(item)
        course.append(after[best])
    return changes, course
