"""A classifier of one's own, in NumPy, under every search that needs no linear one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from attriguard.classifiers.base import Classifier, infer
from attriguard.classifiers.ensemble import Ensemble
from attriguard.classifiers.linear import LinearClassifier
from attriguard.classifiers.network import NetworkClassifier
from attriguard.classifiers.outputs import Outputs, Point
from attriguard.classifiers.weights import Weights
from attriguard.errors import ParameterError
from attriguard.noise import FGSM, JSMA, CarliniWagner, Exact, Margin, Panda, make_constraints
from attriguard.noise.policy import POLICIES

ITEMS, M = 14, 3
CONSTRAINTS = make_constraints(POLICIES["modify_add"], ITEMS)


class Quadratic(Classifier):
    """C_i(x) = a_i·x − q_i·x²: an entry counts less the larger it is."""

    m, n_items = M, ITEMS

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.a, self.q, self.b = rng.normal(size=(M, ITEMS)), rng.random((M, ITEMS)) * 0.5, rng.normal(size=M) * 0.2

    def decision_function(self, X):
        x = X.toarray().astype(np.float64)
        return x @ self.a.T - (x * x) @ self.q.T + self.b

    def outputs(self):
        return QuadraticOutputs(self)


class QuadraticOutputs(Outputs):
    m = M

    def __init__(self, classifier):
        self.classifier = classifier

    def at(self, rows):
        c = self.classifier
        return Point(c.decision_function(csr_array(rows)), lambda mix: mix @ c.a - 2 * rows * (mix @ c.q))


def users(seed, n=6):
    rng = np.random.default_rng(seed)
    return csr_array((rng.integers(1, 6, size=(n, ITEMS)) / 5 * (rng.random((n, ITEMS)) < 0.4)).astype(np.float32))


@pytest.mark.parametrize(
    "search",
    [Panda(), Margin(), FGSM(), JSMA(), JSMA(pairs=True), CarliniWagner(steps=30, searches=3)],
    ids=repr,
)
def test_every_search_misleads_a_classifier_of_ones_own(search):
    classifier, X = Quadratic(3), users(3)
    edits = search.find(classifier, X, CONSTRAINTS)
    assert edits.success.mean() > (0.7 if search == Panda() or search == Margin() else 0.4)
    assert (edits.cost[edits.success].max()) > 0
    for i in range(M):
        released = edits.apply(X, np.full(X.shape[0], i))
        assert (infer(classifier, released)[edits.success[:, i]] == i).all()


def test_the_exact_search_still_asks_for_a_linear_one():
    with pytest.raises(ParameterError, match="needs a linear classifier, Quadratic is not"):
        Exact().find(Quadratic(0), users(0), CONSTRAINTS)


class Plain(Classifier):
    """A package's classifier behind the protocol's default engine."""

    def __init__(self, inner):
        self.inner = inner

    @property
    def m(self):
        return self.inner.m

    @property
    def n_items(self):
        return self.inner.n_items

    def decision_function(self, X):
        return self.inner.decision_function(X)

    def outputs(self):
        return self.inner.outputs()


@pytest.mark.parametrize("search", [Panda(), Margin()], ids=repr)
@pytest.mark.parametrize("kind", ["linear", "network"])
@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_the_default_engine_finds_what_the_fast_paths_find(search, kind, policy):
    rng = np.random.default_rng(5)
    if kind == "linear":
        inner = LinearClassifier(rng.normal(size=(M, ITEMS)), rng.normal(size=M))
    else:
        shapes = (ITEMS, 30), (30,), (30, M), (M,)
        inner = NetworkClassifier.from_weights(*(rng.normal(size=shape) for shape in shapes))
    asked = replace(CONSTRAINTS, policy=POLICIES[policy], max_steps=40)
    fast, plain = (search.find(each, users(5, n=12), asked, confidence=0.2) for each in (inner, Plain(inner)))
    for name in ("indptr", "items", "values", "success", "extended"):
        np.testing.assert_array_equal(getattr(fast, name), getattr(plain, name))


@pytest.mark.parametrize("search", [Panda(), FGSM()], ids=repr)
def test_an_ensemble_has_no_gradient_to_follow(search):
    rng = np.random.default_rng(0)
    weights = Weights(*(rng.normal(size=shape).astype(np.float32) for shape in ((ITEMS, 4), (4,), (4, M), (M,))))
    with pytest.raises(ParameterError, match=r"needs a linear classifier, a network.*got Ensemble"):
        search.find(Ensemble([weights], np.full(M, 1 / M)), users(0), CONSTRAINTS)
