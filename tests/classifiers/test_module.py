"""Any torch module as the guard's classifier."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from sklearn.base import clone

import attriguard as ag
from attriguard.classifiers.module import ModuleClassifier, check_module
from attriguard.errors import ParameterError


class TwoLayers(torch.nn.Module):
    def __init__(self, n_items, m, *, dropout=0.5):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(n_items, 40),
            torch.nn.Tanh(),
            torch.nn.Dropout(dropout),
            torch.nn.Linear(40, 30),
            torch.nn.ReLU(),
            torch.nn.Linear(30, m),
        )

    def forward(self, x):
        return self.layers(x)


def trained(data, steps=150):
    torch.manual_seed(0)
    module = TwoLayers(data.n_items, data.m, dropout=0.1)
    x, y = torch.from_numpy(data.X.toarray()), torch.from_numpy(np.array(data.y))
    optimiser = torch.optim.Adam(module.parameters(), lr=0.01)
    for _ in range(steps):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(module(x), y).backward()
        optimiser.step()
    return module


@pytest.fixture(scope="module")
def module(small_twin):
    return trained(small_twin.train)


@pytest.mark.parametrize("search", ["panda", "margin", "probability"])
def test_a_guard_protects_with_a_module_of_ones_own(small_twin, module, search):
    train, test = small_twin.split()
    assert module.training
    guard = ag.AttriGuard(classifier=module, search=search).fit(train.X, train.y)
    plan = guard.plan(test.X)
    assert module.training  # handed back as it came
    assert plan.success.mean() > 0.99
    for i in range(small_twin.m):
        reached = plan.success[:, i]
        assert (guard.classifier_.decision_function(plan.candidate(i)).argmax(axis=1)[reached] == i).all()
    assert (plan.expected_cost <= 4.0 * (1 + 1e-9)).all()
    assert not hasattr(clone(guard), "classifier_")


def test_decision_functions_and_gradients_are_the_modules(small_twin, module):
    X = small_twin.X[:300]
    classifier = check_module(module, X, small_twin.m)
    x = torch.from_numpy(X.toarray()).requires_grad_()
    module.eval()
    output = module(x)
    module.train()
    np.testing.assert_allclose(classifier.decision_function(X), output.detach().numpy(), atol=1e-5)
    slope = torch.autograd.grad(output[:, 2].sum(), x)[0].numpy()
    point = classifier.outputs().at(X.toarray())
    np.testing.assert_allclose(point.slope(np.eye(4)[np.full(300, 2)]), slope, atol=1e-5)
    assert (classifier.m, classifier.n_items) == (4, small_twin.n_items)


class Rounded(TwoLayers):
    def forward(self, x):
        return torch.round(super().forward(x))


class Detached(TwoLayers):
    def forward(self, x):
        return super().forward(x).detach()


class Constant(TwoLayers):
    def forward(self, x):
        return super().forward(torch.zeros_like(x))


class Several(TwoLayers):
    def forward(self, x):
        return super().forward(x), x


class Broken(TwoLayers):
    def forward(self, x):
        return super().forward(x) * float("nan")


@pytest.mark.parametrize(
    ("kind", "n_items", "m", "message"),
    [
        (TwoLayers, 300, 5, r"must give 4 decision values a user.*\(8, 4\).*got \(8, 5\)"),
        (TwoLayers, 299, 4, "does not take vectors of 300 entries"),
        (Several, 300, 4, "got tuple"),
        (Broken, 300, 4, "NaN"),
        (Detached, 300, 4, "not differentiable"),
        (Rounded, 300, 4, "not differentiable"),
        (Constant, 300, 4, "not differentiable"),
    ],
)
def test_modules_that_cannot_be_used_are_refused(small_twin, kind, n_items, m, message):
    with pytest.raises(ParameterError, match=message):
        ag.AttriGuard(classifier=kind(n_items, m)).fit(small_twin.X, small_twin.y)


def test_parts_that_were_frozen_stay_frozen_and_empty_rows_are_no_probe(small_twin, module):
    dropout = next(part for part in module.modules() if isinstance(part, torch.nn.Dropout))
    dropout.eval()
    X = small_twin.train.X.tolil()
    X[:20] = 0
    try:
        guard = ag.AttriGuard(classifier=module).fit(csr_array(X), small_twin.train.y)
        guard.plan(small_twin.test.X[:3])
        assert module.training
        assert not dropout.training
    finally:
        dropout.train()


def test_a_softmax_at_the_end_is_welcome(small_twin, module):
    soft = torch.nn.Sequential(module, torch.nn.Softmax(dim=1))
    guard = ag.AttriGuard(classifier=soft).fit(small_twin.train.X, small_twin.train.y)
    plan = guard.plan(small_twin.test.X[:10])
    assert plan.success.mean() > 0.9


def test_double_precision_is_kept(small_twin):
    module = TwoLayers(small_twin.n_items, small_twin.m).double()
    classifier = ModuleClassifier(module, small_twin.m, small_twin.n_items)
    assert classifier.dtype == torch.float64
    assert classifier.decision_function(small_twin.X[:3]).shape == (3, small_twin.m)


def test_a_guard_with_a_module_cannot_be_saved(small_twin, module, tmp_path):
    guard = ag.AttriGuard(classifier=module).fit(small_twin.train.X, small_twin.train.y)
    with pytest.raises(ParameterError, match=r"cannot be saved.*state_dict"):
        guard.save(tmp_path / "g")
    assert not list(tmp_path.iterdir())


def test_only_networks_have_checkpoints(small_twin, module, tmp_path):
    for classifier in ("lr", module):
        with pytest.raises(ParameterError, match="classifier='nn'"):
            ag.AttriGuard(classifier=classifier).fit(small_twin.X, small_twin.y, checkpoint=tmp_path / "c")
