"""A budget of everyone: an average over users, spent where it helps most, at one price for all."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import attriguard as ag
from attriguard.errors import ParameterError
from attriguard.goals.price import Price
from attriguard.mechanism.shared import SharedDivergence, counts_at, mechanism_at, price_of_changes, price_of_noise
from attriguard.mechanism.solver import kl_divergence, solve_mechanism
from attriguard.noise.removals import GUESSED_SHARE, ChangeSequences

KEY = "a secret of 16 b"
GOALS = ("mislead", "conceal", "both")


@pytest.fixture(scope="module")
def data() -> tuple[ag.PublicData, ag.PublicData]:
    return ag.load_dataset("twin", n_users=1_800, n_items=300, n_values=4).split(0.5, 0)


@pytest.fixture(scope="module", params=GOALS)
def guard(request, data) -> ag.AttriGuard:
    return ag.learn(data[0], goal=request.param, budget=2.0, budget_over="everyone", split=0.5, random_state=0)


def sequences(leakage: np.ndarray) -> ChangeSequences:
    n, most = leakage.shape[0], leakage.shape[1] - 1
    items = np.tile(np.arange(most, dtype=np.int32)[::-1], (n, 1))
    return ChangeSequences(np.full(n, most), items, np.zeros((n, most), np.float32), leakage.astype(np.float32))


@given(st.integers(0, 10_000))
@settings(max_examples=50)
def test_no_other_counts_leave_less_for_the_same_number_of_changes(seed: int) -> None:
    """Against all combinations of counts, for a few users."""
    rng = np.random.default_rng(seed)
    leakage = np.round(np.abs(rng.normal(size=(4, 4))), 2)
    gains = sequences(leakage).gains()
    total = int(rng.integers(1, 10))
    fewer, more = counts_at(gains, price_of_changes(gains, total))
    assert fewer.sum() <= total or fewer.sum() == 0
    users = np.arange(4)
    for counts in (fewer, more):
        left = leakage[users, counts].sum()
        others = [c for c in product(range(4), repeat=4) if sum(c) <= counts.sum()]
        assert left <= min(leakage[users, list(c)].sum() for c in others) + 1e-5


def test_gains_never_rise_and_add_up_to_what_is_gained() -> None:
    leakage = np.array([[1.0, 0.9, 0.2, 0.3], [0.5, 0.1, 0.05, 0.05]])
    gains = sequences(leakage).gains()
    # The second change gains more than the first, so both count as what they gain together.
    assert gains == pytest.approx(np.array([[0.4, 0.4, -0.1], [0.4, 0.05, 0.0]]), abs=1e-6)


def test_candidates_make_the_first_changes_in_the_order_of_items() -> None:
    found = sequences(np.zeros((2, 4)))
    edits = found.of_counts(np.array([0, 2]), np.array([3, 9]))
    assert [edits.of(u, c)[0].tolist() for u, c in product(range(2), repeat=2)] == [[], [0, 1, 2], [1, 2], [0, 1, 2]]
    assert edits.cost.tolist() == [[0, 3], [2, 3]]


@pytest.mark.parametrize("budget", [0.0, 0.3, 1.0, 2.5, 6.0])
def test_the_budget_is_met_on_average(guard, data, budget: float) -> None:
    test = data[1]
    plan = guard.plan(test.X, budget=budget)
    spent = plan.expected_cost
    assert spent.mean() <= budget * (1 + 1e-9) + 1e-9
    one_by_one = guard.set_params(budget_over="user").plan(test.X, budget=budget).expected_cost.mean()
    guard.set_params(budget_over="everyone")
    if one_by_one >= 0.99 * budget:  # users have so much to change
        assert spent.mean() >= 0.99 * budget
    if 1 <= budget <= 2.5:
        assert spent.max() > 1.3 * budget
        assert spent.min() < 0.7 * budget


def test_changes_go_where_they_help(data) -> None:
    """For the same number of changes, less is said of all users' values, each as likely as the ensemble has it."""
    train, test = data
    guard = ag.learn(train, goal="conceal", budget=2.0, random_state=0)
    belief, target = guard.ensemble_.predict_proba(test.X), GUESSED_SHARE * guard.ensemble_.prior

    def told(over: str) -> float:
        released = guard.set_params(budget_over=over).plan(test.X).release(0)
        said = np.log(guard.ensemble_.predict_proba(released) / target)
        return float((belief * np.maximum(said, 0.0)).sum(axis=1).mean())

    assert told("everyone") < 0.9 * told("user")


def test_one_multiplier_leaves_less_divergence_than_one_each() -> None:
    rng = np.random.default_rng(0)
    p, cost = rng.dirichlet(np.ones(5)), rng.integers(0, 9, (300, 5)).astype(float)
    cost[np.arange(300), rng.integers(0, 5, 300)] = 0.0
    budget = 0.6 * float((cost @ p).mean())
    M = mechanism_at(p, cost, price_of_noise(p, cost, budget))
    assert (M * cost).sum(axis=1).mean() == pytest.approx(budget, rel=1e-3)
    assert kl_divergence(p, M).sum() < kl_divergence(p, solve_mechanism(p, cost, budget)).sum()


def test_one_multiplier_is_the_optimum_of_the_joint_problem() -> None:
    """Against cvxpy: all users' divergences together, within all users' budgets together."""
    cvxpy = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(1)
    p, cost = rng.dirichlet(np.ones(4)), rng.integers(0, 6, (6, 4)).astype(float)
    budget = 0.5 * float((cost @ p).mean())
    M = cvxpy.Variable((6, 4))
    loss = -cvxpy.sum(cvxpy.multiply(np.tile(p, (6, 1)), cvxpy.log(M)))
    rules = [cvxpy.sum(M, axis=1) == 1, cvxpy.sum(cvxpy.multiply(M, cost)) <= 6 * budget]
    cvxpy.Problem(cvxpy.Minimize(loss), rules).solve()
    found = mechanism_at(p, cost, price_of_noise(p, cost, budget))
    assert found == pytest.approx(M.value, abs=1e-3)


def test_many_users_have_the_price_of_all_of_them() -> None:
    rng = np.random.default_rng(0)
    p, cost = rng.dirichlet(np.ones(3)), rng.integers(0, 5, (50_000, 3)).astype(float)
    cost = cost[np.argsort(cost.sum(axis=1))]  # a sample in order must not be a sample of some
    budget = 0.5 * float((cost @ p).mean())
    M = SharedDivergence(p).probabilities(_Costs(cost), np.full(50_000, budget))
    assert (M * cost).sum(axis=1).mean() == pytest.approx(budget, rel=2e-4)


class _Costs:
    def __init__(self, cost: np.ndarray) -> None:
        self.costs_in_reach = cost


def test_a_settled_price_makes_blocks_like_the_whole(guard, data, tmp_path: Path) -> None:
    test = data[1]
    guard.settle(test.X[:450])
    assert guard.price_.goal == guard.goal
    every = guard.plan(test.X, users=test.users)
    # Half of the users settled it, so all of them spend about the budget.
    assert every.expected_cost.mean() == pytest.approx(2.0, rel=0.15) or guard.price_.noise == guard.price_.removal == 0
    some = np.arange(3, test.n_users, 7)
    block = guard.plan(test.X[some], users=test.users[some])
    assert (block.release(key=KEY) != every.release(key=KEY)[some]).nnz == 0
    # The price travels with the guard.
    guard.save(tmp_path / "city.guard")
    again = ag.load_guard(tmp_path / "city.guard")
    assert again.price_ == guard.price_
    assert (again.plan(test.X[some], users=test.users[some]).release(key=KEY) != block.release(key=KEY)).nnz == 0
    # Another budget has another price, found for the users at hand.
    assert guard.plan(test.X, budget=0.5).expected_cost.mean() <= 0.5 + 1e-9
    guard.price_ = None


def test_a_price_of_an_earlier_version_counts_another_leakage() -> None:
    """Then the price is found anew; one that was settled for noise alone is still good."""
    record = {"goal": "conceal", "budget": 4.0, "change": 0.1, "noise": 0.0, "left": 0.0}
    assert Price.of(record) is None
    assert Price.of(record | {"goal": "mislead", "change": 0.0, "noise": 0.2}) == Price("mislead", 4.0, noise=0.2)


def test_no_user_gets_more_than_most(guard, data) -> None:
    plan = guard.plan(data[1].X, budget=3.0, most=4)
    assert np.diff(plan.edits.indptr).max() <= 4
    assert plan.expected_cost.mean() <= 3.0 + 1e-9
    assert np.diff(guard.plan(data[1].X, budget=3.0).edits.indptr).max() > 4


def test_known_users_share_a_budget_too() -> None:
    data = ag.load_dataset("twin", n_users=500, n_items=120, n_values=2)
    found = ag.protect(data, budget=2.0, budget_over="everyone", random_state=0, check=False)
    assert found.summary.removed / data.n_users == pytest.approx(2.0, rel=0.1)
    counts = np.diff(data.X.indptr) - np.diff(found.block.plan.release(0).indptr)
    assert counts.max() >= 5
    assert counts.min() == 0


def test_what_cannot_be_is_refused(data) -> None:
    train = data[0]
    with pytest.raises(ParameterError, match="unknown budget_over 'all'; known: user, everyone"):
        ag.learn(train, budget_over="all")
    guard = ag.learn(train, goal="mislead", budget=2.0)
    with pytest.raises(ParameterError, match="only a budget of everyone has a price"):
        guard.settle(train.X)
    with pytest.raises(ParameterError, match="removal"):
        Price.of({"goal": "conceal", "budget": 1.0, "removal": -1.0, "noise": 0.0, "left": 0.0})


def test_batches_need_a_settled_price(data) -> None:
    train, test = data
    table = _table(test)
    guard = ag.learn(train, goal="conceal", budget=2.0, budget_over="everyone", random_state=0)
    assert guard.price_ is not None
    assert not guard.has_learnt_from(train.users).all()  # some users settled the price instead
    batches = table.sort_by("user").to_batches(max_chunksize=500)
    released = pa.Table.from_batches(list(ag.protect_batches(batches, guard, key=KEY)))
    whole = ag.protect(table, guard, key=KEY, check=False).table
    assert sorted(map(str, released.to_pylist())) == sorted(map(str, whole.to_pylist()))
    with pytest.raises(ParameterError, match=r"no settled price for this goal and budget"):
        ag.protect_batches(batches, guard, key=KEY, budget=1.0)


def _table(data: ag.PublicData) -> pa.Table:
    user = np.repeat(data.users, np.diff(data.X.indptr))
    return pa.table({"user": user, "item": data.items[data.X.indices], "rating": data.scale.from_unit(data.X.data)})


def test_a_release_says_how_the_budget_is_spread(data) -> None:
    test = data[1]
    found = ag.protect(test, budget=1.5, budget_over="everyone", random_state=0, check=False)
    (line,) = (line for line in found.remarks if "average over users" in line)
    assert "half of them expect" in line
    assert found.record()["users_with_too_few_ratings"] == 0
    assert "on average over users" in repr(found.block.plan)
