"""The check of a release: it sees what a release gives away, and is not alarmed by one that gives away as much."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from attriguard.attacks import lineup
from attriguard.evaluation.check import Checker
from attriguard.evaluation.inference import divide


@pytest.fixture(scope="module")
def users():
    """Two values; one item in ten is rated more by users of the second value."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    rate = np.where(np.arange(40) < 4, 0.15 + 0.25 * y[:, None], 0.2)
    return csr_array((rng.random((300, 40)) < rate).astype(np.float32)), y


def checker(users, *names):
    X, y = users
    return Checker(X, y, divide(y, 0), lineup(names or ("LR-A",), random_state=0))


def test_the_release_as_it_was_is_no_worse(users):
    found = checker(users).check([users[0]])
    assert not found.worse
    assert found.change().value == 0.0
    assert found.strongest_before().auc.value > 0.6
    assert found.guessing == pytest.approx(np.bincount(users[1]).max() / 300)


def test_a_mark_of_the_truth_is_seen(users):
    """An item that exactly the users of one value get: those who retrain see it, those who do not know it do not."""
    X, y = users
    marked = X.toarray()
    marked[:, 39] = y
    found = checker(users).check([csr_array(marked.astype(np.float32))])
    retrained, unaware = found.after
    assert found.worse
    assert retrained.retrained
    assert retrained.auc.value > 0.99
    assert unaware.auc.value < 0.9
    assert found.strongest_after() is retrained


def test_what_was_removed_cannot_be_inferred(users):
    bare = users[0].toarray()
    bare[:, :4] = 0
    found = checker(users, "LR-A", "MLP-A").check([csr_array(bare)])
    assert not found.worse
    assert found.change().value + found.change().margin < 0
    assert abs(found.strongest_after().auc.value - 0.5) < 0.1


def test_with_two_values_wrong_answers_are_turned_round(users):
    """Users who swap what points to their value mislead who does not know; he sees that, and turns his answers."""
    X, y = users
    swapped = X.toarray()
    swapped[:, :4] = (np.random.default_rng(1).random((300, 4)) < np.where(y[:, None] == 0, 0.6, 0.05)).astype(float)
    found = checker(users).check([csr_array(swapped.astype(np.float32))])
    unaware = next(each for each in found.after if not each.retrained)
    assert unaware.auc.value > 0.8


def test_attackers_are_asked_until_it_is_enough(users):
    asked = checker(users, "LR-A", "MLP-A").check([users[0]], enough=lambda found: len(found) >= 2)
    assert [each.attack for each in asked.before] == ["LR-A"]


def test_pushed_too_far_the_release_tells_again():
    """Who removes whatever points to a user's value, and only that, leaves rows that point away from it."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 400)
    rows = (rng.random((400, 30)) < 0.4).astype(np.float32)
    mine = np.arange(30) % 3 == y[:, None]
    rows[mine & (rng.random(rows.shape) < 0.3)] = 1
    released = rows.copy()
    released[mine & (rng.random(rows.shape) < 0.8)] = 0
    X = csr_array(rows)
    found = Checker(X, y, divide(y, 0), lineup(["LR-A"], random_state=0)).check([csr_array(released)])
    unaware = next(each for each in found.after if not each.retrained)
    assert unaware.auc.value > 0.6
    assert not found.helps
