"""A data set and a profile so small that all experiments take seconds."""

from __future__ import annotations

import dataclasses

import pytest

import attriguard as ag
from attriguard.experiments import beyond_seeds
from attriguard.experiments.profiles import PROFILES
from attriguard.experiments.workspace import Workspace

TINY = dataclasses.replace(
    PROFILES["quick"],
    attacker_units=40,
    defender_units=60,
    epochs=3,
    users=20,
    rank=5,
    search_users=dict.fromkeys(PROFILES["quick"].search_users, 3),
    exact_seconds=0.5,
    overlaps=(0.0, 1.0),
    draws=1,
    aware_users=15,
    game_items=3,
    holdouts=1,
    cost_budgets=(2.0,),
    trial_units=20,
    trial_users=10,
)


@pytest.fixture(scope="session", autouse=True)
def two_seeds():
    """Two seeds are as good as three to see an experiment run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beyond_seeds, "SEEDS", 2)
        yield


@pytest.fixture(scope="session")
def tiny_twin():
    return ag.load_dataset("twin", n_users=360, n_items=100, n_values=3, seed=3)


@pytest.fixture
def workspace(tiny_twin):
    """A workspace in a folder of one's own, or in one that is named."""

    def make(folder, *, seed=0, profile=TINY, source="twin"):
        return Workspace(tiny_twin, source=source, profile=profile, folder=folder, seed=seed)

    return make


@pytest.fixture(scope="session")
def shared_work(tiny_twin, tmp_path_factory):
    """One workspace for all who only want to see experiments run: they share what is trained."""
    return Workspace(tiny_twin, source="twin", profile=TINY, folder=tmp_path_factory.mktemp("work"))
