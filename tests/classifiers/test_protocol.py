"""What every classifier offers: its size, its views, and the tensors that a guard file keeps of it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

import attriguard as ag
from attriguard.classifiers.base import Classifier
from attriguard.classifiers.ensemble import Ensemble
from attriguard.classifiers.factory import CLASSIFIER_KINDS
from attriguard.classifiers.linear import LinearClassifier
from attriguard.classifiers.module import ModuleClassifier
from attriguard.classifiers.network import NetworkClassifier
from attriguard.classifiers.weights import Weights
from attriguard.errors import DataError, ParameterError

ITEMS, M = 7, 3


def weights(rng, hidden, dtype=np.float32):
    shapes = (ITEMS, hidden), (hidden,), (hidden, M), (M,)
    return Weights(*(rng.normal(size=shape).astype(dtype) for shape in shapes))


def make(kind):
    rng = np.random.default_rng(0)
    if kind == "linear":
        return LinearClassifier(rng.normal(size=(M, ITEMS)), rng.normal(size=M))
    if kind == "network":
        return NetworkClassifier.from_weights(**weights(rng, 5).parts)
    if kind == "ensemble":
        return Ensemble([weights(rng, 4), weights(rng, 6)], [0.2, 0.3, 0.5])
    return ModuleClassifier(torch.nn.Linear(ITEMS, M), M, ITEMS)


def rows(n=4):
    rng = np.random.default_rng(1)
    return (rng.random((n, ITEMS)) * (rng.random((n, ITEMS)) < 0.5)).astype(np.float32)


@pytest.mark.parametrize("kind", ["linear", "network", "module"])
def test_outputs_decide_as_the_classifier_and_their_slopes_are_derivatives(kind):
    classifier, x = make(kind), rows().astype(np.float32)
    outputs = classifier.outputs()
    point = outputs.at(x)
    scores = classifier.decision_function(csr_array(x))
    leads = point.scores - point.scores[:, :1]
    np.testing.assert_allclose(leads, scores - scores[:, :1], atol=1e-5)
    mix = np.random.default_rng(2).normal(size=(4, M)).astype(np.float32)
    slope = np.asarray(point.slope(mix))
    for j in range(ITEMS):
        shifted = x.copy()
        shifted[:, j] += 1e-3
        change = ((outputs.at(shifted).scores - point.scores) * mix).sum(axis=1) / 1e-3
        np.testing.assert_allclose(slope[:, j], change, atol=2e-2)
    columns, which = np.array([1, 4]), np.array([0, 2])
    near = outputs.among(x, columns)(x[np.ix_(which, columns)], which)
    np.testing.assert_allclose(near.scores, point.scores[which], atol=1e-5)
    np.testing.assert_allclose(near.slope(mix[which]), slope[np.ix_(which, columns)], atol=1e-5)


def test_an_ensemble_has_no_outputs_and_says_so():
    for view in (make("ensemble").outputs, make("ensemble").pair_engine):
        with pytest.raises(ParameterError, match=r"needs a linear classifier.*got Ensemble"):
            view()


@pytest.mark.parametrize("kind", ["linear", "network", "ensemble"])
def test_tensors_come_back_as_the_same_classifier(kind):
    classifier, X = make(kind), csr_array(rows())
    assert (classifier.kind, classifier.m, classifier.n_items) == (kind, M, ITEMS)
    assert CLASSIFIER_KINDS[kind] is type(classifier)
    tensors = classifier.tensors()
    again = CLASSIFIER_KINDS[kind].from_tensors(tensors | {"target": np.zeros(2)})  # a file holds other tensors, too
    assert type(again) is type(classifier)
    assert (again.decision_function(X) == classifier.decision_function(X)).all()
    assert set(again.tensors()) == set(tensors)


def test_a_guard_file_can_hold_a_classifier_and_an_ensemble_side_by_side():
    tensors = make("ensemble").tensors() | make("network").tensors()
    assert set(tensors) == {"W1", "b1", "W2", "b2", "prior", "shares"} | {
        f"member{k}.{name}" for k in (0, 1) for name in ("W1", "b1", "W2", "b2")
    }
    for kind in ("network", "ensemble"):
        again = CLASSIFIER_KINDS[kind].from_tensors(tensors)
        assert (again.decision_function(csr_array(rows())) == make(kind).decision_function(csr_array(rows()))).all()


@pytest.mark.parametrize(
    ("kind", "change", "error"),
    [
        ("linear", {"coef": None}, "'coef'.*missing"),
        ("linear", {"intercept": np.zeros(M + 1)}, "weights"),
        ("linear", {"coef": np.full((M, ITEMS), np.inf)}, "not finite"),
        ("network", {"b1": None}, "'b1'.*missing"),
        ("network", {"W2": np.zeros((5, M + 1), np.float32)}, "weights"),
        ("network", {"W1": np.full((ITEMS, 5), np.nan, np.float32)}, "not finite"),
        ("ensemble", {"prior": None}, "'prior'.*missing"),
        ("ensemble", {"prior": np.array([0.5, 0.5, np.inf])}, "prior"),
        ("ensemble", {"prior": np.array([0.5, 0.5])}, "prior"),
        ("ensemble", {"member0.W1": None}, "'member0.W1'.*missing"),
        ("ensemble", {f"member0.{name}": None for name in ("W1", "b1", "W2", "b2")}, "missing"),
        ("ensemble", {"member1.b1": np.zeros(9, np.float32)}, "weights"),
        ("ensemble", {"member1.b2": np.full(M, np.nan, np.float32)}, "not finite"),
    ],
)
def test_damaged_tensors_are_refused(kind, change, error):
    tensors = {name: part for name, part in (make(kind).tensors() | change).items() if part is not None}
    with pytest.raises((DataError, ParameterError), match=error):
        CLASSIFIER_KINDS[kind].from_tensors(tensors)


def test_what_is_code_cannot_be_written_down():
    with pytest.raises(ParameterError, match="torch module of your own cannot be saved"):
        make("module").tensors()
    with pytest.raises(ParameterError, match=r"classifier of your own \(Own\) cannot be saved"):
        Own().tensors()
    with pytest.raises(ParameterError, match="cannot hold a Own"):
        Own.from_tensors({})
    with pytest.raises(ParameterError, match="unknown kind of classifier 'forest'; known: linear, network, ensemble"):
        CLASSIFIER_KINDS["forest"]


class Own(Classifier):
    """Linear, and not of this package."""

    is_linear = True
    coef_, intercept_ = np.eye(M, ITEMS), np.zeros(M)
    m, n_items = M, ITEMS

    def decision_function(self, X):
        return np.asarray(X @ self.coef_.T)


def test_a_guard_takes_a_trained_classifier_of_ones_own():
    X, y = csr_array(rows(6)), np.array([0, 1, 2, 0, 1, 2])
    guard = ag.AttriGuard(Own()).fit(X, y)
    plan = guard.plan(X)
    assert guard.classifier_.decision_function(plan.candidate(2))[plan.success[:, 2]].argmax(axis=1).tolist() == [2] * 6
    with pytest.raises(ParameterError, match="for 7 items and 3 values, the data has 7 and 2"):
        ag.AttriGuard(Own()).fit(X, np.array([0, 1, 1, 0, 1, 0]))
    with pytest.raises(ParameterError, match="came from a file"):
        ag.AttriGuard(make("linear")).fit(X, y)


def test_the_room_exports_what_people_extend():
    from attriguard import classifiers

    assert set(dir(classifiers)) == set(classifiers.__all__)
    assert classifiers.Classifier is Classifier
    assert all(getattr(classifiers, name) is not None for name in classifiers.__all__)
    with pytest.raises(AttributeError, match="forest"):
        classifiers.forest  # noqa: B018
