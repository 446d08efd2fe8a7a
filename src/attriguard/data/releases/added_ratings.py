"""Ratings of new rows, drawn from what the user's own ratings and those of the item by others let one expect.

Everything depends on the user's own ratings and on what the guard knows, so that blocks of users get the same as the
whole table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.data.habits import Habits
from attriguard.data.public_data import PublicData
from attriguard.data.releases.chance import Chance
from attriguard.data.releases.changes import new_entries


def draw_ratings(
    data: PublicData, X: csr_array, released: csr_array, items: NDArray[Any], chance: Chance, habits: Habits
) -> csr_array:
    """The released ratings, those of new rows drawn anew.

    ``X`` holds the users' ratings on the columns ``items`` of ``released``. A new rating stands as high among those of
    its item as one of the user's own does among those of its item; a user without any has no say in it.
    """
    new = new_entries(released, X)
    user, columns = np.searchsorted(released.indptr, new, side="right") - 1, released.indices[new].astype(np.int64)
    draws = chance.draws((data.users, user), (items, columns))
    position, own = draws.uniform("position"), np.diff(X.indptr)[user]
    rated = own > 0
    model = X.indptr[user[rated]] + draws.of(rated).choice("rating", own[rated])
    position[rated] = habits.position(X.indices[model].astype(np.int64), X.data[model], position[rated])
    values = released.data.copy()
    values[new] = habits.entries(columns, position, data.scale.levels)
    return csr_array((values, released.indices, released.indptr), shape=released.shape)
