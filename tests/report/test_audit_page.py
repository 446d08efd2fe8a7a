"""The audit as a page: the verdict in plain words, plain names for attackers, and what was found."""

from __future__ import annotations

from dataclasses import replace
from html import unescape

import numpy as np
import pytest

import attriguard as ag
from attriguard.evaluation.audit import audit
from attriguard.evaluation.exposure import expose
from attriguard.goals import GOALS
from attriguard.progress import Progress
from attriguard.report.attack_names import is_baseline, plain_name
from attriguard.report.audit_page import audit_page, budgets_table
from attriguard.report.audit_words import RULE, remarks, summary
from attriguard.report.page import render


@pytest.fixture(scope="module")
def result(small_twin):
    attacks = ag.attacks.lineup(["BA-A", "LR-A"])
    guard = ag.AttriGuard(scale=small_twin.scale)
    return audit(small_twin, guard=guard, attacks=attacks, budgets=[3.0], retrained=[ag.attacks.get("LR-A")])


@pytest.fixture(scope="module")
def nothing(result, small_twin):
    """The same without a signal: the values are shuffled, and there are only two."""
    y = np.random.default_rng(0).permutation(small_twin.y[:300]) % 2
    now = expose(small_twin.X[:300], y, ag.attacks.lineup(["LR-A"]), 0, Progress())
    return replace(result, now=now, about=replace(result.about, values=("a", "b")))


def test_the_page_tells_what_was_found(result):
    html = render(audit_page(result, title="An audit"))
    revealing = result.about.items[result.revealing[0].column]
    expected = ["logistic regression (LR-A)", "the most frequent value", revealing, GOALS["mislead"].how, "guessing"]
    expected += ["strongest who knows the guard and retrains", RULE, *result.about.values]
    found = result.trial.forensics
    expected += [f"Which rows were added can be told with AUC {found.auc:.3f}", f"What tells most: {found.by}."]
    for text in expected:
        assert text in unescape(html)
    assert found.auc <= 0.55
    silent = replace(result, trial=replace(result.trial, forensics=None))
    assert "No row is added that could be told." in unescape(render(audit_page(silent, title="An audit")))
    assert html.index("give “city” away") < html.index("<svg") < html.index("What this does not protect against")


def test_an_officer_finds_words_to_copy(result):
    html = unescape(render(audit_page(result, title="An audit")))
    about = result.about
    for text in (
        "inference risk in the sense of the Article 29 Working Party's Opinion 05/2014",
        f"“The table holds {about.n_ratings:,} ratings by {about.n_users:,} users.",
        f"{summary(result)} Singling out and linkability were not measured.",
        "It does not make the table anonymous",
    ):
        assert text in html


def test_the_headline_is_the_strongest_attackers(result):
    text = summary(result)
    assert f"infers it for {100 * result.now.found[0].accuracy.value:.0f} (95 % interval" in text
    assert f"guessing gives {100 * result.now.guessing:.0f}." in text
    after = result.trial.strongest(3.0, "accuracy")
    assert after.retrained
    assert (
        f"to {100 * after.accuracy.value:.0f}, against the strongest attacker: logistic regression (LR-A), who" in text
    )
    unaware = next(each for each in result.trial.at(3.0) if not each.retrained)
    assert f"infers it for {100 * unaware.accuracy.value:.0f}" in remarks(result)[0]
    table = budgets_table(result, result.trial)
    (strongest,) = (row for row in table.rows if row[0] == "the strongest of these")
    assert strongest[-1] == f"{after.accuracy.value:.3f}"


def test_where_nothing_was_found_it_is_said_what_would_have_shown(nothing):
    found = nothing.verdict
    assert found.finding == "too few users to tell"
    text = summary(nothing)
    assert text.startswith("Too few users to tell: 300 disclose “city”. Given two users, one of each value,")
    assert f"less than {100 * found.smallest_shown:.0f} of 100 does not show" in text
    many = replace(nothing.now.found[0], auc=type(found.strongest.auc)(0.5, np.array([0.001])), by_value=tuple(
        replace(of, users=100_000) for of in nothing.now.found[0].by_value))  # fmt: skip
    told = summary(replace(nothing, now=replace(nothing.now, found=(many,))))
    assert told.startswith("Nothing was found: given two users, one of each value,")
    assert "would have shown" in told
    assert "protect" not in told


def test_without_attackers_who_know_the_goal_says_what_they_get_back(result):
    points = tuple(point for point in result.trial.points if not point.found.retrained)
    alone = replace(result, trial=replace(result.trial, points=points))
    assert GOALS["mislead"].regained in remarks(alone)[0]
    assert "--min-users" in remarks(replace(result, trial=None))[0]
    assert "In a trial" not in summary(replace(result, trial=None))
    render(audit_page(replace(result, trial=None), title="No guard"))


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
