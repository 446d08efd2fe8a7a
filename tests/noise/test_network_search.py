"""Phase I on networks finds exactly what a plain search finds that asks autograd in every step."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from attriguard.classifiers import hidden_layer
from attriguard.classifiers.base import infer
from attriguard.classifiers.module import ModuleClassifier
from attriguard.classifiers.network import NetworkClassifier
from attriguard.errors import ParameterError
from attriguard.kernels import reference
from attriguard.noise.constraints import NO_LIMIT, make_constraints
from attriguard.noise.exact import Exact
from attriguard.noise.greedy import Margin, Panda
from attriguard.noise.pairs import MOST_STEPS
from attriguard.noise.policy import POLICIES
from attriguard.noise.probability import Probability


def make_case(seed, *, n_users=3, n_items=14, m=4, hidden=24, density=0.4, levels=5, dtype=np.float64):
    rng = np.random.default_rng(seed)
    parts = (
        rng.normal(size=(n_items, hidden)),
        rng.normal(size=hidden) * 0.3,
        rng.normal(size=(hidden, m)) / np.sqrt(hidden),
        rng.normal(size=m) * 0.3,
    )
    x = rng.integers(1, levels + 1, size=(n_users, n_items)) / levels
    x[rng.random(x.shape) > density] = 0
    return csr_array(x.astype(np.float32)), NetworkClassifier.from_weights(*(p.astype(dtype) for p in parts)), rng


def as_module(network):
    w = network.weights
    first, second = torch.nn.Linear(*w.W1.shape), torch.nn.Linear(*w.W2.shape)
    for layer, weight, bias in ((first, w.W1, w.b1), (second, w.W2, w.b2)):
        layer.weight.data, layer.bias.data = torch.from_numpy(weight.T.copy()), torch.from_numpy(bias.copy())
    return torch.nn.Sequential(first, torch.nn.ReLU(), second, torch.nn.LogSoftmax(dim=1))


def plain_search(module, x, i, fixed, constraints):
    """The reference: everything by autograd, one pair at a time."""

    def decide(now):
        with torch.no_grad():
            return module(torch.from_numpy(now)[None])[0].numpy()

    def slope(now, i, k):
        leaf = torch.from_numpy(now.copy()).requires_grad_()
        out = module(leaf[None])[0]
        (out[i] - out[k] if k >= 0 else out[i]).backward()
        return leaf.grad.numpy()

    return reference.attempts(constraints, lambda attempt: reference.run_on(x, decide, slope, i, fixed, attempt))


def assert_same(search, X, classifier, module, constraints, kappa=0.0, locked=None):
    edits = search.find(classifier, X, constraints, confidence=kappa, locked=locked)
    plain = reference.GreedyOptions(
        modify=constraints.policy.modify,
        add=constraints.policy.add,
        aim=search.aim,
        extend=constraints.extend,
        step=constraints.step,
        levels=constraints.levels,
        kappa=kappa,
        max_steps=MOST_STEPS if constraints.max_steps == NO_LIMIT else constraints.max_steps,
        upper=constraints.upper,
        jump=constraints.jump,
    )
    for u, x in enumerate(X.toarray()):
        fixed = (constraints.upper < 0) | (locked.toarray()[u] > 0 if locked is not None else False)
        for i in range(classifier.m):
            expected, extended = plain_search(module, x, i, fixed, plain)
            items, values = edits.of(u, i)
            assert edits.success[u, i] == (expected is not None)
            assert edits.extended[u, i] == (extended and expected is not None)
            changed = [] if expected is None else np.flatnonzero(expected != x)
            assert items.tolist() == list(changed)
            if expected is not None:
                assert values.tolist() == expected[changed].astype(np.float32).tolist()


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    search=st.sampled_from([Panda(), Margin()]),
    policy=st.sampled_from(sorted(POLICIES)),
    step=st.sampled_from([1.0, 0.5, 0.07]),
    levels=st.sampled_from([0, 1, 5]),
    kappa=st.sampled_from([0.0, 0.3, 2.0]),
    maxiter=st.sampled_from([None, 0, 2]),
    m=st.integers(2, 5),
    hidden=st.sampled_from([3, 24, 100]),
)
def test_both_paths_equal_the_plain_search(seed, search, policy, step, levels, kappa, maxiter, m, hidden):
    X, network, _ = make_case(seed, m=m, hidden=hidden)
    module = as_module(network)
    constraints = make_constraints(POLICIES[policy], X.shape[1], step=step, levels=levels, maxiter=maxiter)
    assert_same(search, X, network, module, constraints, kappa)
    assert_same(search, X, ModuleClassifier(module, m, X.shape[1]), module, constraints, kappa)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    search=st.sampled_from([Panda(), Margin()]),
    policy=st.sampled_from(sorted(POLICIES)),
    jump=st.booleans(),
    step=st.sampled_from([1.0, 0.3]),
)
def test_both_paths_equal_the_plain_search_with_locked_items_and_additions(seed, search, policy, jump, step):
    X, network, rng = make_case(seed)
    module, n_items = as_module(network), X.shape[1]
    constraints = make_constraints(
        POLICIES[policy],
        n_items,
        step=step,
        levels=5,
        locked=rng.choice(n_items, 3, replace=False),
        additions=rng.integers(0, 6, size=n_items) / 5 if jump else None,
    )
    locked = csr_array((rng.random(X.shape) < 0.2).astype(np.float32))
    assert_same(search, X, network, module, constraints, locked=locked)
    assert_same(search, X, ModuleClassifier(module, network.m, n_items), module, constraints, locked=locked)


@pytest.mark.parametrize("search", [Panda, Margin])
def test_in_single_precision_every_success_is_one(search):
    X, network, _ = make_case(5, n_users=12, n_items=60, m=5, hidden=300, dtype=np.float32)
    assert network.weights.W1.dtype == np.float32
    edits = search().find(network, X, make_constraints(POLICIES["modify_add"], X.shape[1]))
    assert edits.success.mean() > 0.9
    for i in range(network.m):
        reached = edits.success[:, i]
        assert (infer(network, edits.apply(X, np.full(12, i)))[reached] == i).all()


def test_a_user_alone_small_batches_and_threads_agree(monkeypatch):
    X, network, _ = make_case(3, n_users=20, n_items=50, m=4, hidden=120)
    constraints = make_constraints(POLICIES["modify_add"], X.shape[1])
    whole = Margin().find(network, X, constraints)
    monkeypatch.setattr(hidden_layer, "BATCH_BYTES", 1)
    monkeypatch.setenv("ATTRIGUARD_THREADS", "3")
    one_by_one = Margin().find(network, X, constraints)
    assert whole.items.tolist() == one_by_one.items.tolist()
    assert whole.indptr.tolist() == one_by_one.indptr.tolist()
    alone = Margin().find(network, X[[7]], constraints)
    assert alone.of(0, 2)[0].tolist() == whole.of(7, 2)[0].tolist()


def test_progress_counts_users_and_no_users_are_no_trouble():
    X, network, _ = make_case(1, n_users=9)
    constraints, seen = make_constraints(POLICIES["modify_add"], X.shape[1]), []
    Panda().find(network, X, constraints, progress=lambda what, share: seen.append(share))
    assert seen[-1] == 1.0
    nobody = Panda().find(network, X[:0], constraints)
    assert nobody.success.shape == (0, network.m)


def test_the_exact_search_asks_for_a_linear_classifier():
    X, network, _ = make_case(1)
    with pytest.raises(ParameterError, match="linear"):
        Exact().find(network, X, make_constraints(POLICIES["modify_add"], X.shape[1]))


def test_a_search_out_of_reach_ends():
    # Value 1 never leads, though every entry raises it: C_0 rises with it.
    network = NetworkClassifier.from_weights(np.ones((500, 2)), np.zeros(2), np.ones((2, 2)), np.array([1.0, 0.0]))
    X = csr_array(np.ones((1, 500), dtype=np.float32) * np.float32(0.2))
    edits = Panda().find(network, X, make_constraints(POLICIES["modify_add"], 500))
    assert edits.success[0].tolist() == [True, False]
    assert edits.of(0, 1)[0].size == 0


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    policy=st.sampled_from(sorted(POLICIES)),
    kappa=st.sampled_from([0.0, 0.3, 2.0]),
    maxiter=st.sampled_from([None, 2]),
)
def test_the_search_on_the_probability_takes_the_smaller_noise(seed, policy, kappa, maxiter):
    X, network, _ = make_case(seed, n_users=6)
    constraints = make_constraints(POLICIES[policy], X.shape[1], levels=5, maxiter=maxiter)
    panda, margin, found = (
        search.find(network, X, constraints, confidence=kappa) for search in (Panda(), Margin(), Probability())
    )
    assert (found.success == (panda.success | margin.success)).all()
    kept = ~panda.extended & ~margin.extended  # otherwise one of them reached the value within the policy
    smaller = np.minimum(np.where(panda.success, panda.cost, np.inf), np.where(margin.success, margin.cost, np.inf))
    assert (found.cost[kept & found.success] == smaller[kept & found.success]).all()
    for u, i in np.argwhere(kept & found.success):
        expected = panda if panda.success[u, i] and panda.cost[u, i] == smaller[u, i] else margin
        assert [part.tolist() for part in found.of(u, i)] == [part.tolist() for part in expected.of(u, i)]
