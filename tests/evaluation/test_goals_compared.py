"""The goals over several seeds: what is recorded, and that a second run computes nothing anew."""

from __future__ import annotations

import json

import numpy as np
import pytest

import attriguard as ag
from attriguard.evaluation.cache import Cache
from attriguard.evaluation.figures import interval
from attriguard.evaluation.goals_compared import Compared, goals_over_seeds
from attriguard.evaluation.measure import Measure


def test_goals_over_seeds(tmp_path):
    data = ag.load_dataset("twin", n_users=700, n_items=200, n_values=3, seed=4)

    def run():
        return goals_over_seeds(
            data,
            ag.AttriGuard(scale=data.scale),
            [ag.attacks.get("LR-A")],
            [1.0, 3.0],
            compared=Compared(goals=["mislead", "conceal"], seeds=[0, 1]),
            measure=Measure(cache=Cache(tmp_path)),
        ).record()

    found = run()
    for goal in ("mislead", "conceal"):
        records = found["goals"][goal]
        assert [record["seed"] for record in records] == [0, 1]
        knows = np.array([record["knows"]["LR-A"] for record in records])
        best = found["best_attacker"][goal]["knows"]
        np.testing.assert_allclose(best["mean"], knows.mean(axis=0), atol=1e-4)
        assert all(width >= 0 for width in best["interval"])
        assert all(len(record["detection"]) == 2 for record in records)
    assert found["goals"]["conceal"][0]["changes"] == [1.0, 3.0]
    stored = len(list((tmp_path / "predictions").iterdir()))
    assert json.dumps(run()) == json.dumps(found)
    assert len(list((tmp_path / "predictions").iterdir())) == stored


def test_the_split_is_for_both_alone():
    data = ag.load_dataset("twin", n_users=600, n_items=150, n_values=2)
    guard = ag.AttriGuard(scale=data.scale, split=0.5, members=1)
    found = goals_over_seeds(
        data, guard, [ag.attacks.get("LR-A")], [2.0], compared=Compared(goals=["mislead", "both"], seeds=[3])
    )
    for goal, share in (("mislead", 0.0), ("both", 0.5)):
        (record,) = found.record()["goals"][goal]
        assert sum(record["users"].values()) == 600
        assert record["split"] == share


def test_every_seed_has_attackers_of_its_own():
    data = ag.load_dataset("twin", n_users=600, n_items=150, n_values=2)
    forest = ag.attacks.get("RF-A")
    one, two = (
        goals_over_seeds(
            data, ag.AttriGuard(), [forest], [2.0], compared=Compared(goals=["mislead"], seeds=[3])
        ).record()
        for _ in range(2)
    )
    assert one == two  # an attack without a seed gets the measurement's
    assert forest.random_state is None


def test_the_interval_is_students():
    figures = np.array([[0.30], [0.32], [0.34]])
    assert interval(figures)[0] == pytest.approx(4.3027 * 0.02 / np.sqrt(3), rel=1e-4)
    assert interval(figures[:1])[0] == 0


def test_attackers_who_undo_the_guard_count_among_those_who_know_it():
    data = ag.load_dataset("twin", n_users=600, n_items=100, n_values=2)
    plain, guard = [ag.attacks.get("LR-A")], ag.AttriGuard(scale=data.scale, members=1)
    wanted = Compared(goals=["mislead", "conceal"], seeds=[3], inversion=plain)
    found = goals_over_seeds(data, guard, plain, [2.0], compared=wanted).record()
    for goal, name in (("mislead", "mechanism inversion with LR-A"), ("conceal", "removal inversion with LR-A")):
        (record,) = found["goals"][goal]
        assert list(record["knows"]) == ["LR-A", name]
        best = max(record["knows"].values())
        assert found["best_attacker"][goal]["knows"]["mean"] == best
