"""The verdict: one of three answers, by a rule that few users and good luck cannot fool."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attriguard.evaluation.inference import Estimate, Inference, OfValue, auc
from attriguard.evaluation.verdict import GIVES_AWAY, NOTHING_FOUND, TOO_FEW, error_of_guessing, judge


def attacker(value, error, name="LR-A"):
    figure = Estimate(value, np.array([error]))
    return Inference(name, "original", figure, figure, figure, (OfValue(50, value, value), OfValue(50, value, value)))


@pytest.mark.parametrize(
    ("value", "error", "finding"),
    [
        (0.78, 0.02, GIVES_AWAY),
        (0.52, 0.005, GIVES_AWAY),  # little, but beyond doubt
        (0.504, 0.01, NOTHING_FOUND),
        (0.47, 0.01, NOTHING_FOUND),
        (0.506, 0.01, TOO_FEW),  # a hint of something
        (0.50, 0.05, TOO_FEW),  # an attacker with 0.59 would not show
        (0.40, 0.05, TOO_FEW),  # bad luck is no proof: [0.30, 0.50] ends below 0.55
        (0.60, 0.08, TOO_FEW),
    ],
)
def test_the_rule(value, error, finding):
    assert judge([attacker(value, error)], 0.001).finding == finding


def test_the_strongest_is_judged_and_that_it_was_picked_is_counted():
    alone = judge([attacker(0.55, 0.022)], 0.0)
    assert alone.finding == GIVES_AWAY  # 2.27 standard errors
    picked = judge([attacker(0.55, 0.022), attacker(0.5, 0.02, "RF-A"), attacker(0.51, 0.02, "MLP-A")], 0.0)
    assert picked.strongest.attack == "LR-A"
    assert picked.finding == TOO_FEW
    assert picked.margin == pytest.approx(2.394 * 0.022, rel=1e-3)  # the normal quantile of 1 - 0.05 / 6


@given(value=st.floats(0, 1), error=st.floats(1e-4, 0.3), least=st.floats(1e-4, 0.3), shift=st.floats(-1, 1))
def test_less_than_one_and_a_half_standard_errors_never_turn_a_verdict_round(value, error, least, shift):
    here = judge([attacker(value, error)], least)
    there = judge([attacker(value + 1.45 * shift * here.error, error)], least)
    assert {here.finding, there.finding} != {GIVES_AWAY, NOTHING_FOUND}
    assert here.error >= least


def test_four_users_who_are_told_apart_by_luck_prove_nothing():
    perfect = attacker(1.0, 0.0)
    assert judge([perfect], error_of_guessing([2, 2])).finding == TOO_FEW
    assert judge([perfect], error_of_guessing([20, 20])).finding == GIVES_AWAY


def test_the_error_of_guessing_is_that_of_random_scores():
    rng, y = np.random.default_rng(0), np.repeat([0, 1], [60, 20])
    one = np.zeros(y.size, dtype=np.int64)
    drawn = [auc(rng.random(y.size), y == 1, one).value for _ in range(2000)]
    assert np.std(drawn) == pytest.approx(error_of_guessing([60, 20]), rel=0.06)
