"""Attackers who keep every release: what they look at, and what a ledger leaves them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

import attriguard as ag
from attriguard.attacks import Keeping, Logistic
from attriguard.attacks.kept import differences, shares, side_by_side, union
from attriguard.errors import ParameterError
from attriguard.evaluation.histories import CAPPED, KEYED, LEDGER, REDRAWN, arrivals, histories, upto
from attriguard.progress import Progress

KEY = b"0123456789abcdef"
FIRST, SECOND, THIRD = (
    csr_array(np.array([row], dtype=np.float32)) for row in ([0.2, 0.4, 0, 0], [0.2, 0, 0.6, 0], [0.8, 0, 0.6, 1.0])
)


def test_what_each_view_shows():
    releases = (FIRST, SECOND, THIRD)
    assert union(releases).toarray().tolist() == [pytest.approx([0.8, 0.4, 0.6, 1.0])]  # of two ratings the last
    last, gone, came = np.split(differences(releases).toarray()[0], 3)
    assert last == pytest.approx([0.8, 0, 0.6, 1.0])
    assert gone == pytest.approx([0, 0.4, 0, 0])
    assert came == pytest.approx([0, 0, 0.6, 1.0])
    assert shares(releases).toarray()[0, 4:] == pytest.approx([1, 1 / 3, 2 / 3, 1 / 3])


@pytest.fixture(scope="module")
def world():
    """Histories of 900 users by every scheme, after guards of the goal conceal; six releases."""
    data = ag.load_dataset("twin", n_users=1500, n_items=120, n_values=3, seed=3)
    learning, users = data.take(np.arange(600)), data.take(np.arange(600, 1500))
    guard = ag.AttriGuard(goal="conceal", members=2, budget=3.0, scale=data.scale, random_state=0)
    guard.fit(learning.X, learning.y)
    arrival = arrivals(users.X, 6, 0, first=0.5)
    return users, arrival, histories(users, arrival, [guard] * 6, KEY, 0, 4, Progress())


def test_ratings_arrive_evenly_and_all_of_them(world):
    users, arrival, _ = world
    counts = [upto(users, arrival, t).X.nnz for t in range(6)]
    assert counts[-1] == users.X.nnz
    assert counts[0] == pytest.approx(0.5 * users.X.nnz, rel=0.02)
    assert np.diff(counts) == pytest.approx(np.full(5, 0.1 * users.X.nnz), rel=0.1)


def test_a_ledger_leaves_no_difference_and_a_key_does(world):
    _, _, found = world
    for scheme, same in ((LEDGER, True), (CAPPED, True), (KEYED, False), (REDRAWN, False)):
        releases = found[scheme].releases
        assert ((union(releases) != releases[-1]).nnz == 0) is same
    assert found[CAPPED].changes <= 4 < found[LEDGER].changes


def test_who_keeps_everything_infers_more_without_a_ledger(world):
    users, _, found = world
    mine, test = np.arange(600), np.arange(600, 900)

    def accuracy(scheme, view):
        rows = side_by_side(found[scheme].releases)
        attack = Keeping(Logistic(), view, 6).fit(rows[mine], users.y[mine])
        return (attack.predict(rows[test]) == users.y[test]).mean()

    assert accuracy(KEYED, "union") > accuracy(KEYED, "last") + 0.03
    assert accuracy(LEDGER, "union") == accuracy(LEDGER, "last")
    assert accuracy(KEYED, "union") > max(accuracy(LEDGER, view) for view in ("union", "differences", "shares")) + 0.03


def test_the_average_over_draws_is_that_of_their_logarithms(world):
    users, _, found = world
    releases = found[REDRAWN].releases
    rows = side_by_side(releases)
    attack = Keeping(Logistic(), "average", 6).fit(rows, users.y)
    one = Logistic().fit(releases[-1], users.y)
    logs = np.mean([np.log(one.predict_proba(release)) for release in releases], axis=0)
    expected = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    assert attack.predict_proba(rows) == pytest.approx(expected, abs=1e-9)


def test_it_is_an_estimator_and_says_what_it_looks_at():
    attack = clone(Keeping(Logistic(), "shares", 3))
    assert attack.name == "LR-A on the shares"
    with pytest.raises(ParameterError, match="not 3 releases of the same items"):
        attack.fit(csr_array(np.eye(4, dtype=np.float32)), [0, 1, 0, 1])
    with pytest.raises(ParameterError, match="unknown view"):
        Keeping(Logistic(), "everything").fit(csr_array(np.eye(4, dtype=np.float32)), [0, 1, 0, 1])
