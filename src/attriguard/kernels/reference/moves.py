"""Twin of the kernel that makes the next move of Algorithm 1: every entry is looked at, one pair at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attriguard.kernels.aims import LEAD, PROBABILITY, VALUE
from attriguard.kernels.reference.arrays import Bools, Floats, Ints


@dataclass(frozen=True, kw_only=True)
class GreedyOptions:
    """How the greedy search goes about one (user, value) pair."""

    modify: bool  # existing entries may change
    add: bool  # new entries may be added
    aim: int  # what a step raises: VALUE, LEAD, PROBABILITY or CONFIDENCE
    extend: bool  # goes on with Modify_Add where the policy does not reach the value
    step: float  # how far one move goes
    levels: int  # of the rating scale, on which entries stay; 0: any number
    kappa: float  # the lead that C_i must have in the end
    max_steps: int
    upper: NDArray[np.float64]  # what an added entry may rise to; 0: not added, below 0: locked for everybody
    jump: bool  # an added entry takes its upper value at once
    decrease: float = 1.0  # on the way to a probability a decrease counts as so many times its gain
    shorter: bool = False  # the lead's way is taken where it is shorter than the probability's


def _moved(current: float, target: float, levels: int) -> float:
    """A step to ``target``, on the rating scale and by one level at least, as float32 holds it."""
    value = target
    if levels:
        level, here = np.rint(target * levels), np.rint(current * levels)
        if target > current:
            level = max(level, here + 1)
        elif target < current:
            level = min(level, here - 1)
        value = min(1.0, max(0.0, level / levels))
    return float(np.float32(value))


def best_move(
    start: NDArray[np.float64],
    now: NDArray[np.float64],
    way: NDArray[np.int8],
    gradient: NDArray[np.float64],
    fixed: NDArray[np.bool_],
    options: GreedyOptions,
) -> tuple[int, float] | None:
    """The entry that gains most and what it becomes; None where nothing is left to gain. ``way`` follows."""
    old, new = start != 0, start == 0
    inc = np.full(start.size, -np.inf)
    dec = np.full(start.size, -np.inf)
    if options.modify:
        can = old & ~fixed
        rise, fall = can & (now < 1) & (way >= 0), can & (now > 0) & (way <= 0)
        inc[rise] = (1 - now[rise]) * gradient[rise]
        dec[fall] = -((options.decrease if options.aim == PROBABILITY else 1.0) * now[fall]) * gradient[fall]
    if options.add:
        fresh = new & ~fixed & (options.upper > 0) & (way == 0)
        again = new & ~fixed & (way == 1) & (now < 1) & (not options.jump)
        inc[fresh] = options.upper[fresh] * gradient[fresh]
        inc[again] = (1 - now[again]) * gradient[again] if options.modify else gradient[again]
    e_inc, e_dec = int(np.argmax(inc)), int(np.argmax(dec))
    best = max(inc[e_inc], dec[e_dec])
    if best == -np.inf or (best <= 0 and (options.modify or options.aim != VALUE)):
        return None
    if inc[e_inc] >= dec[e_dec]:
        way[e_inc] = 1
        if new[e_inc] and options.jump:
            return e_inc, float(options.upper[e_inc])
        return e_inc, _moved(now[e_inc], min(1.0, now[e_inc] + options.step), options.levels)
    way[e_dec] = -1
    return e_dec, _moved(now[e_dec], max(0.0, now[e_dec] - options.step), options.levels)


def best_moves(
    pairs: Ints, users: Ints,
    gradient: Floats, start: Floats, fixed: Bools, upper: NDArray[np.float64], jump: bool,
    modify: bool, add: bool, margin: bool, step: float, levels: int,
    now: Floats, way: NDArray[np.int8], chosen: Ints, change: Floats,
    first: int, last: int,
) -> None:  # fmt: skip
    """Make the best move of pairs ``first`` to ``last`` of the list; ``chosen`` is -1 where there is none."""
    options = GreedyOptions(
        modify=modify, add=add, aim=LEAD if margin else VALUE, extend=False, step=step, levels=levels, kappa=0.0,
        max_steps=0, upper=upper, jump=jump,
    )  # fmt: skip
    for p in pairs[first:last]:
        row, before = start[users[p]].astype(np.float64), now[p].astype(np.float64)
        move = best_move(row, before, way[p], gradient[p].astype(np.float64), fixed[users[p]], options)
        chosen[p], change[p] = -1, 0.0
        if move is not None:
            chosen[p], now[p, move[0]] = move
            change[p] = float(now[p, move[0]]) - before[move[0]]
