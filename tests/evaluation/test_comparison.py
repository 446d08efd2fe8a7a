"""Defenses side by side: exact where there is a plan, the same draws for all attacks, nothing learnt twice."""

from __future__ import annotations

import numpy as np
import pytest

import attriguard as ag
from attriguard.attacks.baseline import Baseline
from attriguard.attacks.logistic import Logistic
from attriguard.defenses.base import Defense
from attriguard.errors import DataError, NotFittedError, ParameterError
from attriguard.evaluation.accuracy import Curve
from attriguard.evaluation.cache import Cache
from attriguard.evaluation.comparison import Tradeoff, compare
from attriguard.evaluation.engine import evaluate
from attriguard.evaluation.measure import Measure


class Forgetful(Defense):
    """Forgets every rating with probability `strength`, for users of the values it is told."""

    name = "Forgetful"
    summary = "a defense for tests"
    strength = "share"
    ladder = (0.0, 0.5, 1.0)
    needs_truth = True
    fits = 0

    def _fit(self, X, codes):
        Forgetful.fits += 1

    def _release(self, X, strength, chance, truth):
        assert truth is not None
        release = X.copy()
        release.data[chance.random(X.nnz) < strength] = 0
        return release


@pytest.fixture
def parts(small_twin):
    train, test = small_twin.split()
    Forgetful.fits = 0
    return (train.X, train.y), test


def test_each_point_is_what_the_engine_says(parts, small_twin):
    train, test = parts
    attacks = [Logistic(), Baseline()]
    guard, forgetful = compare(
        [ag.defenses.get("AttriGuard", scale=small_twin.scale), Forgetful()],
        attacks,
        test.X,
        test.y,
        train=train,
        strengths={"AttriGuard": [1.0, 3.0]},
        measure=Measure(draws=3),
    )
    fitted = ag.AttriGuard(scale=small_twin.scale).fit(*train)
    exact = evaluate(fitted.plan(test.X, budget=3.0), attacks, test.y, [1.0, 3.0], train=train)
    assert [curve.accuracy for curve in guard.curves] == [curve.accuracy for curve in exact]
    assert guard.strengths == (1.0, 3.0)
    assert max(guard.l0) <= 3.0
    assert not guard.needs_truth
    assert forgetful.needs_truth
    assert forgetful.curve("LR-A").accuracy[0] == forgetful.curve("LR-A").before
    assert forgetful.l0[0] == 0
    ratings = test.X.nnz / test.n_users
    assert forgetful.l0[1] == pytest.approx(ratings / 2, rel=0.1)
    assert forgetful.l0[2] == pytest.approx(ratings)
    assert forgetful.curve("LR-A").accuracy[2] < forgetful.curve("LR-A").before
    # The baseline never looks: no release changes it.
    assert len(set(forgetful.curve("BA-A").accuracy)) == 1


def test_what_is_known_is_not_learnt_again(parts, tmp_path):
    train, test = parts
    cache = Cache(tmp_path)
    told, measure = [], Measure(draws=2, cache=cache)
    watch = lambda what, done: told.append((what, done))  # noqa: E731
    first = compare([Forgetful()], [Logistic()], test.X, test.y, train=train, measure=measure, progress=watch)
    assert [done for _, done in told] == sorted(done for _, done in told)
    assert told[-1] == ("Forgetful: attacks", 1.0)
    again = compare([Forgetful()], [Logistic()], test.X, test.y, train=train, measure=Measure(draws=2, cache=cache))
    assert again == first
    assert Forgetful.fits == 1
    other = compare([Forgetful()], [Logistic()], test.X, test.y, train=train, measure=Measure(1, 2, cache))
    assert other[0].curves[0].accuracy[1] != first[0].curves[0].accuracy[1]


def test_figures_of_a_defense_that_learnt_elsewhere_are_not_used(parts, tmp_path):
    train, test = parts
    half = np.arange(train[0].shape[0]) % 2 == 0
    one, two = Forgetful().fit(*train), Forgetful().fit(train[0][half], train[1][half])
    assert one.learnt_from_ != two.learnt_from_
    cache = Cache(tmp_path)
    for defense in (one, two):
        evaluate(defense, [Baseline()], test.y, [0.5], train=train, X=test.X, measure=Measure(0, 1, cache))
    assert len(list((tmp_path / "predictions").iterdir())) == 3  # two releases, and untouched data once


def curve(accuracy, noise, before=0.5):
    return Curve("A", tuple(noise), tuple(accuracy), tuple(noise), n_users=10, before=before, expected_l2=tuple(noise))


def test_the_noise_for_an_accuracy_lies_on_the_line_between_points():
    tradeoff = Tradeoff("D", "k", False, (10.0, 20.0), (curve((0.4, 0.2), (1.0, 3.0)),))
    assert tradeoff.noise_for("A", 0.45) == pytest.approx(0.5)
    assert tradeoff.noise_for("A", 0.4) == pytest.approx(1.0)
    assert tradeoff.noise_for("A", 0.3) == pytest.approx(2.0)
    assert tradeoff.strength_for("A", 0.3) == pytest.approx(15.0)
    assert tradeoff.noise_for("A", 0.1) is None
    assert tradeoff.noise_for("A", 0.6) == 0.0
    # Where the curve rises again, the first time counts.
    bent = Tradeoff("D", "k", False, (1.0, 2.0, 3.0), (curve((0.3, 0.4, 0.1), (1.0, 2.0, 3.0)),))
    assert bent.noise_for("A", 0.3) == pytest.approx(1.0)


def test_bad_input_is_named(parts):
    train, test = parts
    with pytest.raises(ParameterError, match="at least one defense"):
        compare([], [Baseline()], test.X, test.y, train=train)
    with pytest.raises(ParameterError, match=r"Forgetful needs strengths \(share\) in order"):
        compare([Forgetful()], [Baseline()], test.X, test.y, train=train, strengths={"Forgetful": [1, 0.5, 2]})
    with pytest.raises(ParameterError, match="share must be a finite number"):
        compare([Forgetful()], [Baseline()], test.X, test.y, train=train, strengths={"Forgetful": [-1]})
    with pytest.raises(NotFittedError, match="Forgetful has not been fitted"):
        Forgetful().release_for(test.X, 0.5)
    fitted = Forgetful().fit(*train)
    with pytest.raises(DataError, match="must be told the true value"):
        fitted.release_for(test.X, 0.5)
    with pytest.raises(DataError, match="1 of 2 users have none"):
        fitted.release_for(test.X[:2], 0.5, truth=[-1, 0])
