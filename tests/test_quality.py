"""Floors of quality on the paper's data (skipped where it is not) and on the twin."""

from __future__ import annotations

import numpy as np
import pytest

import attriguard as ag
from attriguard.evaluation.engine import evaluate


@pytest.fixture(scope="module")
def attackers(google_play):
    train = google_play.train
    return [ag.attacks.get("LR-A").fit(train.X, train.y), ag.attacks.get("RF-A", random_state=0).fit(train.X, train.y)]


@pytest.fixture(scope="module")
def plans(google_play):
    train, test = google_play.train, google_play.test
    guard = ag.AttriGuard().fit(train.X, train.y)
    accuracy = (guard.classifier_.decision_function(test.X).argmax(axis=1) == test.y).mean()
    return {
        "accuracy": accuracy,
        "margin": guard.plan(test.X),
        "panda": guard.set_params(search="panda").plan(test.X),
    }


def test_the_defenders_classifier_is_as_good_as_the_papers(plans):
    assert 0.43 <= plans["accuracy"] <= 0.44


@pytest.mark.parametrize(("search", "logistic", "forest"), [("panda", 0.13, 0.23), ("margin", 0.10, 0.17)])
def test_budget_4_on_the_papers_data(google_play, plans, attackers, search, logistic, forest):
    plan = plans[search]
    assert plan.success.all()
    y = google_play.test.y
    curves = evaluate(plan, attackers, y, [0, 1, 2, 4])
    assert curves[0].accuracy[0] == pytest.approx(0.43, abs=0.02)
    assert curves[1].accuracy[0] == pytest.approx(0.44, abs=0.03)
    assert curves[0].accuracy[-1] <= logistic
    assert curves[1].accuracy[-1] <= forest
    for curve in curves:
        assert (np.diff(curve.accuracy) < 0).all()


def test_margin_needs_less_noise_than_panda_on_all_test_users(plans):
    assert plans["margin"].cost.mean() < plans["panda"].cost.mean() - 0.1
    assert plans["panda"].cost.mean() < 3.2


def test_the_guard_works_on_the_twin():
    twin = ag.load_dataset("twin")
    train, test = twin.split()
    plan = ag.AttriGuard().fit(train.X, train.y).plan(test.X)
    (curve,) = evaluate(plan, [ag.attacks.get("LR-A").fit(train.X, train.y)], test.y, [0, 4])
    assert plan.success.all()
    assert 2.0 < plan.cost.mean() < 3.5
    assert curve.accuracy[0] > 0.40
    assert curve.accuracy[1] < 0.12
