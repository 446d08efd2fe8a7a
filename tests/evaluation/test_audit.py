"""The audit as a whole: what it measures, what it keeps, and that its progress goes from start to end."""

from __future__ import annotations

import pytest

import attriguard as ag
from attriguard.data.public_data import PublicData
from attriguard.errors import DataError, ParameterError
from attriguard.evaluation.audit import audit, goal_budgets, split_for_audit


@pytest.fixture(scope="module")
def told():
    return []


@pytest.fixture(scope="module")
def result(small_twin, told):
    attacks = ag.attacks.lineup(["BA-A", "LR-A"])
    guard = ag.AttriGuard(scale=small_twin.scale)
    return audit(
        small_twin, guard=guard, attacks=attacks, budgets=[1.0, 3.0], retrained=[ag.attacks.get("LR-A")],
        progress=lambda what, done: told.append((what, done)),
    )  # fmt: skip


def test_everyone_who_discloses_is_attacked(result, small_twin):
    assert result.now.n_users == small_twin.n_users
    assert result.trial.n_guard + result.trial.n_attacker + result.trial.n_test == small_twin.n_users
    assert result.trial.budgets == (0.0, 1.0, 3.0)


def test_it_speaks_of_accuracy_where_that_is_above_guessing(result, small_twin):
    assert result.figure == "accuracy"
    assert result.guessing == result.now.guessing
    two = small_twin.take(small_twin.y < 2)
    two = PublicData(X=two.X, users=two.users, items=two.items, scale=two.scale, attribute="city", y=two.y,
                     values=two.values[:2])  # fmt: skip
    found = audit(two, guard=ag.AttriGuard(scale=two.scale), attacks=[ag.attacks.get("LR-A")], budgets=[0.0])
    assert (found.figure, found.guessing) == ("auc", 0.5)


def test_it_keeps_nobodys_ratings(result):
    assert not any(isinstance(value, PublicData) for value in vars(result).values())
    assert not hasattr(result.guard, "classes_")
    assert set(result.about.items) == {item.column for item in result.revealing}


def test_progress_rises_from_start_to_end(result, told):
    shares = [done for _, done in told]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] > 0.95
    assert any(what.startswith("LR-A retrained") for what, _ in told)


def test_three_budgets_are_enough_to_compare_goals():
    assert goal_budgets((0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)) == [2.0, 4.0, 8.0]
    assert goal_budgets((0.0, 3.0)) == [3.0]


def test_bad_input_is_named(small_twin):
    lr = ag.attacks.get("LR-A")
    with pytest.raises(ParameterError, match="name attackers who know"):
        audit(small_twin, guard=ag.AttriGuard(), attacks=[lr], budgets=[1.0], all_goals=True)
    with pytest.raises(ParameterError, match="budgets"):
        audit(small_twin, guard=ag.AttriGuard(), attacks=[lr], budgets=[2.0, 1.0])
    with pytest.raises(ParameterError, match="only guess"):
        audit(small_twin, guard=ag.AttriGuard(), attacks=[ag.attacks.get("BA-A")], budgets=[1.0])
    with pytest.raises(DataError, match=r"fewer than 2 users.*--min-users"):
        split_for_audit(small_twin.take([0, 1, 2]), 0)
