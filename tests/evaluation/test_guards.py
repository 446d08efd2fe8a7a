"""Guards that are kept: learnt once, the same afterwards."""

from __future__ import annotations

import numpy as np
import pytest

import attriguard as ag
from attriguard.evaluation.cache import Cache
from attriguard.evaluation.guards import fit_kept


@pytest.mark.parametrize(
    "options",
    [{}, {"goal": "conceal", "members": 1, "random_state": 0}, {"goal": "both", "members": 1, "random_state": 0}],
)
def test_a_guard_is_learnt_once(small_twin, tmp_path, monkeypatch, options):
    train, test = small_twin.split()
    cache = Cache(tmp_path)
    plain = ag.AttriGuard(**options).fit(train.X, train.y).plan(test.X)
    first = fit_kept(ag.AttriGuard(**options), train.X, train.y, cache).plan(test.X)
    with monkeypatch.context() as patched:
        patched.setattr(ag.AttriGuard, "fit", None)
        again = fit_kept(ag.AttriGuard(**options), train.X, train.y, cache).plan(test.X)
    for plan in (first, again):
        np.testing.assert_array_equal(plan.probabilities, plain.probabilities)
        np.testing.assert_array_equal(plan.edits.items, plain.edits.items)
    (file,) = (tmp_path / "guards").iterdir()
    file.write_bytes(file.read_bytes()[:100])
    fit_kept(ag.AttriGuard(**options), train.X, train.y, cache)
    fit_kept(ag.AttriGuard(**options), train.X[:400], train.y[:400], cache)
    assert len(list((tmp_path / "guards").iterdir())) == 2


def test_unseeded_chance_is_not_kept(small_twin, tmp_path):
    fit_kept(ag.AttriGuard(goal="conceal", members=1), small_twin.X, small_twin.y, Cache(tmp_path))
    assert not (tmp_path / "guards").exists()
