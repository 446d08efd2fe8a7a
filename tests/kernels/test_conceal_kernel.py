"""The compiled search for what tells most finds what its NumPy twin finds."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import attriguard as ag
from attriguard.classifiers.ensemble import Ensemble
from attriguard.classifiers.network import Weights
from attriguard.kernels.reference import conceal
from attriguard.mechanism.shared import counts_at
from attriguard.noise import removals
from attriguard.noise.constraints import make_constraints
from attriguard.noise.policy import POLICIES
from attriguard.noise.removals import GUESSED_SHARE, Target, find_changes


def make_case(seed, *, n_users=5, n_items=12, m=4, sizes=(6, 9), scale=1.0):
    rng = np.random.default_rng(seed)

    def part(*shape):
        return rng.normal(scale=scale, size=shape).astype(np.float32)

    members = [Weights(part(n_items, h), part(h), part(h, m), part(m)) for h in sizes]
    x = rng.integers(1, 6, size=(n_users, n_items)) / 5
    x[rng.random(x.shape) > 0.5] = 0
    x[0] = 0
    locked = csr_array((rng.random(x.shape) < 0.2).astype(np.float32))
    shares = rng.dirichlet(np.full(len(members), 3.0))
    return Ensemble(members, rng.dirichlet(np.full(m, 5.0)), shares), csr_array(x.astype(np.float32)), locked, rng


def posterior_of(ensemble):
    def posterior(row):
        parts = []
        for w in ensemble.members:
            outputs = np.maximum(row @ w.W1.astype(np.float64) + w.b1, 0) @ w.W2 + w.b2
            parts.append(np.exp(outputs - outputs.max()) / np.exp(outputs - outputs.max()).sum())
        return ensemble.shares.astype(np.float64) @ parts

    return posterior


def guessed(ensemble):
    """What ratings may say of each value, where a user's own is not known."""
    return GUESSED_SHARE * ensemble.prior.astype(float)


@given(st.integers(0, 10_000), st.sampled_from(["modify_exist", "add_new"]), st.integers(0, 14))
@settings(max_examples=40)
def test_the_kernel_finds_what_the_twin_finds(seed, policy, most):
    ensemble, X, locked, rng = make_case(seed)
    never = rng.choice(X.shape[1], size=2, replace=False)
    rules = make_constraints(POLICIES[policy], X.shape[1], locked=never, additions=np.linspace(0, 1, X.shape[1]))
    with patch.object(removals, "TRIED", 99):
        found = find_changes(ensemble, X, rules, most, locked=locked)
    for u, x in enumerate(X.toarray()):
        fixed = (locked.toarray()[u] > 0) | (rules.upper < 0)
        if policy == "modify_exist":
            additions = {}
        else:
            additions, fixed = {j: float(v) for j, v in enumerate(rules.upper) if v > 0}, fixed | (x > 0)
        posterior = posterior_of(ensemble)
        items, told = conceal(x, posterior, guessed(ensemble), posterior(x.astype(float)), fixed, additions, most)
        np.testing.assert_array_equal(found.items[u, : found.lengths[u]], items)
        np.testing.assert_allclose(found.leakage[u, : len(told)], told, atol=2e-5)


@given(st.integers(0, 10_000), st.floats(0.01, 1.0))
@settings(max_examples=20)
def test_of_a_known_value_a_row_says_no_more_than_asked(seed, share):
    ensemble, X, locked, rng = make_case(seed)
    rules = make_constraints(POLICIES["modify_exist"], X.shape[1])
    codes = rng.integers(-1, ensemble.prior.size, X.shape[0])
    with patch.object(removals, "TRIED", 99):
        found = find_changes(ensemble, X, rules, 5, locked=locked, target=Target(codes, share))
    for u, x in enumerate(X.toarray()):
        fixed, posterior = locked.toarray()[u] > 0, posterior_of(ensemble)
        target, belief = guessed(ensemble), posterior(x.astype(float))
        if codes[u] >= 0:
            target, belief = share * ensemble.prior.astype(float), np.eye(ensemble.m)[codes[u]]
            left = found.items[u, : found.lengths[u]]
            after = posterior(np.where(np.isin(np.arange(x.size), left), 0, x))[codes[u]]
            assert found.leakage[u, -1] == pytest.approx(max(np.log(after / target[codes[u]]), 0), abs=2e-5)
            assert found.leakage[u, -1] > 0 or not found.lengths[u] or found.leakage[u, found.lengths[u] - 1] > 0
        items, told = conceal(x, posterior, target, belief, fixed, {}, 5)
        np.testing.assert_array_equal(found.items[u, : found.lengths[u]], items)
        np.testing.assert_allclose(found.leakage[u, : len(told)], told, atol=2e-5)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_the_result_is_the_same_for_any_number_of_threads(monkeypatch, threads):
    ensemble, X, locked, _ = make_case(7, n_users=200, n_items=40)
    rules = make_constraints(POLICIES["modify_add"], X.shape[1])
    monkeypatch.setenv("ATTRIGUARD_THREADS", threads)
    found = find_changes(ensemble, X, rules, 6, locked=locked)
    alone = [find_changes(ensemble, X[[u]], rules, 6, locked=locked[[u]]) for u in range(0, 200, 23)]
    for u, one in zip(range(0, 200, 23), alone, strict=True):
        assert (found.items[u] == one.items[0]).all()
        assert (found.leakage[u] == one.leakage[0]).all()


def test_prefixes_hold_the_first_changes_sorted():
    ensemble, X, _, _ = make_case(3)
    rules = make_constraints(POLICIES["modify_exist"], X.shape[1])
    found = find_changes(ensemble, X, rules, 4)
    edits = found.prefixes()
    for u, size in enumerate(np.diff(X.indptr)):
        assert found.lengths[u] == min(4, size)
        for k in range(5):
            items, values = edits.of(u, k)
            assert edits.success[u, k] == (k <= size)
            assert items.tolist() == (sorted(found.items[u, :k].tolist()) if k <= size else [])
            assert (values == 0).all()
            assert edits.cost[u, k] == items.size


def test_few_trials_leave_as_little_as_all_of_them(small_twin):
    guard = ag.learn(small_twin, goal="conceal", random_state=0)
    rules = make_constraints(POLICIES["modify_exist"], small_twin.n_items)
    few = find_changes(guard.ensemble_, small_twin.X, rules, 8).leakage.mean(axis=0)
    with patch.object(removals, "TRIED", 999):
        every = find_changes(guard.ensemble_, small_twin.X, rules, 8).leakage.mean(axis=0)
    assert (few <= every + 0.005 * every[0]).all()
    assert few[8] < 0.5 * few[0]


@pytest.mark.parametrize("scale", [0.05, 1.0])  # with 1, the ensemble is so sure that slopes nearly vanish
@pytest.mark.parametrize("seed", range(4))
def test_many_ratings_lose_what_they_would_lose_one_at_a_time(seed, scale):
    # The search for one change looks at all ratings; the search for many looks again at few of them after the first.
    ensemble, X, _, _ = make_case(seed, n_users=3, n_items=2_000, m=6, sizes=(40, 40), scale=scale)
    rules = make_constraints(POLICIES["modify_exist"], X.shape[1])
    many = find_changes(ensemble, X, rules, 15)
    left = X.copy()
    for k in range(15):
        one = find_changes(ensemble, left, rules, 1, target=Target(own=X))
        np.testing.assert_array_equal(one.items[1:, 0], many.items[1:, k])
        np.testing.assert_allclose(one.leakage[1:, 1], many.leakage[1:, k + 1], rtol=1e-4, atol=5e-5)
        dense = left.toarray()
        dense[np.arange(1, 3), one.items[1:, 0]] = 0
        left = csr_array(dense)


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_how_likely_a_value_is_a_users_own_ratings_say(seed):
    """Rows that earlier releases have changed say something else than their users' own ratings."""
    ensemble, own, _, _ = make_case(seed)
    rng, rules = np.random.default_rng(seed), make_constraints(POLICIES["modify_exist"], own.shape[1])
    left = csr_array(own.toarray() * (rng.random(own.shape) < 0.6))
    with patch.object(removals, "TRIED", 99):
        found = find_changes(ensemble, left, rules, 5, target=Target(own=own))
        same = find_changes(ensemble, own, rules, 5, target=Target(own=own))
        plain = find_changes(ensemble, own, rules, 5)
    for u, x in enumerate(left.toarray()):
        belief = posterior_of(ensemble)(own.toarray()[u].astype(float))
        _, told = conceal(x, posterior_of(ensemble), guessed(ensemble), belief, np.zeros(x.size, bool), {}, 5)
        np.testing.assert_allclose(found.leakage[u, : len(told)], told, atol=1e-4)
    np.testing.assert_array_equal(same.leakage, plain.leakage)
    np.testing.assert_array_equal(same.items, plain.items)


def test_what_is_expected_of_an_unknown_value_is_the_mean_over_all_values():
    ensemble, X, _, _ = make_case(2)
    rules, belief = make_constraints(POLICIES["modify_exist"], X.shape[1]), ensemble.predict_proba(X)
    found = find_changes(ensemble, X, rules, 0).leakage[:, 0]
    codes = [np.full(X.shape[0], v) for v in range(ensemble.m)]
    told = [find_changes(ensemble, X, rules, 0, target=Target(each, GUESSED_SHARE)).leakage[:, 0] for each in codes]
    np.testing.assert_allclose(found, (belief * np.transpose(told)).sum(axis=1), rtol=1e-4, atol=1e-6)
    assert found.max() > 0.1


@given(st.integers(0, 10_000), st.floats(1e-3, 0.5), st.floats(0.0, 1.0))
@settings(max_examples=40)
def test_a_price_ends_the_search_but_hides_no_change_that_is_worth_it(seed, price, more):
    ensemble, X, _, _ = make_case(seed, n_users=30, n_items=60, sizes=(1, 20))
    rules = make_constraints(POLICIES["modify_exist"], X.shape[1])
    full, short = find_changes(ensemble, X, rules, 20), find_changes(ensemble, X, rules, 20, price=price)
    assert (short.lengths <= full.lengths).all()
    for asked in (price, price + more):
        for counts in zip(counts_at(full.gains(), asked), counts_at(short.gains(), asked), strict=True):
            np.testing.assert_array_equal(*counts)
