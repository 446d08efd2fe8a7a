"""The compiled greedy search finds exactly what its NumPy twin finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from attriguard.classifiers.linear import LinearClassifier
from attriguard.kernels.reference import GreedyOptions, search_pair
from attriguard.noise import candidates
from attriguard.noise.constraints import make_constraints
from attriguard.noise.greedy import Margin, Panda
from attriguard.noise.policy import POLICIES
from attriguard.noise.probability import Probability

SEARCHES = [Panda(), Margin(), Probability(), Probability(decrease=1.6, shorter=True)]


def make_case(seed, *, n_users=4, n_items=14, m=4, ties=False, density=0.4, levels=5):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(m, n_items)) + rng.normal(size=n_items)
    b = rng.normal(size=m)
    if ties:  # few distinct weights, so that equal gains are common
        W, b = np.round(W), np.round(b)
    x = rng.integers(1, levels + 1, size=(n_users, n_items)) / levels
    x[rng.random(x.shape) > density] = 0
    return csr_array(x.astype(np.float32)), LinearClassifier(W, b), rng


def plain_options(search, rules, kappa):
    return GreedyOptions(
        modify=rules.policy.modify,
        add=rules.policy.add,
        aim=search.aim,
        decrease=search.decrease,
        shorter=search.shorter,
        extend=rules.extend,
        step=rules.step,
        levels=rules.levels,
        kappa=kappa,
        max_steps=rules.max_steps,
        upper=rules.upper,
        jump=rules.jump,
    )


def assert_same(search, X, classifier, rules, kappa=0.0, locked=None):
    edits = search.find(classifier, X, rules, confidence=kappa, locked=locked)
    W = np.ascontiguousarray(classifier.coef_.T)
    fixed_for_all = rules.upper < 0
    for u, x in enumerate(X.toarray()):
        fixed = fixed_for_all | (locked.toarray()[u] > 0 if locked is not None else False)
        for i in range(classifier.m):
            expected, extended = search_pair(
                x, W, classifier.intercept_, i, fixed=fixed, options=plain_options(search, rules, kappa)
            )
            items, values = edits.of(u, i)
            assert edits.success[u, i] == (expected is not None)
            assert edits.extended[u, i] == (extended and expected is not None)
            if expected is None:
                assert items.size == 0
                continue
            changed = np.flatnonzero(expected != x)
            assert items.tolist() == changed.tolist()
            assert values.tolist() == expected[changed].astype(np.float32).tolist()
            assert edits.cost[u, i] == changed.size


@given(
    seed=st.integers(0, 2**32 - 1),
    search=st.sampled_from(SEARCHES),
    policy=st.sampled_from(sorted(POLICIES)),
    step=st.sampled_from([1.0, 0.5, 0.2, 0.07]),
    levels=st.sampled_from([0, 1, 5]),
    kappa=st.sampled_from([0.0, 0.5, 3.0]),
    maxiter=st.sampled_from([None, 0, 2]),
    ties=st.booleans(),
    m=st.integers(2, 5),
)
def test_kernel_equals_its_twin(seed, search, policy, step, levels, kappa, maxiter, ties, m):
    X, classifier, _ = make_case(seed, m=m, ties=ties)
    rules = make_constraints(POLICIES[policy], X.shape[1], step=step, levels=levels, maxiter=maxiter)
    assert_same(search, X, classifier, rules, kappa)


@given(
    seed=st.integers(0, 2**32 - 1),
    search=st.sampled_from(SEARCHES),
    policy=st.sampled_from(sorted(POLICIES)),
    jump=st.booleans(),
    step=st.sampled_from([1.0, 0.3]),
)
def test_kernel_equals_its_twin_with_locked_items_and_additions(seed, search, policy, jump, step):
    X, classifier, rng = make_case(seed)
    n_items = X.shape[1]
    additions = rng.integers(0, 6, size=n_items) / 5 if jump else None
    rules = make_constraints(
        POLICIES[policy],
        n_items,
        step=step,
        levels=5,
        locked=rng.choice(n_items, 3, replace=False),
        additions=additions,
    )
    locked = csr_array((rng.random(X.shape) < 0.2).astype(np.float32))
    assert_same(search, X, classifier, rules, locked=locked)


@pytest.mark.parametrize("length", [0, 1, 3])
@pytest.mark.parametrize("search", SEARCHES, ids=repr)
def test_short_candidate_lists_change_nothing(monkeypatch, search, length):
    X, classifier, _ = make_case(7, n_users=6, n_items=40, ties=True)
    rules = make_constraints(POLICIES["modify_add"], X.shape[1])
    full = search.find(classifier, X, rules)
    monkeypatch.setattr(candidates, "DEPTH", length)
    monkeypatch.setattr(candidates, "MOST_ENTRIES", max(1, length) * classifier.m)
    short = search.find(classifier, X, rules)
    assert short.items.tolist() == full.items.tolist()
    assert short.indptr.tolist() == full.indptr.tolist()


def test_a_user_alone_a_batch_and_any_number_of_threads_agree(monkeypatch):
    X, classifier, _ = make_case(11, n_users=700, n_items=60, m=5, density=0.15)
    rules = make_constraints(POLICIES["modify_add"], X.shape[1])
    results = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("ATTRIGUARD_THREADS", threads)
        results.append(Margin().find(classifier, X, rules))
    for edits in results[1:]:
        assert edits.items.tolist() == results[0].items.tolist()
        assert edits.values.tolist() == results[0].values.tolist()
        assert edits.indptr.tolist() == results[0].indptr.tolist()
    for u in (0, 350, 699):
        alone = Margin().find(classifier, X[[u]], rules)
        for i in range(classifier.m):
            assert alone.of(0, i)[0].tolist() == results[0].of(u, i)[0].tolist()


def test_buffers_grow_where_one_user_needs_more_than_expected():
    # One value is only reached by adding all of 3,000 items, more than any first buffer holds.
    n_items = 3000
    W = np.vstack([np.zeros(n_items), np.full(n_items, 1.0)])
    classifier = LinearClassifier(W, np.array([n_items - 0.5, 0.0]))
    rules = make_constraints(POLICIES["add_new"], n_items)
    edits = Panda().find(classifier, csr_array((3, n_items), dtype=np.float32), rules)
    assert edits.cost[:, 1].tolist() == [n_items] * 3
    assert edits.of(2, 1)[0].tolist() == list(range(n_items))
