"""Phase II: known answers, invariants, and parity with independent solvers."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import attriguard as ag
from attriguard.errors import ParameterError
from attriguard.kernels.reference import solve_row
from attriguard.mechanism.solver import kl_divergence


def test_slack_budget_gives_the_target():
    p = np.array([0.5, 0.3, 0.2])
    M = ag.solve_mechanism(p, [[0, 1, 2], [0, 3, 5]], 1.95)
    assert M[0].tolist() == p.tolist()
    assert M[1] @ [0, 3, 5] <= 1.95
    exactly = ag.solve_mechanism(p, [[0, 1, 2]], 0.3 + 0.4)
    np.testing.assert_allclose(exactly[0], p, atol=1e-15)


def test_budget_zero_changes_nothing():
    M = ag.solve_mechanism([0.2, 0.5, 0.3], [[2, 0, 1], [0, 0, 4]], 0)
    assert M[0].tolist() == [0, 1, 0]
    np.testing.assert_allclose(M[1], [0.2 / 0.7, 0.5 / 0.7, 0])


def test_two_values_have_a_closed_form():
    # One free value and one of cost c: all that the budget allows goes to the costly one.
    M = ag.solve_mechanism([0.4, 0.6], [[0, 5]], 2.0)
    np.testing.assert_allclose(M, [[0.6, 0.4]], atol=1e-14)


def test_a_tiny_budget_is_spent_in_proportion_to_p_over_cost():
    # As the budget goes to 0, M_i → p_i β / (c_i Σ of the free values' share of p …): here p_0 is the free weight.
    p, cost = np.array([0.5, 0.25, 0.25]), np.array([[0.0, 1.0, 4.0]])
    M = ag.solve_mechanism(p, cost, 1e-9)[0]
    np.testing.assert_allclose(M[1] / M[2], 4.0, rtol=1e-6)
    np.testing.assert_allclose(M @ cost[0], 1e-9, rtol=1e-9)


def test_equal_costs_leave_no_choice():
    M = ag.solve_mechanism([0.3, 0.7], [[2, 2]], 2)
    np.testing.assert_allclose(M, [[0.3, 0.7]])
    with pytest.raises(ParameterError, match="1 of 1 users cannot stay within the budget"):
        ag.solve_mechanism([0.3, 0.7], [[2, 2]], 1.5)


def test_a_value_without_weight_is_used_only_where_it_must_be():
    # The only free value has p = 0. Equation: M_i = p_i β / c_i, the rest stays on the free value.
    M = ag.solve_mechanism([0.0, 0.5, 0.5], [[0, 1, 2]], 0.5)
    np.testing.assert_allclose(M, [[1 - 0.25 - 0.125, 0.25, 0.125]], atol=1e-15)
    M = ag.solve_mechanism([0.0, 0.5, 0.5], [[0, 1, 2]], 1.4)
    assert M[0, 0] == 0
    np.testing.assert_allclose(M[0] @ [0, 1, 2], 1.4)


def test_values_out_of_reach_are_left_out_and_p_renormalised():
    M = ag.solve_mechanism([0.5, 0.25, 0.25], [[0, np.inf, 1], [np.inf, 0, np.nan]], 10)
    np.testing.assert_allclose(M, [[2 / 3, 0, 1 / 3], [0, 1, 0]])
    with pytest.raises(ParameterError, match="cannot stay within the budget"):
        ag.solve_mechanism([0.5, 0.5], [[np.inf, np.inf]], 10)
    assert ag.solve_mechanism([1.0, 0.0], [[np.inf, 1.0]], 2).tolist() == [[0, 1]]


def test_one_budget_a_user():
    cost = np.tile([0.0, 2.0, 3.0], (3, 1))
    M = ag.solve_mechanism([0.2, 0.4, 0.4], cost, [0.0, 1.0, 9.0])
    np.testing.assert_allclose((M * cost).sum(axis=1), [0, 1, 2], atol=1e-12)


@pytest.mark.parametrize(
    ("p", "cost", "budget", "message"),
    [
        ([0.5, 0.6], [[0, 1]], 1, "sum to 1"),
        ([1.5, -0.5], [[0, 1]], 1, "negative"),
        ([0.5, np.nan], [[0, 1]], 1, "finite"),
        ([0.5, 0.5], [[0, 1, 2]], 1, "2 columns"),
        ([0.5, 0.5], [[0, -1]], 1, "negative"),
        ([0.5, 0.5], [[0, 1]], -1, "negative or NaN"),
        ([0.5, 0.5], [[0, 1]], np.nan, "negative or NaN"),
        ([0.5, 0.5], [[0, 1]], [1, 2], "one a user"),
        ([0.5, 0.5], [[0, 1]], "much", "number"),
        ("train", [[0, 1]], 1, "numbers"),
        ([0.5, 0.5], [[np.inf, np.inf]], np.inf, "cannot stay within the budget"),
    ],
)
def test_bad_input_is_named(p, cost, budget, message):
    with pytest.raises(ParameterError, match=message):
        ag.solve_mechanism(p, cost, budget)


weights = st.lists(st.integers(0, 20), min_size=2, max_size=8).filter(any)


@st.composite
def problems(draw):
    raw = np.array(draw(weights), dtype=float)
    cost = np.array(
        draw(st.lists(st.sampled_from([0, 0, 1, 2, 3, 5, 8, 0.37, 21.5]), min_size=raw.size, max_size=raw.size)),
        dtype=float,
    )
    cost -= cost.min() * draw(st.booleans())
    share = draw(st.floats(0, 1.2))
    return raw / raw.sum(), cost, float(cost.min() + share * (raw @ cost / raw.sum() - cost.min()))


@given(problems())
def test_invariants_and_twin(problem):
    p, cost, budget = problem
    budget = max(budget, cost.min())
    M = ag.solve_mechanism(p, cost[None], budget)[0]
    assert abs(M.sum() - 1) <= 1e-12
    assert (M >= 0).all()
    assert M @ cost <= budget * (1 + 1e-9) + 1e-300
    if budget > cost.min() + 1e-6:  # below, the least divergence is infinite or a matter of rounding
        twin = solve_row(p, cost, budget)
        assert twin @ cost <= budget * (1 + 1e-9)
        assert kl_divergence(p, M)[0] <= kl_divergence(p, twin)[0] + 1e-9
        np.testing.assert_allclose(M[p > 0], twin[p > 0], atol=1e-6)  # which value of weight 0 takes the rest is free


@given(seed=st.integers(0, 10_000), budget=st.floats(1e-12, 1e4), scale=st.sampled_from([1e-6, 1.0, 1e6]))
def test_extreme_numbers_keep_the_invariants(seed, budget, scale):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(6, 0.05))
    cost = rng.exponential(size=(20, 6)) * scale
    cost[:, 0] = 0
    M = ag.solve_mechanism(p / p.sum(), cost, budget)
    assert np.abs(M.sum(axis=1) - 1).max() <= 1e-12
    assert ((M * cost).sum(axis=1) <= budget * (1 + 1e-9)).all()


def test_no_worse_than_an_independent_convex_solver():
    rng = np.random.default_rng(5)
    for _ in range(12):
        m = int(rng.integers(2, 26))
        p = rng.dirichlet(np.ones(m))
        cost = rng.integers(0, 9, size=m).astype(float)
        cost[rng.integers(m)] = 0
        budget = float(rng.uniform(0.05, 1) * (p @ cost)) + 1e-3
        M = ag.solve_mechanism(p, cost[None], budget)
        variable = cp.Variable(m)
        problem = cp.Problem(
            cp.Minimize(cp.sum(cp.kl_div(p, variable)) + 0),
            [variable @ cost <= budget, cp.sum(variable) == 1],
        )
        problem.solve(solver=cp.CLARABEL)
        assert kl_divergence(p, M)[0] <= problem.value + 1e-7
        np.testing.assert_allclose(M[0], variable.value, atol=2e-4)
