"""Ratings of new rows: drawn from the user's own, since a row at the top of the scale tells that it is new.

A search adds ratings at the top of the scale, where they count most. Drawn ones count less, so that a value the search
had reached may be lost again: ``holds`` says which users a trial still serves, and only they get drawn ratings.
Everything depends on the user's own ratings alone, so that blocks of users get the same as the whole table. What others
gave the item is not looked at: where items differ much, a new rating that is odd for its item remains a clue.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.data.public_data import PublicData
from attriguard.data.releases.chance import Chance
from attriguard.data.releases.changes import find_entries

# How often a user's ratings are drawn, where a trial does not hold.
TURNS = 4
Holds = Callable[[csr_array], NDArray[np.bool_]]


def draw_ratings(
    data: PublicData, X: csr_array, released: csr_array, items: NDArray[Any], chance: Chance, holds: Holds | None
) -> csr_array:
    """The released ratings, those of new rows at the top of the scale drawn from the user's own.

    ``X`` holds the user's ratings on the columns ``items`` of ``released``. ``holds`` None: every trial does.
    """
    user = np.repeat(np.arange(released.shape[0]), np.diff(released.indptr))
    new = np.flatnonzero((find_entries(X, user, released.indices.astype(np.int64)) < 0) & (released.data == 1.0))
    own = np.diff(data.X.indptr)
    new = new[own[user[new]] > 0]
    draws = chance.draws((data.users, user[new]), (items, released.indices[new].astype(np.int64)))
    values, left = released.data.copy(), np.bincount(user[new], minlength=own.size) > 0
    for turn in range(TURNS):
        if not left.any():
            break
        trial = released.data.copy()
        trial[new] = data.X.data[data.X.indptr[user[new]] + draws.choice("rating", own[user[new]], turn)]
        done = left if holds is None else left & holds(_with(released, trial))
        mine = new[done[user[new]]]
        values[mine] = trial[mine]
        left = left & ~done
    return _with(released, values)


def _with(released: csr_array, values: NDArray[np.float32]) -> csr_array:
    return csr_array((values, released.indices, released.indptr), shape=released.shape)
