"""The next move of Algorithm 1, given the gradient: for many (user, value) pairs at once, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.core import types as nb

from attriguard.kernels.greedy import _moved
from attriguard.kernels.types import const, out


@njit(
    [
        nb.void(
            const(nb.int64, 1), const(nb.int64, 1),
            const(number, 2), const(nb.float32, 2), const(nb.boolean, 2), const(nb.float64, 1), nb.boolean,
            nb.boolean, nb.boolean, nb.boolean, nb.float64, nb.int64,
            out(nb.float32, 2), out(nb.int8, 2), out(nb.int64, 1), out(nb.float64, 1),
            nb.int64, nb.int64,
        )
        for number in (nb.float32, nb.float64)
    ],
    cache=True,
    nogil=True,
)  # fmt: skip
def best_moves(
    pairs: Any, users: Any,
    gradient: Any, start: Any, fixed: Any, upper: Any, jump: bool,
    modify: bool, add: bool, margin: bool, step: float, levels: int,
    now: Any, way: Any, chosen: Any, change: Any,
    first: int, last: int,
) -> None:  # fmt: skip
    """In each of the pairs `first` to `last` of the list, move the entry with the largest gain.

    `chosen` and `change` get the item and its change; `chosen` is -1 where no entry gains anything (Add_New on C_i goes
    on without a gain, as printed in the paper). `way` holds which way an entry has moved: it may only go on that way.
    """
    for at in range(first, last):
        p, u = pairs[at], users[pairs[at]]
        rise, fall, e_inc, e_dec = -np.inf, -np.inf, -1, -1
        for j in range(upper.shape[0]):
            if fixed[u, j]:
                continue
            g, x = np.float64(gradient[p, j]), np.float64(now[p, j])
            if start[u, j] != 0.0:
                if modify:
                    if x < 1.0 and way[p, j] >= 0 and (1.0 - x) * g > rise:
                        rise, e_inc = (1.0 - x) * g, j
                    if x > 0.0 and way[p, j] <= 0 and -x * g > fall:
                        fall, e_dec = -x * g, j
            elif add:
                if way[p, j] == 0:
                    if upper[j] > 0.0 and upper[j] * g > rise:
                        rise, e_inc = upper[j] * g, j
                elif x < 1.0 and not jump:
                    gain = (1.0 - x) * g if modify else g
                    if gain > rise:
                        rise, e_inc = gain, j
        chosen[p], change[p] = -1, 0.0
        best = max(rise, fall)
        if best == -np.inf or (best <= 0.0 and (modify or margin)):
            continue
        up = rise >= fall
        j = e_inc if up else e_dec
        before = np.float64(now[p, j])
        if up and jump and start[u, j] == 0.0:
            after = upper[j]
        else:
            after = _moved(before, min(1.0, before + step) if up else max(0.0, before - step), levels)
        now[p, j] = after
        way[p, j] = 1 if up else -1
        chosen[p], change[p] = j, np.float64(now[p, j]) - before
