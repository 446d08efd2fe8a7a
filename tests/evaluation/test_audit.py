"""The audit as a whole: what it measures, and that its progress goes from start to end."""

from __future__ import annotations

import numpy as np
import pytest

import attriguard as ag
from attriguard.errors import DataError, ParameterError
from attriguard.evaluation.audit import audit, goal_budgets, split_for_audit
from attriguard.evaluation.engine import evaluate


@pytest.fixture(scope="module")
def told():
    return []


@pytest.fixture(scope="module")
def result(small_twin, told):
    attacks = ag.attacks.lineup(["BA-A", "LR-A"])
    guard = ag.AttriGuard(scale=small_twin.scale)
    return audit(
        small_twin, guard=guard, attacks=attacks, budgets=[1.0, 3.0], knowing=ag.attacks.get("LR-A"),
        progress=lambda what, done: told.append((what, done)),
    )  # fmt: skip


def test_its_curves_are_the_engines(result, small_twin):
    train, test = split_for_audit(small_twin, 0)
    attacks = ag.attacks.lineup(["BA-A", "LR-A"])
    assert list(result.curves) == evaluate(result.plan, attacks, test.y, [0, 1, 3], train=(train.X, train.y))
    assert result.budgets == (0.0, 1.0, 3.0)


def test_guessing_is_no_attack(result):
    assert result.baselines == ("BA-A",)
    assert [curve.attack for curve in result.learnt] == ["LR-A"]
    assert result.worst_now.attack == "LR-A"
    assert result.guessing == result.curves[0].accuracy[0]


def test_knowing_the_guard_is_measured_on_three_groups(result):
    assert result.aware.n_guard + result.aware.n_attacker == result.n_train
    assert result.aware.draws == 2
    assert result.aware.retrained[0].accuracy[0] > result.aware.unaware[0].accuracy[0]


def test_progress_rises_from_start_to_end(result, told):
    shares = [done for _, done in told]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] == pytest.approx(1.0)
    assert ("LR-A retrained: attacks", pytest.approx(1.0)) in told
    assert any(what == "BA-A: attacks" for what, _ in told)


def test_three_budgets_are_enough_to_compare_goals():
    assert goal_budgets((0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)) == [2.0, 4.0, 8.0]
    assert goal_budgets((0.0, 3.0)) == [3.0]


def test_bad_input_is_named(small_twin):
    lr = ag.attacks.get("LR-A")
    with pytest.raises(ParameterError, match="name an attacker who knows"):
        audit(small_twin, guard=ag.AttriGuard(), attacks=[lr], budgets=[1.0], all_goals=True)
    with pytest.raises(ParameterError, match="budgets"):
        audit(small_twin, guard=ag.AttriGuard(), attacks=[lr], budgets=[2.0, 1.0])
    with pytest.raises(DataError, match="fewer than 2 users"):
        split_for_audit(small_twin.take([0, 1, 2]), 0)


def test_the_spread_of_changes_is_what_draws_give(small_twin, small_guard):
    from attriguard.evaluation.audit import spread_of

    X = small_twin.test.X
    plan = small_guard.plan(X, budget=3.0)
    spread = spread_of(plan)
    assert sum(share for _, share in spread.sizes) == pytest.approx(1.0)
    assert spread.added + spread.removed + spread.rated_anew == pytest.approx(plan.expected_cost.mean())
    releases = [plan.release(seed) for seed in range(200)]
    added = np.mean([((release > 0).astype(int) - (X > 0).astype(int) > 0).sum() / X.shape[0] for release in releases])
    assert spread.added == pytest.approx(added, abs=0.05)
