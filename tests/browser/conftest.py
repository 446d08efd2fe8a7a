"""One browser for each module of tests, and small guards packed for pages."""

from __future__ import annotations

import numpy as np
import pytest
from chromium import Chromium, find_chromium
from parity import guard_of

import attriguard as ag
from attriguard.classifiers.ensemble import Ensemble
from attriguard.classifiers.linear import LinearClassifier
from attriguard.classifiers.weights import Weights


@pytest.fixture(scope="module")
def browser():
    if find_chromium() is None:
        pytest.skip("there is no Chromium on this machine")
    with Chromium() as running:
        yield running


@pytest.fixture(scope="session")
def people():
    """Users that no guard here has learnt from."""
    return twin().test


@pytest.fixture(scope="session")
def guard():
    """A guard for all three goals."""
    return ag.learn(twin().train, goal="both", members=3, split=0.5, random_state=0)


@pytest.fixture(scope="session")
def large_guard():
    """10,000 items, 25 values, and an ensemble of the usual size, with weights that nobody has learnt."""
    rng = np.random.default_rng(0)
    shapes = (10_000, 128), 128, (128, 25), 25
    members = [Weights(*(rng.normal(size=shape, scale=0.2).astype("f4") for shape in shapes)) for _ in range(8)]
    classifier = LinearClassifier(rng.normal(size=(25, 10_000), scale=0.3), rng.normal(size=25))
    return guard_of({"classifier": classifier, "ensemble": Ensemble(members, np.full(25, 0.04))}, 10_000, 25)


def twin():
    return ag.load_dataset("twin", n_users=900, n_items=300, n_values=4, seed=3)
