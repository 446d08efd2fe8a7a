"""The goals over several seeds: what is recorded, and that a second run computes nothing anew."""

from __future__ import annotations

import json

import numpy as np
import pytest

import attriguard as ag
from attriguard.evaluation.cache import Cache
from attriguard.experiments import goals
from attriguard.experiments.record import interval


def test_goals_over_seeds(tmp_path):
    data = ag.load_dataset("twin", n_users=700, n_items=200, n_values=3, seed=4)
    options = {"goals": ["mislead", "conceal"], "seeds": [0, 1], "budgets": [1.0, 3.0], "attacks": ["LR-A"], "draws": 1}
    found = goals.run(data, **options, cache=Cache(tmp_path))
    for goal in options["goals"]:
        records = found["goals"][goal]
        assert [record["seed"] for record in records] == [0, 1]
        knows = np.array([record["knows"]["LR-A"] for record in records])
        best = found["best_attacker"][goal]["knows"]
        np.testing.assert_allclose(best["mean"], knows.mean(axis=0), atol=1e-4)
        assert all(width >= 0 for width in best["interval"])
        assert all(len(record["detection"]) == 2 for record in records)
    assert found["goals"]["conceal"][0]["changes"] == [1.0, 3.0]
    stored = len(list((tmp_path / "predictions").iterdir()))
    again = goals.run(data, **options, cache=Cache(tmp_path))
    assert json.dumps(again) == json.dumps(found)
    assert len(list((tmp_path / "predictions").iterdir())) == stored


def test_the_interval_is_students():
    figures = np.array([[0.30], [0.32], [0.34]])
    assert interval(figures)[0] == pytest.approx(4.3027 * 0.02 / np.sqrt(3), rel=1e-4)
    assert interval(figures[:1])[0] == 0


def test_the_command_is_recorded_and_the_twin_has_the_size_asked_for(tmp_path):
    goals.main(
        ["--dataset", "twin", "--twin", "600x150x2", "--goals", "mislead,both", "--seeds", "3", "--budgets", "2",
         "--attacks", "LR-A", "--split", "0.5", "--work", str(tmp_path / "w"), "--output", str(tmp_path / "o.json")]
    )  # fmt: skip
    found = json.loads((tmp_path / "o.json").read_text())
    assert "--twin 600x150x2" in found["command"]
    assert str(tmp_path) not in found["command"]
    for goal, share in (("mislead", 0.0), ("both", 0.5)):
        (record,) = found["goals"][goal]
        assert sum(record["users"].values()) == 600
        assert record["split"] == share
