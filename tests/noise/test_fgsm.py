"""FGSM, and what it shares with JSMA and CW: constraints, rounding, and the check after it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from attriguard.classifiers.base import infer
from attriguard.classifiers.linear import LinearClassifier
from attriguard.classifiers.network import NetworkClassifier
from attriguard.errors import ParameterError
from attriguard.noise import evasion, fgsm
from attriguard.noise.carlini_wagner import CarliniWagner
from attriguard.noise.constraints import make_constraints
from attriguard.noise.fgsm import FGSM
from attriguard.noise.greedy import Panda
from attriguard.noise.jsma import JSMA
from attriguard.noise.policy import POLICIES
from attriguard.noise.registry import get as get_search

QUICK = CarliniWagner(steps=12, searches=2, learning_rate=0.5)


def constraints(n_items, policy="modify_add", **options):
    return make_constraints(POLICIES[policy], n_items, **options)


def find(search, W, x, *, b=None, confidence=0.0, locked=None, **options):
    W = np.asarray(W, dtype=float)
    X = csr_array(np.atleast_2d(np.asarray(x, dtype=np.float32)))
    classifier = LinearClassifier(W, np.zeros(len(W)) if b is None else b)
    return search.find(classifier, X, constraints(X.shape[1], **options), confidence=confidence, locked=locked)


def edits_of(edits, value, user=0):
    items, values = edits.of(user, value)
    return dict(zip(items.tolist(), values.tolist(), strict=True))


def random_case(seed, *, kind="linear", n_users=4, n_items=15, m=3):
    rng = np.random.default_rng(seed)
    x = rng.integers(1, 6, size=(n_users, n_items)) / 5 * (rng.random((n_users, n_items)) < 0.4)
    if kind == "linear":
        classifier = LinearClassifier(rng.normal(size=(m, n_items)), rng.normal(size=m))
    else:
        sizes = (n_items, 20), (20,), (20, m), (m,)
        classifier = NetworkClassifier.from_weights(*(rng.normal(size=size) for size in sizes))
    return csr_array(x.astype(np.float32)), classifier, rng


def test_every_entry_moves_along_the_sign_and_is_clipped():
    edits = find(FGSM(), [[5, 0, 0, 1], [3, -1, 4, 0]], [0.6, 0.4, 0, 0.2])
    assert edits_of(edits, 1) == {0: 1.0, 1: 0.0, 2: 1.0}  # item 3 has no gradient
    assert edits_of(edits, 0) == {}  # C infers 0 already


def test_a_smaller_epsilon_is_rounded_to_the_grid_and_checked_again():
    W, x = [[1, 0, 0], [0, 2, 2]], [0.6, 0, 0]
    assert edits_of(find(FGSM(epsilon=0.3), W, x, levels=5), 1) == pytest.approx({1: 0.4, 2: 0.4})
    assert edits_of(find(FGSM(epsilon=0.3), W, x), 1) == pytest.approx({1: 0.3, 2: 0.3})
    small = find(FGSM(epsilon=0.09), W, [0.2, 0, 0], levels=5)  # enough, but it rounds to nothing
    assert (small.success[0, 1], small.cost[0, 1]) == (False, 0)
    assert find(FGSM(epsilon=0.09), W, [0.2, 0, 0]).success[0, 1]


def log_p_slopes(network, X):
    """(n, m, items): ∂log p_i/∂x_j, written out."""
    w, p = network.weights, network.predict_proba(X)
    outputs = np.stack([(w.W1 @ (w.W2 * on[:, None])).T for on in network.pre_activations(X) > 0])
    return outputs - np.einsum("uv,uvj->uj", p, outputs)[:, None]


def test_on_a_network_it_follows_the_logarithm_of_the_probability():
    X, network, _ = random_case(3, kind="network")
    edits = FGSM().find(network, X, constraints(X.shape[1]))
    slopes = log_p_slopes(network, X)
    for u in range(X.shape[0]):
        for i in np.flatnonzero(edits.success[u]):
            if infer(network, X[[u]])[0] != i:
                x = X.toarray()[u]
                moved = np.clip(x + np.sign(slopes[u, i]), 0, 1)
                assert edits_of(edits, i, u) == {j: moved[j] for j in np.flatnonzero(moved != x)}


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    search=st.sampled_from([FGSM(), FGSM(0.3), JSMA(), JSMA(pairs=True), JSMA(decrease=True), QUICK]),
    kind=st.sampled_from(["linear", "network"]),
    levels=st.sampled_from([0, 1, 5]),
    kappa=st.sampled_from([0.0, 0.5]),
    lock=st.booleans(),
)
def test_success_is_what_the_classifier_says_of_the_released_rows(seed, search, kind, levels, kappa, lock):
    X, classifier, rng = random_case(seed, kind=kind)
    pattern = csr_array((rng.random(X.shape) < 0.3 * lock).astype(np.float32))
    columns = np.array([1, 2]) if lock else None
    made = constraints(X.shape[1], levels=levels, locked=columns)
    edits = search.find(classifier, X, made, confidence=kappa, locked=pattern)
    touched = set()
    for i in range(classifier.m):
        released = edits.apply(X, np.full(X.shape[0], i))
        scores = classifier.decision_function(released)
        leads = scores[:, i] - np.delete(scores, i, axis=1).max(axis=1)
        reached = leads >= kappa if kappa else scores.argmax(axis=1) == i
        assert np.array_equal(reached, edits.success[:, i])
        for u in range(X.shape[0]):
            items, values = edits.of(u, i)
            assert (np.diff(items) > 0).all()
            assert ((values >= 0) & (values <= 1) & (values != X.toarray()[u, items])).all()
            assert not levels or np.allclose(values * levels, np.rint(values * levels), atol=1e-5)
            touched.update((u, j) for j in items.tolist())
            assert edits.success[u, i] or items.size == 0
    assert not any(pattern.toarray()[u, j] or (lock and j in (1, 2)) for u, j in touched)


@pytest.mark.parametrize("search", [FGSM(), JSMA(), QUICK])
@pytest.mark.parametrize("kind", ["linear", "network"])
def test_blocks_of_users_make_no_difference_and_nobody_is_no_trouble(search, kind, monkeypatch):
    X, classifier, _ = random_case(8, kind=kind, n_users=7)
    made, seen = constraints(X.shape[1], levels=5), []
    whole = search.find(classifier, X, made)
    monkeypatch.setattr(evasion, "BLOCK_ENTRIES", 50)
    monkeypatch.setenv("ATTRIGUARD_THREADS", "3")
    parts = search.find(classifier, X, made, progress=lambda what, share: seen.append(share))
    assert seen == sorted(seen)
    assert len(seen) > 1
    assert seen[-1] == 1.0
    for name in ("indptr", "items", "values", "cost", "success", "extended"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name)), name
    assert search.find(classifier, X[:0], made).success.shape == (0, classifier.m)


@pytest.mark.parametrize("name", ["fgsm", "jsma", "cw"])
def test_other_policies_and_additions_are_refused_by_name(name):
    search = get_search(name)
    assert (search.name, bool(search.summary)) == (name, True)
    for policy in ("modify_exist", "add_new"):
        with pytest.raises(ParameterError, match=f"{name}.*modify_add.*{policy}"):
            find(search, [[1, 0], [0, 1]], [1, 0], policy=policy)
    with pytest.raises(ParameterError, match="additions"):
        find(search, [[1, 0], [0, 1]], [1, 0], additions=np.array([0.2, 0.4]))


@pytest.mark.parametrize("search", [FGSM(), QUICK])
def test_step_and_maxiter_mean_nothing_to_them(search):
    for options in ({"step": 0.5}, {"maxiter": 3}):
        with pytest.raises(ParameterError, match="step and maxiter"):
            find(search, [[1, 0], [0, 1]], [1, 0], **options)


def test_other_classifiers_and_bad_options_are_refused():
    class Odd:
        is_linear, m = False, 2

    with pytest.raises(ParameterError, match="Odd"):
        FGSM().find(Odd(), csr_array((1, 2), dtype=np.float32), constraints(2))
    for epsilon in (0, -1, 1.5, np.nan, "much"):
        with pytest.raises(ParameterError, match="epsilon"):
            FGSM(epsilon)


def test_noise_that_does_not_fit_is_refused_after_the_first_users(monkeypatch):
    X, classifier, _ = random_case(1, n_users=9)
    monkeypatch.setattr(evasion, "BLOCK_ENTRIES", 1)
    monkeypatch.setattr(fgsm, "available_bytes", lambda: 10)
    with pytest.raises(ParameterError, match=r"other 8 users needs about .* fewer users"):
        FGSM().find(classifier, X, constraints(X.shape[1]))


def test_the_order_of_the_papers_figure(small_twin, small_guard):
    _, test = small_twin.split()
    made = constraints(test.n_items, levels=small_twin.scale.levels)
    found = {s.name: s.find(small_guard.classifier_, test.X, made) for s in (Panda(), JSMA(), FGSM())}
    assert all(edits.success.all() for edits in found.values())
    panda, jsma, fgsm_ = (found[name].cost.mean() for name in ("panda", "jsma", "fgsm"))
    assert panda <= jsma
    assert fgsm_ > 20 * jsma


def test_a_guard_takes_them_by_name(small_twin, small_guard):
    from sklearn.base import clone

    train, test = small_twin.split()
    for name in ("fgsm", "jsma"):
        guard = clone(small_guard).set_params(search=name, budget=3.0).fit(train.X, train.y)
        plan = guard.plan(test.X[:20])
        assert plan.success.all()
        assert (plan.expected_cost <= 3 + 1e-9).all()
