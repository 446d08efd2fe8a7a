"""Attackers who keep every release: what they look at, and what a ledger leaves them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

import attriguard as ag
from attriguard.attacks import KEEPING, Logistic, OnAverage, OnDifferences, OnHistory, OnShares, OnTurnover
from attriguard.attacks.kept import side_by_side, union
from attriguard.data.named.twin_dates import twin_days
from attriguard.errors import ParameterError
from attriguard.evaluation.histories import CAPPED, KEYED, LEDGER, REDRAWN, arrivals, dated_arrivals, histories, upto
from attriguard.progress import Progress

KEY = b"0123456789abcdef"
FIRST, SECOND, THIRD = (
    csr_array(np.array([row], dtype=np.float32)) for row in ([0.2, 0.4, 0, 0], [0.2, 0, 0.6, 0], [0.8, 0, 0.6, 1.0])
)


def seen(attack, releases=(FIRST, SECOND, THIRD)):
    """What an attacker looks at, for one user, in pieces of four items."""
    (rows,) = attack(releases=len(releases)).look(releases)
    return np.split(rows.toarray()[0], rows.shape[1] // 4)


def test_what_each_of_them_looks_at():
    releases = (FIRST, SECOND, THIRD)
    assert union(releases).toarray().tolist() == [pytest.approx([0.8, 0.4, 0.6, 1.0])]  # of two ratings the last
    last, came, went = seen(OnDifferences)
    assert last == pytest.approx([0.8, 0, 0.6, 1.0])
    assert came == pytest.approx([0, 0, 0.5, 0.5])  # in which share of the two steps
    assert went == pytest.approx([0, 0.5, 0, 0])
    gone, new = seen(OnTurnover)
    assert gone == pytest.approx([0, 0.4, 0, 0])
    assert new == pytest.approx([0, 0, 0.6, 1.0])
    assert seen(OnShares)[1] == pytest.approx([1, 1 / 3, 2 / 3, 1 / 3])
    assert np.concatenate(seen(OnHistory)) == pytest.approx(np.concatenate([r.toarray()[0] for r in releases]))
    assert OnAverage(releases=3).look(releases) == releases


def test_a_rating_that_comes_and_goes_is_seen_in_the_differences():
    """Hidden in May, shown in June, hidden in July: the last release, and the union, do not say how often."""
    flickers = [csr_array(np.array([row], dtype=np.float32)) for row in ([1.0, 1], [0, 1.0], [1.0, 1], [0, 1.0])]
    (rows,) = OnDifferences(releases=4).look(flickers)
    assert rows.toarray()[0] == pytest.approx([0, 1, 1 / 3, 0, 2 / 3, 0])


def test_one_release_has_no_differences():
    for name in KEEPING:
        attack = ag.attacks.get(name)
        rows = attack.look([FIRST])[-1].toarray()[0]
        assert rows[:4] == pytest.approx([0] * 4 if name == "TURN-A" else FIRST.toarray()[0])


@pytest.fixture(scope="module")
def world():
    """Histories of 1,800 users by every scheme, after guards of the goal conceal; six releases."""
    data = ag.load_dataset("twin", n_users=2400, n_items=120, n_values=3, seed=3)
    learning, users = data.take(np.arange(600)), data.take(np.arange(600, 2400))
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
    mine, test = np.arange(1200), np.arange(1200, 1800)

    def accuracy(scheme, name):
        rows = side_by_side(found[scheme].releases)
        attack = ag.attacks.get(name, releases=6).fit(rows[mine], users.y[mine])
        return (attack.predict(rows[test]) == users.y[test]).mean()

    def last(scheme):
        rows = found[scheme].releases[-1]
        return (Logistic().fit(rows[mine], users.y[mine]).predict(rows[test]) == users.y[test]).mean()

    assert accuracy(KEYED, "UNION-A") > last(KEYED) + 0.03
    assert accuracy(LEDGER, "UNION-A") == last(LEDGER)
    assert accuracy(KEYED, "UNION-A") > max(accuracy(LEDGER, name) for name in KEEPING) + 0.03


def test_the_average_over_draws_is_that_of_their_logarithms(world):
    users, _, found = world
    releases = found[REDRAWN].releases
    rows = side_by_side(releases)
    attack = OnAverage(Logistic(), 6).fit(rows, users.y)
    one = Logistic().fit(releases[-1], users.y)
    logs = np.mean([np.log(one.predict_proba(release)) for release in releases], axis=0)
    expected = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    assert attack.predict_proba(rows) == pytest.approx(expected, abs=1e-9)


def test_they_are_estimators_with_names():
    assert list(KEEPING) == ["UNION-A", "DIFF-A", "TURN-A", "HIST-A", "SHARE-A", "MEAN-A"]
    assert [attack.name for attack in ag.attacks.keeping(3)] == list(KEEPING)
    attack = clone(ag.attacks.get("SHARE-A", base=ag.attacks.get("MLP-A"), releases=3))
    assert attack.name == "SHARE-A by MLP-A"
    with pytest.raises(ParameterError, match="not 3 releases of the same items"):
        attack.fit(csr_array(np.eye(4, dtype=np.float32)), [0, 1, 0, 1])
    with pytest.raises(ParameterError, match="releases"):
        ag.attacks.get("UNION-A", releases=0).fit(csr_array(np.eye(4, dtype=np.float32)), [0, 1, 0, 1])
    with pytest.raises(ParameterError, match="unknown attack 'UNION-A'"):
        ag.evaluate(ag.load_dataset("twin", n_users=60, n_items=20, n_values=2), attacks=["UNION-A"], budgets=[1.0])


def test_the_twin_has_dates_and_arrives_by_them():
    data = ag.load_dataset("twin", n_users=400, n_items=100, n_values=3, dates=True)
    dates = data.to_arrow().column("date").to_numpy()
    assert dates.min() >= np.datetime64("2025-01-01")
    assert dates.max() < np.datetime64("2026-01-01")
    part = data.take(np.arange(100, 200))
    some = twin_days(part)  # the same days, whoever else is there
    assert (some == twin_days(data)[data.X.indptr[100] : data.X.indptr[200]]).all()
    arrival = dated_arrivals(twin_days(data), 12, first=0.5)
    assert (arrival == 0).mean() == pytest.approx(0.5, abs=0.01)
    assert set(arrival) == set(range(12))
    later = [u for u in range(400) if arrival[data.X.indptr[u] : data.X.indptr[u + 1]].min() > 0]
    assert later  # some users come after the first release
    released = ag.protect(data, budget=1.0, key=KEY, check=False, members=1)
    assert "date" in released.table.column_names
