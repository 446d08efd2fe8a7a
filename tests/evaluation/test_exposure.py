"""What attackers infer now: everyone is attacked, and the chance of a division decides nothing."""

from __future__ import annotations

import numpy as np
import pytest

import attriguard as ag
from attriguard._checks import check_rng
from attriguard.evaluation.exposure import averaged, divisions_for, expose, widening
from attriguard.evaluation.inference import Estimate, Inference, OfValue, divide, inference, mean_of, out_of_group
from attriguard.evaluation.verdict import GIVES_AWAY, TOO_FEW
from attriguard.progress import Progress

LR = ["BA-A", "LR-A"]


def now(X, y, seed, names=LR):
    return expose(X, y, ag.attacks.lineup(names, random_state=seed), seed, Progress())


@pytest.fixture(scope="module")
def weak(small_twin):
    """Two values, of which the ratings say nothing: the values of the users are shuffled."""
    data = small_twin.take(np.arange(120))
    return data.X, np.random.default_rng(5).permutation(data.y) % 2


def run(value, influence):
    figure = Estimate(value, np.array(influence))
    return Inference("LR-A", "original", figure, figure, figure, (OfValue(3, value, value), OfValue(4, 0.5, value)))


def test_seeds_agree_where_something_is_given_away(small_twin):
    found = [now(small_twin.X, small_twin.y, seed) for seed in range(3)]
    assert {each.verdict.finding for each in found} == {GIVES_AWAY}
    assert {each.divisions for each in found} == {1}  # beyond doubt: nobody is attacked twice
    first = found[0]
    assert (first.n_users, first.groups) == (small_twin.n_users, 5)
    assert sum(of.users for of in first.found[0].by_value) == small_twin.n_users
    assert first.guessing == np.bincount(small_twin.y).max() / small_twin.n_users
    assert first.guesses[0].accuracy.value == pytest.approx(first.guessing)  # BA-A does not count as an attacker
    assert [each.attack for each in first.found] == ["LR-A"]


def test_the_figures_are_those_of_the_division(small_twin):
    found = now(small_twin.X, small_twin.y, 4)
    group = divide(small_twin.y, check_rng(4))
    (sure,) = out_of_group(ag.attacks.get("LR-A"), small_twin.X, [small_twin.X], small_twin.y, group, Progress())
    by_hand = inference("LR-A", "original", sure, small_twin.y, group)
    assert found.found[0].auc.value == pytest.approx(by_hand.auc.value)
    assert found.found[0].auc.margin == pytest.approx(by_hand.auc.margin * 1.5)  # √(1 + 5/4)


def test_without_a_signal_users_are_divided_anew_and_nothing_is_claimed(weak):
    found = now(*weak, 0)
    assert found.divisions == divisions_for(120) == 10
    assert found.verdict.finding == TOO_FEW
    assert found.verdict.smallest_shown > 0.55


def test_few_users_are_divided_more_often_than_many():
    assert [divisions_for(n) for n in (60, 1999, 2000)] == [10, 10, 5]


def test_divisions_are_averaged_and_their_interval_widened():
    runs = [run(0.6, [0.03, -0.04]), run(0.8, [0.04, 0.03])]
    mean = averaged(runs, groups=5)
    assert mean.auc.value == pytest.approx(0.7)
    assert mean.by_value == (OfValue(3, 0.7, 0.7), OfValue(4, 0.5, 0.7))
    assert widening(2, 5) == pytest.approx(np.sqrt(0.5 + 1.25))
    assert mean.auc.margin == pytest.approx(1.96 * 0.05 * widening(2, 5))  # each division's standard error is 0.05
    assert mean_of(runs).auc.margin < mean.auc.margin
    guesser = averaged([run(0.5, [0.0, 0.0])], groups=5)
    assert guesser.auc.margin == 0


def test_with_two_values_wrong_answers_are_turned_round():
    wrong = run(0.2, [0.03, 0.04])
    assert wrong.at_best.auc.value == wrong.at_best.accuracy.value == pytest.approx(0.8)
    assert wrong.at_best.by_value[0] == OfValue(3, 0.8, 0.8)
    unsure = run(0.45, [0.03, 0.04])
    assert unsure.at_best is unsure  # within the interval
    three = Inference("A", "original", *[wrong.auc] * 3, (*wrong.by_value, OfValue(1, 0.0, 0.2)))
    assert three.at_best.auc.value == pytest.approx(0.8)
    assert three.at_best.accuracy is three.accuracy  # there is no single other answer
