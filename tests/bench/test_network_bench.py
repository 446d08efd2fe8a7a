"""The network's benchmarks run, and both searches find the same noise."""

from __future__ import annotations

import sys

import pytest

from attriguard.bench import network
from attriguard.errors import MissingExtraError


def test_a_missing_extra_is_named(small_twin, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"attriguard\[nn\]"):
        network.run(small_twin)


def test_the_figures_of_networks(small_twin):
    training, accuracy, memory, search = network.run(
        small_twin, attacker=200, defender=300, epochs=3, users=12, plain_users=4
    )
    assert training.value > 0
    assert training.details["estimated_from_batches_dense"] == network.DENSE_BATCHES
    assert 0.25 < accuracy.value <= 1
    assert accuracy.floor == 0  # the floor is for the paper's data and size
    assert 0.05 < memory.value < 3
    assert search.value > 0
    assert search.details["mean_l0_same_users"] == pytest.approx(search.details["mean_l0_autograd"], abs=0.3)
