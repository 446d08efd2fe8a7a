"""Cells: free ones are found from taken ones."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from attriguard.defenses import cells


@given(seed=st.integers(0, 2**32 - 1), n_users=st.integers(0, 5), n_items=st.integers(1, 7))
def test_free_cells_are_what_is_not_taken(seed, n_users, n_items):
    chance = np.random.default_rng(seed)
    dense = (
        (chance.random((n_users, n_items)) < chance.random()) * chance.integers(1, 6, (n_users, n_items)) / 5
    ).astype(np.float32)
    X = csr_array(dense)
    free = np.flatnonzero(dense.ravel() == 0)
    taken = cells.taken_cells(X)
    np.testing.assert_array_equal(taken, np.flatnonzero(dense.ravel()))
    np.testing.assert_array_equal(cells.free_cells(taken, np.arange(free.size)), free)
    per_user = [np.count_nonzero(row == 0) for row in dense]
    np.testing.assert_array_equal(cells.first_free(X), np.cumsum([0, *per_user]))

    chosen = chance.permutation(free)[: free.size // 2]
    more = dense.copy()
    more.ravel()[chosen] = 0.4
    np.testing.assert_array_equal(cells.with_ratings(X, chosen, np.full(chosen.size, 0.4, np.float32)).toarray(), more)

    dropped = chance.random(X.nnz) < 0.5
    less = dense.copy()
    less.ravel()[taken[dropped]] = 0
    np.testing.assert_array_equal(cells.without_ratings(X, dropped).toarray(), less)
