"""QPM, and the convex program behind it against an independent solver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import chisquare

import attriguard as ag
from attriguard.defenses.mapping import least_information
from attriguard.defenses.qpm import l0_distances
from attriguard.errors import ParameterError


def instance(seed, symbols, m):
    """Random P(s, u), and how far random points of a grid are apart."""
    chance = np.random.default_rng(seed)
    joint = chance.dirichlet(np.full(symbols * m, 0.5)).reshape(m, symbols) + 1e-6
    points = chance.integers(0, 3, (symbols, 6))
    return joint / joint.sum(), (points[:, None, :] != points[None]).sum(axis=2).astype(float)


def information(joint, Q):
    V = joint @ Q
    independent = V.sum(axis=1, keepdims=True) * V.sum(axis=0)
    return float((V[V > 0] * np.log(V[V > 0] / independent[V > 0])).sum())


def by_cvxpy(joint, distortion, bound):
    cp = pytest.importorskip("cvxpy")
    Q = cp.Variable(distortion.shape, nonneg=True)
    V = joint @ Q
    independent = joint.sum(axis=1)[:, None] @ cp.reshape(cp.sum(V, axis=0), (1, distortion.shape[0]), order="C")
    cost = cp.sum(cp.multiply(joint.sum(axis=0)[:, None] * distortion, Q))
    problem = cp.Problem(cp.Minimize(cp.sum(cp.rel_entr(V, independent))), [cp.sum(Q, axis=1) == 1, cost <= bound])
    return problem.solve(solver=cp.CLARABEL)


@pytest.mark.parametrize(("seed", "symbols", "m"), [(0, 4, 2), (1, 8, 3), (2, 12, 4), (3, 12, 2), (4, 6, 4)])
def test_it_tells_as_little_as_an_independent_solver_finds(seed, symbols, m):
    joint, distortion = instance(seed, symbols, m)
    least = (joint.sum(axis=0) @ distortion).min()
    for share in (0.02, 0.2, 0.5, 0.9):
        got = least_information(joint, distortion, share * least)
        expected = by_cvxpy(joint, distortion, share * least)
        assert got.information == pytest.approx(expected, abs=1e-4)
        assert got.information - got.gap <= expected + 1e-6  # the certificate holds
        assert got.information == pytest.approx(information(joint, got.probabilities), abs=1e-12)


@given(seed=st.integers(0, 2**32 - 1), symbols=st.integers(2, 10), m=st.integers(2, 4), share=st.floats(0, 1.2))
@settings(max_examples=25)
def test_it_is_a_map_within_the_bound(seed, symbols, m, share):
    joint, distortion = instance(seed, symbols, m)
    mass = joint.sum(axis=0)
    bound = share * (mass @ distortion).min()
    got = least_information(joint, distortion, bound)
    Q = got.probabilities
    assert (Q >= 0).all()
    np.testing.assert_allclose(Q.sum(axis=1), 1, atol=1e-12)
    assert (mass[:, None] * Q * distortion).sum() <= bound * (1 + 1e-12) + 1e-15
    assert got.information <= information(joint, np.eye(symbols)) + 1e-9


def test_the_ends_of_the_sweep_are_exact():
    joint, distortion = instance(5, 7, 3)
    np.fill_diagonal(distortion, 0)
    nothing = least_information(joint, distortion + (1 - np.eye(7)), 0.0)
    np.testing.assert_array_equal(nothing.probabilities, np.eye(7))
    everything = least_information(joint, distortion, 6.0)
    assert everything.information < 1e-12
    assert (everything.probabilities == everything.probabilities[0]).all()


def test_symbols_at_no_distance_are_mixed():
    joint = np.array([[0.4, 0.1, 0.0], [0.0, 0.1, 0.4]])
    distortion = np.array([[0.0, 0, 1], [0, 0, 1], [1, 1, 0]])
    Q = least_information(joint, distortion, 0.0).probabilities
    np.testing.assert_allclose(Q, [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]])


def test_two_symbols_by_hand():
    # S and U are the same fair bit, and a wrong symbol costs 1: a binary symmetric channel, I = log 2 - H(Δ).
    for bound in (0.05, 0.2, 0.4):
        got = least_information(np.eye(2) / 2, 1 - np.eye(2), bound)
        entropy = -bound * np.log(bound) - (1 - bound) * np.log(1 - bound)
        assert got.information == pytest.approx(np.log(2) - entropy, abs=2e-5)
        assert got.distortion <= bound


def test_l0_distances():
    chance = np.random.default_rng(0)
    rows = chance.integers(0, 3, (9, 12)) / 5
    expected = (rows[:, None, :] != rows[None]).sum(axis=2)
    np.testing.assert_array_equal(l0_distances(csr_array(rows.astype(np.float32))), expected)


@pytest.fixture(scope="module")
def qpm(small_twin):
    train, _ = small_twin.split()
    return ag.defenses.get("QPM", scale=train.scale, clusters=20, random_state=1).fit(train.X, train.y)


def test_what_is_released_is_a_rounded_centroid(qpm, small_twin):
    train, test = small_twin.split()
    release = qpm.release_for(test.X, 0.0, 0)
    clusters = qpm.cluster_of(train.X)
    for user, cluster in enumerate(qpm.cluster_of(test.X)[:30]):
        mean = train.X[clusters == cluster].mean(axis=0)
        near_a_border = np.abs(np.abs(mean * 5 % 1) - 0.5) < 1e-3
        np.testing.assert_allclose(
            release[[user]].toarray()[0][~near_a_border], (np.rint(mean * 5) / 5)[~near_a_border], atol=1e-6
        )


def test_the_bound_adds_at_most_that_to_quantization(qpm, small_twin):
    train, _ = small_twin.split()
    quantized = (qpm.release_for(train.X, 0.0, 0) != train.X).nnz / train.n_users
    for bound in (0.5, 2.0):
        noise = np.mean([(qpm.release_for(train.X, bound, seed) != train.X).nnz / train.n_users for seed in range(5)])
        assert noise <= quantized + bound + 0.3
    assert qpm.mapping(0.5).information > qpm.mapping(2.0).information


def test_draws_follow_the_map_and_are_solved_once(qpm, small_twin):
    probabilities = qpm.mapping(1.0).probabilities
    assert qpm.mapping(1.0).probabilities is probabilities
    user = small_twin.X[[0]]
    row = probabilities[qpm.cluster_of(user)[0]]
    crowd = csr_array(np.repeat(user.toarray(), 4000, axis=0))
    got = qpm.release_for(crowd, 1.0, 0)
    likely = np.flatnonzero(row > 0.02)
    rows = qpm.releases_.toarray()
    seen = np.array([(got.toarray() == rows[cluster]).all(axis=1).sum() for cluster in likely])
    expected = np.append(row[likely], 1 - row[likely].sum()) * 4000
    assert (
        chisquare(np.append(seen, 4000 - seen.sum())[expected > 1], expected[expected > 1], sum_check=False).pvalue
        > 1e-4
    )


def test_fewer_different_users_than_clusters():
    X = csr_array(np.tile(np.eye(3), (4, 1)))
    defense = ag.defenses.get("QPM", scale=(1, 5), clusters=6, random_state=0).fit(X, np.arange(12) % 2)
    assert defense.releases_.shape == (3, 3)
    assert (defense.release_for(X, 0.0, 0) != X).nnz == 0


@pytest.mark.parametrize("clusters", [901, 0, 2.5])
def test_clusters_are_a_whole_number_of_at_most_the_users(clusters, small_twin):
    with pytest.raises(ParameterError, match="clusters must"):
        ag.defenses.get("QPM", scale=small_twin.scale, clusters=clusters).fit(small_twin.X, small_twin.y)


def test_it_needs_a_scale(small_twin):
    with pytest.raises(ParameterError, match="needs a scale"):
        ag.defenses.get("QPM").fit(small_twin.X, small_twin.y)
