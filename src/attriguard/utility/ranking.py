"""The best items of every user: a matrix product and a partial sort, a block of users at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_count

# Scores held at a time: 64 MB.
SCORES_A_BLOCK = 2**24


@dataclass(frozen=True, eq=False, kw_only=True)
class Factors:
    """What a recommender has learnt: user u would give item i the score ``users[u] · items[i] + bias[i]``.

    Terms that are equal for all items of a user are left out, since they do not change the order.
    """

    users: NDArray[np.float32]  # (n, rank)
    items: NDArray[np.float32]  # (items, rank)
    bias: NDArray[np.float32]  # (items,)

    def scores(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The scores of these users for all items, as an array of shape (rows, items)."""
        return np.asarray(self.users[rows] @ self.items.T + self.bias)


def top_items(
    factors: Factors, rated: csr_array, rows: NDArray[np.int64], n: int, *, block: int | None = None
) -> NDArray[np.int64]:
    """The n unrated items with the highest score for each of these users, best first, of shape (rows, n).

    Where a user has fewer than n unrated items, the rest of the row is -1. The order of equal scores is arbitrary, but
    the same in every call.
    """
    n_items = factors.items.shape[0]
    n = check_count(n, name="the number of items to recommend", high=n_items)
    block = block or max(1, SCORES_A_BLOCK // n_items)
    best = np.empty((rows.size, n), dtype=np.int64)
    for start in range(0, rows.size, block):
        span = rows[start : start + block]
        scores = factors.scores(span)
        seen = rated[span]
        scores[np.repeat(np.arange(span.size), np.diff(seen.indptr)), seen.indices] = -np.inf
        best[start : start + block] = _best(scores, n)
    return best


def _best(scores: NDArray[np.float32], n: int) -> NDArray[np.int64]:
    """Columns of the n highest finite scores of each row, in order."""
    columns = scores.shape[1]
    chosen = np.sort(np.argpartition(scores, columns - n, axis=1)[:, columns - n :], axis=1)
    found = np.take_along_axis(scores, chosen, axis=1)
    order = np.argsort(-found, axis=1, kind="stable")
    ranked = np.take_along_axis(chosen, order, axis=1)
    ranked[np.isneginf(np.take_along_axis(found, order, axis=1))] = -1
    return np.asarray(ranked, dtype=np.int64)
