"""Algorithm 1 on cases small enough to follow by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from attriguard.classifiers.linear import LinearClassifier
from attriguard.errors import DataError, ParameterError
from attriguard.noise import greedy
from attriguard.noise.constraints import make_constraints
from attriguard.noise.greedy import Margin, Panda
from attriguard.noise.policy import POLICIES


def find(W, x, *, b=None, search=None, policy="modify_add", confidence=0.0, cost="l0", locked=None, **constraints):
    W = np.asarray(W, dtype=float)
    classifier = LinearClassifier(W, np.zeros(len(W)) if b is None else b)
    X = csr_array(np.atleast_2d(np.asarray(x, dtype=np.float32)))
    return (search or Panda()).find(
        classifier,
        X,
        make_constraints(POLICIES[policy], X.shape[1], **constraints),
        confidence=confidence,
        cost=cost,
        locked=locked,
    )


def edits_of(edits, value, user=0):
    items, values = edits.of(user, value)
    return dict(zip(items.tolist(), values.tolist(), strict=True))


def test_the_inferred_value_needs_no_noise():
    edits = find([[1, 0], [0, 2]], [1, 0])
    assert edits.cost[0].tolist() == [0, 1]
    assert edits_of(edits, 0) == {}


def test_the_largest_gain_goes_first_and_steps_go_to_the_bound():
    edits = find([[3, 0, 0], [0, 4, 2]], [1, 0, 0])
    assert edits_of(edits, 1) == {1: 1.0}


def test_an_increase_wins_a_tie_and_among_increases_the_first_index():
    # For value 1 raising item 1, raising item 2 and lowering item 0 gain 2 each; two of them are needed.
    edits = find([[1.5, 0, 0], [-2, 2, 2]], [1, 0, 0])
    assert edits_of(edits, 1) == {1: 1.0, 2: 1.0}


def test_a_tie_of_decision_functions_goes_to_the_first_value():
    edits = find([[1, 0], [0, 1]], [1, 0])
    assert not edits.success[0, 1]  # all it can reach is C_0 = C_1, which C reads as value 0
    assert find([[0, 1], [1, 0]], [1, 0]).cost[0].tolist() == [1, 0]


def test_maxiter_counts_from_zero_as_printed():
    W, x = [[5, 0, 0], [0, 2, 2.5]], [0.9, 0, 0]
    assert not find(W, x, maxiter=0).success[0, 1]
    assert find(W, x, maxiter=0).cost[0, 1] == 0
    assert find([[4, 0, 0], [0, 2, 2.5]], x, maxiter=1).success[0, 1]


def test_steps_smaller_than_one_and_the_rating_grid():
    W = [[1, 0], [0, 1]]
    assert edits_of(find(W, [0.6, 0], step=0.5), 1) == pytest.approx({1: 1.0})
    assert edits_of(find(W, [0.2, 0], step=0.25), 1) == pytest.approx({1: 0.25})
    # A quarter lies between the levels 0.2 and 0.4 of five stars: the nearest is 0.2.
    assert edits_of(find(W, [0.1, 0], step=0.25, levels=5), 1) == pytest.approx({1: 0.2})
    # A step shorter than half a level still moves one level.
    assert edits_of(find(W, [0.1, 0], step=0.01, levels=5), 1) == pytest.approx({1: 0.2})


def test_policies_keep_to_their_entries():
    W, x = [[2, 2, 0, 0], [-1, 0, 3, 3]], [0.6, 0.4, 0, 0]
    assert set(edits_of(find(W, x, policy="add_new"), 1)) <= {2, 3}
    exist = find([[2, 2, 0, 0], [3, 0, 3, 3]], x, policy="modify_exist")
    assert edits_of(exist, 1) == {0: 1.0}
    assert not exist.extended[0, 1]


def test_where_the_policy_finds_nothing_it_is_extended_and_marked():
    W, x = [[1, 0], [0, 2]], [1, 0]
    exist = find(W, x, policy="modify_exist")  # lowering item 0 gains nothing for C_1
    assert exist.success[0].tolist() == [True, True]
    assert exist.extended[0].tolist() == [False, True]
    assert edits_of(exist, 1) == {1: 1.0}


def test_add_new_goes_on_where_the_printed_one_would_stand_still():
    # With τ = 1 the printed arg max would pick item 1 again and again.
    edits = find([[5, 0, 0, 0], [0, 3, 2, 1]], [1, 0, 0, 0], policy="add_new")
    assert edits_of(edits, 1) == {1: 1.0, 2: 1.0, 3: 1.0}
    # And it goes on where every gradient is negative, as long as there are entries left.
    negative = find([[-4, -4, 0], [-1, -1, 0]], [0, 0, 1], b=[1, 0], policy="add_new")
    assert edits_of(negative, 1) == {0: 1.0}


def test_a_value_out_of_reach_is_said_to_be():
    edits = find([[1, 1], [0, 0]], [1, 1], b=[5, 0])
    assert edits.success[0].tolist() == [True, False]
    assert edits.cost[0, 1] == 0
    assert edits_of(edits, 1) == {}


def test_locked_items_stay_and_the_extension_respects_them():
    W, x = [[2, 0, 0], [0, 4, 3]], [1, 0, 0]
    assert edits_of(find(W, x, locked=None), 1) == {1: 1.0}
    assert edits_of(find_locked(W, x, np.array([1])), 1) == {2: 1.0}
    user_by_user = csr_array(np.array([[0, 1, 1]], dtype=np.float32))
    edits = find(W, x, policy="modify_exist", locked=user_by_user)
    assert not edits.success[0, 1]


def find_locked(W, x, columns):
    classifier = LinearClassifier(W, np.zeros(2))
    constraints = make_constraints(POLICIES["modify_add"], 3, locked=columns)
    return Panda().find(classifier, csr_array(np.array([x], dtype=np.float32)), constraints)


def test_additions_use_the_items_and_the_ratings_asked_for():
    W, x = [[2, 0, 0, 0], [0, 9, 4, 4]], [1, 0, 0, 0]
    edits = find(W, x, additions=np.array([0, 0, 0.4, 0.6]), step=0.2, levels=5)
    assert edits_of(edits, 1) == pytest.approx({3: 0.6})


def test_confidence_asks_for_a_lead():
    W, x = [[2, 0, 0, 0], [0, 3, 3, 3]], [1, 0, 0, 0]
    for kappa, cost in ((0.0, 1), (1.0, 1), (1.5, 2), (5.0, 3)):
        assert find(W, x, confidence=kappa, policy="add_new").cost[0, 1] == cost
    both = find(W, [[1, 0, 0, 0]] * 2, confidence=[0.0, 5.0], policy="add_new")
    assert both.cost[:, 1].tolist() == [1, 3]


def test_l2_measures_how_far_entries_move():
    edits = find([[2, 0], [-1, 1.2]], [0.6, 0], cost="l2")
    items = edits_of(edits, 1)
    expected = np.sqrt(sum((value - (0.6 if item == 0 else 0)) ** 2 for item, value in items.items()))
    assert edits.cost[0, 1] == pytest.approx(expected)


def test_margin_looks_at_the_rival():
    # Item 1 helps value 2 most, but helps its rival, value 1, even more; item 2 is what closes the gap.
    W = [[0, 0, 0], [1, 5, 0], [0, 4, 3]]
    x = [1, 0, 0]
    assert edits_of(find(W, x, search=Margin()), 2) == {2: 1.0}
    assert find(W, x, search=Panda()).cost[0, 2] == 2


def test_a_user_without_ratings_is_protected_by_additions():
    W, b = [[1, 0], [0, 1]], [0.5, 0]
    assert edits_of(find(W, [0, 0], b=b), 1) == {1: 1.0}
    assert find(W, [0, 0], b=b, policy="modify_exist").extended[0].tolist() == [False, True]


@pytest.mark.parametrize("step", [0, -0.5, 1.5, np.nan, "big"])
def test_a_bad_step_is_refused(step):
    with pytest.raises(ParameterError, match="step"):
        find([[1, 0], [0, 1]], [1, 0], step=step)


def test_bad_confidence_and_bad_locked_are_refused():
    for kappa in (-1, np.nan, np.inf):
        with pytest.raises(ParameterError, match="confidence"):
            find([[1, 0], [0, 1]], [1, 0], confidence=kappa)
    with pytest.raises(DataError, match="columns"):
        find([[1, 0], [0, 1]], [1, 0], locked=csr_array((1, 3)))
    with pytest.raises(ParameterError, match="shape of X"):
        find([[1, 0], [0, 1]], [1, 0], locked=csr_array((2, 2)))


def test_edits_of_many_users_are_joined_on_all_cores_as_on_one(monkeypatch):
    rng = np.random.default_rng(0)
    W, x = rng.normal(size=(3, 40)), rng.integers(0, 6, (500, 40)) / 5
    one = find(W, x)
    monkeypatch.setattr(greedy, "MANY_EDITS", 10)
    monkeypatch.setenv("ATTRIGUARD_THREADS", "3")
    many = find(W, x)
    assert one.items.size > 1000
    np.testing.assert_array_equal(one.items, many.items)
    np.testing.assert_array_equal(one.values, many.values)
