"""Which items give the attribute away: known answers."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from sklearn.metrics import mutual_info_score

from attriguard.evaluation.revealing import FEWEST_USERS, revealing_items


def test_a_perfect_item_tells_one_bit():
    y = np.repeat([0, 1], 50)
    X = np.zeros((100, 3), dtype=np.float32)
    X[y == 1, 0] = 0.4  # rated by all of value 1 and by nobody else
    X[::2, 1] = 1.0  # says nothing
    found = revealing_items(csr_array(X), y, 2)
    assert [item.column for item in found] == [0, 1]
    assert found[0].bits == 1.0
    assert (found[0].value, found[0].lift, found[0].users) == (1, 2.0, 50)
    assert abs(found[1].bits) < 1e-12


def test_it_is_mutual_information_and_small_items_and_undisclosed_users_are_left_out():
    rng = np.random.default_rng(0)
    y = rng.integers(-1, 4, size=400)
    X = csr_array((rng.random((400, 30)) < rng.random(30) * 0.2).astype(np.float32))
    known = y >= 0
    rated = X.toarray()[known] > 0
    found = revealing_items(X, y, 4, most=30)
    assert [item.bits for item in found] == sorted((item.bits for item in found), reverse=True)
    assert {item.column for item in found} == set(np.flatnonzero(rated.sum(axis=0) >= FEWEST_USERS))
    for item in found:
        assert np.isclose(item.bits, mutual_info_score(rated[:, item.column], y[known]) / np.log(2))
