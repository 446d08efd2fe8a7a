"""The audit as a page: plain words for attackers, and what was found."""

from __future__ import annotations

import pytest

import attriguard as ag
from attriguard.evaluation.audit import audit
from attriguard.goals import GOALS
from attriguard.report.attack_names import is_baseline, plain_name
from attriguard.report.audit_page import audit_page, knowing_in_words, summary
from attriguard.report.page import render


@pytest.fixture(scope="module")
def result(small_twin):
    attacks = ag.attacks.lineup(["BA-A", "LR-A"])
    guard = ag.AttriGuard(scale=small_twin.scale)
    return audit(small_twin, guard=guard, attacks=attacks, budgets=[3.0], knowing=ag.attacks.get("LR-A"))


def test_the_page_tells_what_was_found(result):
    html = render(audit_page(result, title="An audit", source="twin"))
    revealing = result.item_name(result.revealing[0].column)
    for text in ("logistic regression", "the most frequent value", revealing, "guessing (BA-A)", GOALS["mislead"].how):
        assert text in html
    assert f"{100 * result.worst_now.accuracy[0]:.0f} in 100" in summary(result)
    before, after = (
        f"{100 * curve.accuracy[-1]:.0f} in 100" for curve in (*result.aware.unaware, *result.aware.retrained)
    )
    unaware, knows = knowing_in_words(result)
    assert before in unaware
    assert after in knows


def test_every_goal_has_its_texts():
    for goal in GOALS.values():
        assert goal.summary.endswith(".")
        assert goal.how.startswith("The guard ")
        assert goal.regained.startswith("gets back ")


def test_attacks_are_known_by_name():
    assert plain_name("LR-A") == "logistic regression"
    assert plain_name("LR-A retrained") == "LR-A retrained"
    assert [name for name in ag.attacks.names() if is_baseline(name)] == ["BA-A"]
    assert not is_baseline("of another package")
