"""What holds for every page: its order, its words, where it comes from, and that it can be read on a phone."""

from __future__ import annotations

import hashlib
import html
import json
import re
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

import attriguard as ag
from attriguard.errors import ParameterError
from attriguard.evaluation.accuracy import Curve
from attriguard.evaluation.comparison import Tradeoff
from attriguard.report.attack_names import full_name, is_baseline
from attriguard.report.comparison import Comparison, comparison_page, tables, verdict
from attriguard.report.evaluation import Evaluation
from attriguard.report.evaluation import verdict as evaluation_verdict
from attriguard.report.glossary import WORDS, explained, occurs
from attriguard.report.goals import no_guard
from attriguard.report.origin import Origin, made_at
from attriguard.report.page import Page, Section, render

PAGES = ("audit", "evaluate", "goals", "compare", "protect")


@pytest.fixture(scope="module")
def pages(results):
    return {name: render(results[name].full_page()) for name in PAGES}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_and_opens_with_what_was_found(name, pages, results, outline):
    found = outline(pages[name])
    lead = pages[name].split('<p class="lead">')[1].split("</p>")[0]
    assert html.unescape(lead) == results[name].headline
    assert re.search(r"\d", lead)
    headings = re.findall(r"<h2>(.*?)</h2>", pages[name])
    assert headings[-1] == "Words on this page"
    assert len(found.named("h1")) == 1


@pytest.mark.parametrize("name", PAGES)
def test_every_word_of_the_glossary_that_a_page_uses_is_explained(name, pages, outline):
    found = outline(pages[name])
    text = " ".join(found.text)
    used = {spellings[0] for spellings, _ in WORDS if any(occurs(spelling, text) for spelling in spellings)}
    used |= {attack for attack in ag.attacks.names() if occurs(attack, text)}
    assert used <= set(found.entries)
    assert {"attacker", "SHA-256"} & used or name == "protect"
    unused = {spellings[0] for spellings, _ in WORDS} - used
    assert not unused & set(found.entries)


def test_the_glossary_has_every_attack_goal_and_policy():
    for name in ag.attacks.names():
        assert dict(explained(f"by {name}.", {}))[name] == f"An attacker: {ag.attacks.class_of(name).summary}."
    for name in ag.goals.names():
        assert dict(explained(f"the goal {name}", {}))[f"{name} (goal)"] == ag.goals.get(name).summary
        assert f"{name} (goal)" not in dict(explained(f"they {name} do", {}))
    assert "modify_add" in dict(explained("policy modify_add", {}))
    for spellings, meaning in WORDS:
        assert meaning[0].isupper()
        assert meaning.endswith(".")
        for spelling in spellings:
            assert spellings[0] in dict(explained(f"A {spelling}, here", {}))


def test_words_are_found_whole_and_explained_through():
    assert not occurs("LR-A", "XLR-A LR-AB LR-A-like lr-a")
    assert occurs("LR-A", "logistic regression (LR-A) retrained")
    assert occurs("budget", "Budgets")
    words = dict(explained("balanced accuracy", {"mine": "a word of mine"}))
    assert {"balanced accuracy", "accuracy"} <= set(words)
    assert "mine" not in words
    assert dict(explained("that is mine", {"mine": "Uses the seed."}))["seed"]  # the meaning's own words


class Tilted(ag.attacks.Attack):
    """An attack of one's own, in no registry."""

    name, plain_name, summary, is_baseline = "TILT-A", "tilted guess", "guesses a little to the left", True

    def _fit(self, X, codes):
        """Nothing to learn."""

    def _predict_proba(self, X):
        return np.ones((X.shape[0], self.classes_.size))


def test_plain_names_stand_before_codes_also_for_plug_ins():
    assert full_name("LR-A") == "logistic regression (LR-A)"
    assert full_name("LR-A retrained") == "logistic regression (LR-A) retrained"
    assert full_name("mechanism inversion with RF-A") == "mechanism inversion with random forest (RF-A)"
    assert full_name("TILT-A") == "tilted guess (TILT-A)"
    assert is_baseline("TILT-A")
    assert full_name("nobody:Knows") == "nobody:Knows"
    assert dict(explained("TILT-A", {}))["TILT-A"] == "An attacker: guesses a little to the left."


def test_pages_name_attackers_plainly_before_their_codes(pages):
    for name in ("evaluate", "compare", "goals"):
        text = re.sub(r"<[^>]*>", " ", pages[name].split("<main>")[1].split("Words on this page")[0])
        assert "logistic regression (LR-A)" in text
        assert not re.search(r"(?<!\()LR-A", text), name


def test_the_footer_says_where_a_page_comes_from(results, tmp_path, outline, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    (tmp_path / "ratings.csv").write_text("user,item\n1,2\n")
    (tmp_path / "figures.json").write_text("{}")
    marks = [hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in ("ratings.csv", "figures.json")]
    origin = Origin("attriguard evaluate ratings.csv", 7).reading(tmp_path / "ratings.csv", tmp_path / "nothing.csv")
    result = results["evaluate"].with_origin(origin.writing(tmp_path / "figures.json"))
    page = result.save(tmp_path / "page.html").read_text()
    footer = outline(page).footer
    assert footer["made"] == ["2001-09-09 01:46 UTC"]
    assert footer["with"][0].startswith(f"attriguard {ag.__version__}, Python 3.")
    assert f"NumPy {np.__version__}, scikit-learn " in footer["with"][0]
    assert footer["command"] == ["attriguard evaluate ratings.csv"]
    assert footer["seed"] == ["7"]
    assert footer["read"] == [f"ratings.csv, SHA-256 {marks[0]}"]
    assert footer["written"] == [f"figures.json, SHA-256 {marks[1]}"]
    assert tmp_path.name not in page
    record = json.loads(result.save(tmp_path / "result.json").read_text())
    assert record["command"] == "attriguard evaluate ratings.csv"
    assert record["inputs"] == {"ratings.csv": marks[0]}


@pytest.mark.parametrize("name", ["audit", "protect"])
def test_without_an_origin_only_time_and_versions_are_told(name, pages, outline):
    assert set(outline(pages[name]).footer) == {"made", "with"}


def test_the_time_is_the_clocks_or_the_epochs(monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    told = datetime.strptime(made_at(), "%Y-%m-%d %H:%M UTC").replace(tzinfo=UTC)
    assert 0 <= (datetime.now(UTC) - told).total_seconds() < 120
    for wrong in ("yesterday", "1.5", "9" * 30):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", wrong)
        with pytest.raises(ParameterError, match="whole number of seconds since 1970"):
            ag.check_outputs()


def test_the_same_run_gives_the_same_bytes(small_twin, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    for name in ("one", "two"):
        found = ag.evaluate(small_twin, attacks=["LR-A"], budgets=[1, 2], work=tmp_path / name, random_state=3)
        found.save(tmp_path / f"{name}.html")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000060")
    assert found.save(tmp_path / "later.html").read_bytes() != (tmp_path / "one.html").read_bytes()


def tradeoff(name, changes, accuracy, *, told=False):
    curve = Curve("LR-A", changes, accuracy, changes, 100, before=0.6, expected_l2=changes)
    return Tradeoff(name, "k", told, changes, (curve,))


@pytest.fixture
def rivals():
    pair = (tradeoff("Fine", (1.0, 2.0), (0.4, 0.2)), tradeoff("Coarse", (4.0, 8.0), (0.5, 0.1), told=True))
    return Comparison("a table", "city", pair, (0.3, 0.05), 0.1, summaries={"Fine": "A defense: few changes."})


def test_a_comparison_opens_with_who_is_best_at_what(rivals):
    assert verdict(rivals) == (
        "At the same number of changed ratings, 2.0 a user, Fine leaves the strongest attacker least: he infers “city” "
        "of 20 in 100 users; after Coarse (which is told every user's true value), the next, 55, with no guard 60, by "
        "guessing 10. To bring every attacker down to 30 in 100, Fine needs the fewest changes: 1.5 a user."
    )
    other = replace(rivals, levels=(0.15,))
    assert verdict(other).endswith(
        "To bring every attacker down to 15 in 100, Coarse (which is told every user's true value) needs the fewest "
        "changes: 7.5 a user; 1 of 2 defenses do not get there."
    )
    assert "bring every" not in verdict(replace(rivals, levels=(0.05,)))  # less than guessing is not asked for


def test_no_guard_has_a_line_in_every_chart_and_table(rivals, results, outline):
    html = render(comparison_page(rivals))
    assert any("no guard: 60 at 1, 60 at 8" in given["aria-label"] for given in outline(html).named("svg"))
    assert outline(html).entries["Fine"] == ["A defense: few changes."]
    assert [table.rows[0][0] for table in tables(rivals)] == ["no guard", "no guard"]
    assert tables(rivals)[1].rows[0] == ["no guard", "not reached", "not reached"]
    assert tables(replace(rivals, levels=(0.7,)))[1].rows[0] == ["no guard", "0"]
    assert [table.rows[0][0] for table in results["compare"].tables()] == ["no guard"] * 4
    goals = results["goals"]
    assert goals.tables()[0].rows[0] == ["no guard", "", f"{no_guard(goals.found):.3f}"]
    page = render(goals.full_page())
    assert any("no guard:" in given["aria-label"] for given in outline(page).named("svg"))


def test_the_goals_page_says_which_goal_is_best_against_whom(results):
    rows = results["goals"].to_frame()
    best = rows[(rows.figure == "best_accuracy") & (rows.budget == 2)]
    for retrained, words in ((True, "who knows the guard and retrains"), (False, "who does not know it")):
        kind = best[best.retrained == retrained].sort_values("value").iloc[0]
        assert f"{words} infers {100 * kind.value:.0f} in 100 users after “{kind.goal}”" in results["goals"].headline


def test_an_evaluation_names_the_strongest_who_learnt():
    curves = (
        Curve("BA-A", (1.0,), (0.3,), (1.0,), 50, before=0.3),
        Curve("LR-A", (1.0,), (0.1,), (1.0,), 50, before=0.7),
        Curve("RF-A", (1.0,), (0.2,), (1.0,), 50, before=0.6),
    )
    assert evaluation_verdict(Evaluation("a table", "city", 3, (1.0,), curves)) == (
        "Without a guard, the strongest attacker, logistic regression (LR-A), infers “city” of 70 in 100 users; by "
        "guessing it would be 30. At budget 1, the strongest, random forest (RF-A), infers 20 in 100."
    )
    assert "30 in 100" in evaluation_verdict(Evaluation("a table", "city", 3, (1.0,), curves[:1]))


def luminance(colour):
    parts = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.dot([0.2126, 0.7152, 0.0722], np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4))


def test_words_stand_out_from_what_is_behind_them_by_day_and_night():
    page = render(Page("title", "lead", [Section("section")]))
    themes = [dict(re.findall(r"--(\w+): (#\w{6})", block)) for block in re.findall(r":root \{(.*?)\}", page)]
    assert len(themes) == 2
    for theme in themes:
        for ink in ("ink", "soft", "accent"):
            for paper in ("page", "card", "warn"):
                light, dark = sorted((luminance(theme[ink]), luminance(theme[paper])), reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (ink, paper, theme)


def test_every_page_can_be_read_on_a_phone_and_on_a_desk(pages, readable):
    readable(pages)
