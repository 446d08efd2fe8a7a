"""What a reproduction's page says beside its figures: the choices behind them, and the main finding."""

from __future__ import annotations

from attriguard.experiments import get
from attriguard.experiments.base import FAILS
from attriguard.experiments.profiles import PROFILES
from attriguard.experiments.stated import choices_of, main_finding, summary

FACTS = {"seed": 3, "test users": 1631}


def curve(before, after):
    return {"budgets": [4.0], "before": before, "accuracy": [after]}


def test_choices_name_what_an_experiment_depends_on_and_nothing_else():
    small, whole = (choices_of(get(name), "paper", FACTS) for name in ("figure-1", "figure-3"))
    assert small == "Choices: 1,631 test users, one seed (3)."
    for said in ("multinomial", "C = 0.5", "50,000 units", "lead κ of 0.5", "12 epochs", "0.25", "dropout of 0.7"):
        assert said in whole
    assert "NN-A" not in whole
    assert f"NN-A has {PROFILES['quick'].attacker_units:,} units" in choices_of(get("figure-5"), "quick", FACTS)


def test_the_strict_profile_states_the_papers_choices():
    searches, attacks, cost = (choices_of(get(name), "strict", FACTS) for name in ("figure-3", "figure-4", "figure-10"))
    for said in ("one-vs-all", "C = 1", "lead κ of 0,", "two entries", "50 epochs", "0.05 in the given order"):
        assert said in searches
    assert "with the rows that it attacks" in attacks
    assert "NN-D with 5,000 units" in cost
    assert "AttriGuard has LR-D" in choices_of(get("figure-10"), "paper", FACTS)


def test_the_main_finding_says_whether_adapting_helps(monkeypatch):
    figure = get("figure-1")
    holds = {"shares": [0.1, *[0.0375] * 23, 0.02], "attribute": "city", "users": 1, "values": ["c"] * 25}

    def said(adapted):
        curves = {"NN-A": curve(0.44, 0.234), "AT-A": curve(0.41, adapted)}
        network = get("figure-4")
        monkeypatch.setattr(network, "verdict", lambda numbers: FAILS, raising=True)
        found = main_finding([(network, {"curves": curves}), (figure, holds)])
        assert len(found) == 3
        assert "44.0% of the users before" in found[0]
        assert "23.4% after" in found[0]
        assert found[2] == ("Of the 2 claims of the paper that were tested, 1 hold, 0 hold partly, 1 do not hold.")
        return found[1]

    assert "but one who learns" in said(0.408)
    assert "still" not in said(0.24)
    assert main_finding([]) == []


def test_the_summary_counts_the_papers_claims_apart_from_those_beyond_it(monkeypatch):
    beyond = get("beyond-exact")
    monkeypatch.setattr(beyond, "verdict", lambda numbers: FAILS)
    assert summary([], "twin", "quick") == "Tested on twin with the profile “quick”: nothing yet."
    assert summary([(beyond, {})], "twin", "quick").endswith(
        "1 claims beyond it: 0 hold, 0 hold partly, 1 do not hold."
    )


def test_experiments_with_sizes_of_their_own_state_them_in_their_notes():
    assert choices_of(get("beyond-seeds"), "paper", FACTS) == ""
