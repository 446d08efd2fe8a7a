"""One browser for each module of tests, and small guards packed for pages."""

from __future__ import annotations

import pytest
from chromium import Chromium, find_chromium

import attriguard as ag


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


def twin():
    return ag.load_dataset("twin", n_users=900, n_items=300, n_values=4, seed=3)
