"""The comparison with the Adversarial Robustness Toolbox, where it is installed."""

from __future__ import annotations

import pytest
from sklearn.linear_model import LogisticRegression

from attriguard.classifiers.linear import as_linear
from attriguard.noise.constraints import make_constraints
from attriguard.noise.jsma import JSMA
from attriguard.noise.policy import POLICIES


def test_jsma_needs_no_more_noise_than_theirs(small_twin):
    pytest.importorskip("art", reason="the Adversarial Robustness Toolbox is not installed")
    from attriguard.bench.art import saliency_maps

    train, test = small_twin.split()
    model = LogisticRegression(C=0.5, max_iter=1000).fit(train.X, train.y)
    X = test.X[:15]
    theirs = saliency_maps(model, X.toarray(), small_twin.m)
    ours = JSMA().find(as_linear(model, m=small_twin.m), X, make_constraints(POLICIES["modify_add"], test.n_items))
    assert ours.success.all()
    assert ours.cost.mean() <= theirs["mean_l0"]
