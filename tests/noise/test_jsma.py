"""JSMA: the map and its conditions, the best pair against all pairs, and both ways to the same noise."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from attriguard.classifiers.linear import LinearClassifier
from attriguard.classifiers.module import ModuleClassifier
from attriguard.classifiers.network import NetworkClassifier
from attriguard.errors import ParameterError
from attriguard.noise import saliency
from attriguard.noise.constraints import make_constraints
from attriguard.noise.jsma import JSMA
from attriguard.noise.policy import POLICIES


def constraints(n_items, **options):
    return make_constraints(POLICIES["modify_add"], n_items, **options)


def find(search, W, x, *, b=None, confidence=0.0, **options):
    W = np.asarray(W, dtype=float)
    X = csr_array(np.atleast_2d(np.asarray(x, dtype=np.float32)))
    classifier = LinearClassifier(W, np.zeros(len(W)) if b is None else b)
    return search.find(classifier, X, constraints(X.shape[1], **options), confidence=confidence)


def edits_of(edits, value, user=0):
    items, values = edits.of(user, value)
    return dict(zip(items.tolist(), values.tolist(), strict=True))


def brute_force_pair(a, c):
    """The published loop over all pairs."""
    best, pair = 0.0, None
    for p in range(len(a)):
        for q in range(p + 1, len(a)):
            alpha, beta = a[p] + a[q], -(c[p] + c[q])
            if alpha > 0 and beta < 0 and -alpha * beta > best:
                best, pair = -alpha * beta, (p, q)
    return pair


def plain_jsma(jacobian, decide, x, i, *, pairs=False, decrease=False, step=1.0, limit=10**9):
    """The published attack, one user and value at a time; jacobian(x) is (m, items)."""
    now, sign, taken = x.astype(np.float64).copy(), -1 if decrease else 1, 0
    while decide(now).argmax() != i and taken < limit:
        F = jacobian(now)
        a, c = sign * F[i], -sign * np.delete(F, i, axis=0).sum(axis=0)
        domain = np.flatnonzero(now > 0 if decrease else now < 1)
        if pairs:
            pair = brute_force_pair(a[domain], c[domain])
            if pair is None:
                break
            chosen = domain[list(pair)]
        else:
            worth = np.where((a < 0) | (c < 0), 0, a * c)[domain]
            if not worth.size or worth.max() <= 0:
                break
            chosen = domain[[worth.argmax()]]
        now[chosen] = np.float32(np.clip(np.float32(now[chosen]).astype(float) + sign * step, 0, 1))
        taken += 1
    return {j: np.float32(now[j]) for j in np.flatnonzero(now != x)} if decide(now).argmax() == i else None


def assert_same_noise(edits, plain, X):
    for u, x in enumerate(X.toarray().astype(np.float64)):
        for i in range(edits.m):
            expected = plain(x, i)
            assert edits.success[u, i] == (expected is not None)
            assert edits_of(edits, i, u) == (expected or {})


def test_both_conditions_count():
    # For value 1: item 0 raises it most but raises the others, too; item 1 lowers it; item 2 is what the map leaves.
    W = [[3, 0, -1], [5, -2, 2], [-1, 0, -1]]
    assert edits_of(find(JSMA(), W, [0, 0, 0], b=[1, 0, 0]), 1) == {2: 1.0}


def test_the_map_has_no_eye_for_how_far_an_entry_can_rise():
    W, x = [[-4, -3, 0], [4, 3, 0]], [0.8, 0, 1]  # item 0 is the more salient, though it is nearly saturated
    assert edits_of(find(JSMA(), W, x, b=[9, 0]), 1) == {0: 1.0, 1: 1.0}


def test_saturated_entries_are_no_candidates_and_steps_go_on_until_they_are():
    W, x = [[-4, -1, 0], [4, 1, 0]], [1, 0, 0]
    assert edits_of(find(JSMA(), W, x, b=[9, 0]), 1) == {1: 1.0}
    assert edits_of(find(JSMA(), W, [0, 0, 0], b=[5, 0], step=0.4), 1) == pytest.approx({0: 0.8})
    assert edits_of(find(JSMA(), W, [0, 0, 0], b=[9, 0], step=0.4), 1) == pytest.approx({0: 1.0, 1: 0.8})
    # On the grid of five stars 0.3 becomes 0.4 after the search, as in the paper: rounded once, at the end.
    assert edits_of(find(JSMA(), W, [0, 0, 0], b=[2, 0], step=0.3, levels=5), 1) == pytest.approx({0: 0.4})


def test_all_entries_fall_where_asked():
    W, x = [[2, 1, -9], [-2, -1, 9]], [0.6, 0.8, 0]
    assert edits_of(find(JSMA(decrease=True), W, x, b=[-2, 0]), 1) == {0: 0.0}
    assert edits_of(find(JSMA(decrease=True), W, x, b=[0.5, 0.4]), 1) == {}  # nothing left to lower
    assert edits_of(find(JSMA(), W, x, b=[-2, 0]), 1) == {2: 1.0}


def test_limits():
    W, x = [[-1] * 4, [1] * 4], [0] * 4
    b = [5, 0]  # three entries are needed
    assert find(JSMA(), W, x, b=b).cost[0, 1] == 3
    assert find(JSMA(pairs=True), W, x, b=b).cost[0, 1] == 4
    assert [bool(find(JSMA(), W, x, b=b, maxiter=k).success[0, 1]) for k in (0, 1, 2)] == [False, False, True]
    for share, reached in ((0.0, False), (0.5, False), (0.75, True), (1.0, True)):
        assert find(JSMA(max_distortion=share), W, x, b=b).success[0, 1] == reached
    assert not find(JSMA(pairs=True, max_distortion=0.75), W, x, b=b).success[0, 1]
    assert find(JSMA(), W, x, b=[3, 0], confidence=1.0).cost[0, 1] == 2
    assert find(JSMA(), W, x, b=[3, 0], confidence=3.0).cost[0, 1] == 3


numbers = st.one_of(st.integers(-3, 3).map(float), st.floats(-5, 5, width=32))


@settings(max_examples=300)
@given(points=st.lists(st.tuples(numbers, numbers), max_size=30))
def test_the_best_pair_is_the_one_that_looking_at_all_pairs_finds(points):
    a, c = np.array(points, dtype=float).reshape(-1, 2).T
    found, expected = saliency.best_pair(a, c), brute_force_pair(a, c)
    if expected is None:
        assert found is None
    else:
        p, q = expected
        assert found is not None
        assert found[0] < found[1]
        assert (a[list(found)].sum() * c[list(found)].sum()) == a[[p, q]].sum() * c[[p, q]].sum()


@pytest.mark.parametrize("shape", ["line", "curve", "cloud", "grid"])
def test_the_best_pair_among_many(shape, monkeypatch):
    rng = np.random.default_rng(4)
    a = rng.random(300) if shape != "grid" else rng.integers(-4, 5, size=300).astype(float)
    c = {"line": 1 - a, "curve": 1 / (0.1 + a), "cloud": rng.normal(size=300), "grid": rng.permutation(a)}[shape]
    assert saliency.best_pair(a, c) == brute_force_pair(a, c)
    monkeypatch.setattr(saliency, "PAIRS_AT_ONCE", 7)
    assert saliency.best_pair(a, c) == brute_force_pair(a, c)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    pairs=st.booleans(),
    decrease=st.booleans(),
    of=st.sampled_from(["outputs", "probabilities"]),
    step=st.sampled_from([1.0, 0.3]),
    maxiter=st.sampled_from([None, 1]),
)
def test_on_a_linear_classifier_it_is_the_published_attack(seed, pairs, decrease, of, step, maxiter):
    rng = np.random.default_rng(seed)
    W, b = rng.normal(size=(3, 12)), rng.normal(size=3) * 2
    x = (rng.integers(1, 6, size=(3, 12)) / 5 * (rng.random((3, 12)) < 0.5)).astype(np.float32)

    def decide(x):
        return W @ x + b

    def jacobian(x):
        p = np.exp(decide(x) - decide(x).max())
        p /= p.sum()
        return W if of == "outputs" else p[:, None] * (W - p @ W)

    X, search = csr_array(x), JSMA(pairs=pairs, decrease=decrease, of=of)
    edits = search.find(LinearClassifier(W, b), X, constraints(12, step=step, maxiter=maxiter))
    limit = 10**9 if maxiter is None else maxiter + 1
    assert_same_noise(
        edits,
        lambda x, i: plain_jsma(jacobian, decide, x, i, pairs=pairs, decrease=decrease, step=step, limit=limit),
        X,
    )


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), pairs=st.booleans(), of=st.sampled_from(["auto", "outputs", "probabilities"]))
def test_networks_and_modules_and_the_published_attack_agree(seed, pairs, of):
    rng = np.random.default_rng(seed)
    sizes = (10, 16), (16,), (16, 3), (3,)
    W1, b1, W2, b2 = (rng.normal(size=size) for size in sizes)
    x = (rng.integers(1, 6, size=(2, 10)) / 5 * (rng.random((2, 10)) < 0.5)).astype(np.float32)

    def decide(x):
        return np.maximum(x @ W1 + b1, 0) @ W2 + b2

    def jacobian(x):
        F = (W1 * (x @ W1 + b1 > 0)) @ W2
        p = np.exp(decide(x) - decide(x).max())
        p /= p.sum()
        return F.T if of == "outputs" else p[:, None] * (F.T - F @ p)

    X, search = csr_array(x), JSMA(pairs=pairs, of=of)
    network = NetworkClassifier.from_weights(W1, b1, W2, b2)
    edits = search.find(network, X, constraints(10))
    assert_same_noise(edits, lambda x, i: plain_jsma(jacobian, decide, x, i, pairs=pairs), X)
    if of != "auto":  # a module's outputs are its decision functions
        layers = torch.nn.Linear(10, 16), torch.nn.Linear(16, 3)
        for layer, weight, bias in zip(layers, (W1, W2), (b1, b2), strict=True):
            layer.weight.data, layer.bias.data = torch.from_numpy(weight.T.copy()), torch.from_numpy(bias.copy())
        module = ModuleClassifier(torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1]), 3, 10)
        again = search.find(module, X, constraints(10))
        assert np.array_equal(again.items, edits.items)
        assert np.array_equal(again.success, edits.success)


def test_bad_options_are_refused():
    with pytest.raises(ParameterError, match="max_distortion"):
        JSMA(max_distortion=1.2)
    with pytest.raises(ParameterError, match="known: auto, outputs, probabilities"):
        JSMA(of="logits")
