"""The exact search against brute force, and as the yardstick of the greedy ones."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy.sparse import csr_array

from attriguard.classifiers.linear import LinearClassifier
from attriguard.noise.constraints import make_constraints
from attriguard.noise.exact import Exact
from attriguard.noise.greedy import Margin, Panda
from attriguard.noise.policy import POLICIES


def brute_force(x, W, b, i, policy, kappa, grid, additions=None):
    """The fewest entries whose change to values they may have makes C infer i; None if there are none."""
    choices = {}
    for j in range(x.size):
        if x[j] and policy.modify:
            choices[j] = grid
        elif not x[j] and policy.add:
            choices[j] = grid if additions is None else [additions[j]] if additions[j] else []
    for size in range(len(choices) + 1):
        for chosen in combinations(choices, size):
            for values in product(*(choices[j] for j in chosen)):
                noisy = x.copy()
                noisy[list(chosen)] = values
                scores = W @ noisy + b
                lead = scores[i] - np.delete(scores, i).max()
                if lead >= max(kappa, 1e-6):
                    return size
    return None


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("levels", [2, 5])
@pytest.mark.parametrize("policy", sorted(POLICIES))
@pytest.mark.parametrize("kappa", [0.0, 0.7])
def test_exact_equals_brute_force(policy, kappa, levels, asked):
    rng = np.random.default_rng(len(policy) + levels)
    grid = np.arange(levels + 1) / levels
    for _ in range(4):
        W, b = rng.normal(size=(3, 5)), rng.normal(size=3)
        x = rng.choice(grid, size=5) * (rng.random(5) < 0.6)
        additions = rng.choice(grid, size=5) if asked else None
        constraints = make_constraints(POLICIES[policy], 5, levels=levels, additions=additions)
        edits = Exact().find(
            LinearClassifier(W, b), csr_array(x.astype(np.float32)[None]), constraints, confidence=kappa
        )
        for i in range(3):
            smallest = brute_force(x, W, b, i, POLICIES[policy], kappa, grid, additions)
            extended = smallest is None
            if extended:
                smallest = brute_force(x, W, b, i, POLICIES["modify_add"], kappa, grid, additions)
            if smallest is None:
                assert not edits.success[0, i]
                continue
            assert edits.cost[0, i] == smallest == edits.bound[0, i]
            assert edits.extended[0, i] == (extended and policy != "modify_add")
            values = edits.of(0, i)[1]
            np.testing.assert_allclose(values * levels, np.rint(values * levels), atol=1e-5)


def test_no_greedy_search_finds_less_and_exact_noise_does_its_work():
    rng = np.random.default_rng(8)
    W = rng.normal(size=(5, 200)) * (rng.random((5, 200)) < 0.3)
    x = rng.integers(0, 6, size=(6, 200)) / 5 * (rng.random((6, 200)) < 0.1)
    X, classifier = csr_array(x.astype(np.float32)), LinearClassifier(W, rng.normal(size=5))
    constraints = make_constraints(POLICIES["modify_add"], 200, levels=5)
    exact = Exact(time_limit=20).find(classifier, X, constraints)
    assert exact.success.all()
    for search in (Panda(), Margin()):
        assert (exact.cost <= search.find(classifier, X, constraints).cost).all()
    assert (exact.bound <= exact.cost).all()
    for i in range(5):
        noisy = exact.apply(X, np.full(6, i))
        assert (np.argmax(classifier.decision_function(noisy), axis=1) == i).all()
        assert np.allclose(noisy.data * 5, np.rint(noisy.data * 5), atol=1e-5)


def test_locked_items_and_additions_bind_the_exact_search_too():
    W = np.array([[2.0, 0, 0, 0], [0, 9, 4, 4]])
    X = csr_array(np.array([[1, 0, 0, 0]], dtype=np.float32))
    constraints = make_constraints(
        POLICIES["add_new"], 4, levels=5, locked=np.array([1]), additions=np.array([0, 1, 0.4, 0.2])
    )
    edits = Exact().find(LinearClassifier(W, np.zeros(2)), X, constraints)
    items, values = edits.of(0, 1)
    assert items.tolist() == [2, 3]
    np.testing.assert_allclose(values, [0.4, 0.2])
    locked = csr_array(np.array([[1, 0, 1, 0]], dtype=np.float32))
    assert not Exact().find(LinearClassifier(W, np.zeros(2)), X, constraints, locked=locked).success[0, 1]
