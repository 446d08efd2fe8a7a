"""What a guard buys: three groups that share nobody, and the strongest of all attackers."""

from __future__ import annotations

import numpy as np
import pytest

import attriguard as ag
from attriguard.evaluation.audit import audit_groups
from attriguard.evaluation.inference import inference
from attriguard.evaluation.protection import RELEASES, protection
from attriguard.evaluation.spread import spread_of
from attriguard.progress import Progress


@pytest.fixture(scope="module")
def groups(small_twin):
    return audit_groups(small_twin.take(small_twin.disclosed), 0)


@pytest.fixture(scope="module")
def trial(small_twin, groups):
    guard = ag.AttriGuard(scale=small_twin.scale)
    attacks = ag.attacks.lineup(["LR-A", "RF-A"], random_state=0)
    return protection(groups, guard, attacks, attacks[:1], [0.0, 1.0, 3.0], seed=0, progress=Progress())


def test_the_groups_share_nobody_and_have_all_values(small_twin, groups):
    everybody = np.concatenate([group.users for group in groups])
    assert np.unique(everybody).size == everybody.size == small_twin.n_users
    assert all(np.unique(group.y).size == small_twin.m for group in groups)


def test_values_with_too_few_users_for_three_groups_are_told(small_twin):
    few = np.concatenate([np.flatnonzero(small_twin.y == k)[: 100 if k else 5] for k in range(small_twin.m)])
    assert audit_groups(small_twin.take(few), 0) is None


def test_every_attacker_is_measured_at_every_budget(trial, groups):
    assert (trial.n_guard, trial.n_attacker, trial.n_test) == tuple(group.n_users for group in groups)
    shown = {(attack, retrained): [point.budget for point in points] for attack, retrained, points in trial.lines()}
    assert shown == {("LR-A", False): [0, 1, 3], ("RF-A", False): [0, 1, 3], ("LR-A", True): [1, 3]}
    assert trial.changes[0] == 0
    assert 0 < trial.changes[1] <= 1 < trial.changes[2] <= 3


def test_who_does_not_know_learnt_from_rows_as_they_are(trial, groups, small_twin):
    attack = ag.attacks.get("LR-A").fit(groups.attacker_users.X, groups.attacker_users.y)
    guard = ag.AttriGuard(scale=small_twin.scale).fit(groups.guard_users.X, groups.guard_users.y)
    users = groups.test_users
    plan, together = guard.plan(users.X, budget=3.0), np.zeros(users.n_users, dtype=np.int64)

    def accuracy(rows):
        return inference("LR-A", "original", attack.predict_proba(rows), users.y, together).accuracy.value

    (before,) = (each for each in trial.at(0.0) if each.attack == "LR-A")
    assert before.accuracy.value == pytest.approx(accuracy(users.X))
    (after,) = (each for each in trial.at(3.0) if each.attack == "LR-A" and not each.retrained)
    assert after.accuracy.value == pytest.approx(np.mean([accuracy(plan.release(k)) for k in range(RELEASES)]))


def test_the_strongest_may_be_who_knows_the_guard(trial):
    for figure in ("accuracy", "auc"):
        best = trial.strongest(3.0, figure)
        assert getattr(best, figure).value == max(getattr(each, figure).value for each in trial.at(3.0))
    assert trial.strongest(3.0, "auc").retrained
    before = trial.strongest(0.0, "auc")
    change = trial.change("auc")
    assert change.value == pytest.approx(trial.strongest(3.0, "auc").auc.value - before.auc.value)
    assert change.margin < before.auc.margin + trial.strongest(3.0, "auc").auc.margin  # the same users


def test_the_spread_of_changes_is_what_draws_give(small_twin, small_guard):
    X = small_twin.test.X
    plan = small_guard.plan(X, budget=3.0)
    spread = spread_of(plan)
    assert sum(share for _, share in spread.sizes) == pytest.approx(1.0)
    assert spread.added + spread.removed + spread.rated_anew == pytest.approx(plan.expected_cost.mean())
    releases = [plan.release(seed) for seed in range(200)]
    added = np.mean([((release > 0).astype(int) - (X > 0).astype(int) > 0).sum() / X.shape[0] for release in releases])
    assert spread.added == pytest.approx(added, abs=0.05)
