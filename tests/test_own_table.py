"""The main job: a publisher's own table is protected, attacked, and refused where it tells more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import attriguard as ag
from attriguard.errors import DataError, ParameterError, ReleaseRefusedError
from attriguard.evaluation.informed import SHARES
from attriguard.operations.own_guards import learn_guards
from attriguard.progress import Progress

KEY = b"0123456789abcdef"


@pytest.fixture(scope="module")
def data():
    return ag.load_dataset("twin", n_users=300, n_items=200, n_values=2, seed=2)


@pytest.fixture(scope="module")
def released(data):
    return ag.protect(data, members=3, key=KEY)


def test_the_default_takes_half_of_what_the_strongest_attacker_knows():
    """The floor: a thousand users, two values, everything as it is unless somebody names something else."""
    released = ag.protect(ag.load_dataset("twin", n_users=1000, n_items=2000, n_values=2), key=KEY)
    check = released.check
    before, after = check.strongest_before().auc.value, check.strongest_after().auc.value
    assert released.goal == "conceal"
    assert before > 0.85
    assert after - 0.5 < 0.5 * (before - 0.5)
    assert not check.worse
    assert released.refused is None


def test_few_users_are_protected_too(released):
    check = released.check
    assert check.strongest_before().auc.value > 0.75
    assert check.helps
    assert released.refused is None


def test_the_table_that_was_attacked_is_the_one_that_is_released(data, released):
    """The check reads the table; what attackers saw has as many ratings as the table has rows."""
    assert released.table.num_rows == data.X.nnz - released.summary.removed + released.summary.added
    assert 0 < released.summary.removed <= 4 * data.n_users


def test_a_small_budget_is_spent_and_a_large_one_ends_where_nothing_is_said_any_more(data):
    spent = {}
    for budget in (1.0, 12.0):
        released = ag.protect(data, members=2, budget=budget, check=False, key=KEY)
        spent[budget] = released.summary.removed / data.n_users
    assert spent[1.0] == pytest.approx(1.0, rel=0.02)
    assert spent[1.0] < spent[12.0] < 12.0


def test_under_a_key_the_release_can_be_repeated(data, released):
    again = ag.protect(data, members=3, key=KEY, check=False)
    assert again.check is None
    assert again.table.equals(released.table)
    assert not ag.protect(data, members=3, key=b"fedcba9876543210", check=False).table.equals(released.table)


def test_guards_that_mislead_never_saw_the_user(data):
    guards = learn_guards(data, {"goal": "mislead"}, seed=0, progress=Progress())
    for k, guard in enumerate(guards.guards):
        others = guards.group != k
        alone = ag.AttriGuard(goal="mislead", scale=data.scale).fit(data.X[others], data.y[others])
        mine = data.X[~others]
        assert np.allclose(guard.classifier_.decision_function(mine), alone.classifier_.decision_function(mine))


@pytest.mark.parametrize("goal", ["mislead", "both"])
def test_no_goal_makes_it_worse(data, goal):
    released = ag.protect(data, goal=goal, members=2, split=0.5, budget=8.0, random_state=0)
    assert not released.check.worse


def test_a_guard_that_saw_the_users_marks_them_and_is_caught():
    """What the check is for: the noise of a guard that has memorised these users tells more than no noise."""
    noisy = ag.load_dataset("twin", n_users=400, n_items=900, n_values=2, seed=4)
    truth = np.random.default_rng(0).permutation(noisy.y)  # nothing to infer, everything to memorise
    data = replace(noisy, y=truth)
    guard = ag.learn(data, goal="mislead", random_state=0)
    caught = ag.protect(data, guard, budget=16.0, random_state=0)
    assert caught.check.worse
    assert caught.check.change().value > 0.1
    with pytest.raises(ReleaseRefusedError, match="--goal conceal"):
        caught.save("nowhere.csv")
    assert ag.protect(data, goal="mislead", budget=16.0, random_state=0).refused is None


def test_a_refused_release_is_written_only_if_the_publisher_insists(data, released, tmp_path):
    check = released.check
    worse = replace(released, check=replace(check, before=check.after, after=check.before))
    with pytest.raises(ReleaseRefusedError):
        worse.save(tmp_path / "r.csv")
    assert not (tmp_path / "r.csv").exists()
    assert "refused" in repr(worse)
    replace(worse, even_if_worse=True).save(tmp_path / "r.csv")
    assert (tmp_path / "r.csv").exists()


def test_how_far_to_go_is_tried_out(data):
    """What ratings may say of the value is one of the multiples of its prior; every release names its own."""
    for budget in (1.0, 12.0):
        tried, *more = ag.protect(data, members=2, budget=budget, check=False, random_state=0).notes
        assert float(tried.split("may say ")[1].split(" times")[0]) in SHARES
        assert [note.startswith("the budget is not used up") for note in more] == [True] * (budget == 12.0)


def test_guards_can_be_told_nobodys_value(data):
    """Then they do what they do for strangers: the whole budget is spent on what the ratings alone suggest."""
    options = {"members": 2, "budget": 4.0, "random_state": 0}
    informed, blind = (ag.protect(data, knows=knows, **options) for knows in ("everyone", "nobody"))
    assert not blind.notes
    assert blind.summary.removed == pytest.approx(4 * data.n_users, rel=0.02)
    assert informed.check.strongest_after().auc.value < blind.check.strongest_after().auc.value


def test_more_budget_does_not_tell_more(data):
    found = [
        ag.protect(data, members=3, budget=b, random_state=0).check.strongest_after().auc for b in (2.0, 6.0, 12.0)
    ]
    assert found[1].value < found[0].value
    assert found[2].value < found[0].value


def test_an_aim_is_met_with_as_few_changes_as_were_found(data):
    found = ag.protect(data, aim_auc=0.7, goal="conceal", members=2, random_state=0)
    assert found.check.strongest_after().auc.value <= 0.7
    assert 0 < found.record()["expected_cost"] <= 8
    assert "meets the aim" in found.notes[0]


def test_an_aim_out_of_reach_says_what_the_best_was(data):
    with pytest.raises(ReleaseRefusedError, match=r"no release meets the aim of AUC 0.501.*the best, goal mislead"):
        ag.protect(data, aim_auc=0.501, goal="mislead", random_state=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"aim": 0.3}, "must lie between 0.6"),
        ({"aim_auc": 0.4}, "must lie between 0.500"),
        ({"aim": 0.8, "aim_auc": 0.7}, "not both"),
        ({"aim_auc": 0.7, "budget": 3.0}, "either a budget or an aim"),
        ({"knows": "me"}, "unknown knows 'me'"),
    ],
)
def test_impossible_aims_are_refused(data, options, message):
    with pytest.raises(ParameterError, match=message):
        ag.protect(data, **options)


def test_an_aim_needs_an_own_table(data, small_guard):
    with pytest.raises(ParameterError, match="publisher's own table"):
        ag.protect(data, small_guard, aim=0.7)
    with pytest.raises(ParameterError, match="publisher's own table"):
        ag.protect(data, small_guard, knows="nobody")


def test_nobody_known_and_no_guard(data):
    with pytest.raises(DataError, match="nobody's value is known"):
        ag.protect(replace(data, y=np.full(data.n_users, -1)))


def test_users_without_a_value_are_protected_too(data):
    """A few users do not disclose: they are released with the others, and the check leaves them out."""
    hidden = data.y.copy()
    hidden[:40] = -1
    released = ag.protect(replace(data, y=hidden), goal="mislead", random_state=0)
    assert released.check.n_users == data.n_users - 40
    assert released.plan.expected_cost[:40].mean() > 0


def test_nobody_gets_more_than_the_most(data):
    released = ag.protect(data, members=2, budget=6.0, most=3, check=False, random_state=0)
    before, after = np.diff(data.X.indptr), np.bincount(np.array(released.table["user"]), minlength=data.n_users)
    assert (before - after).max() == 3


def test_the_page_and_the_rows_hold_the_check_but_nobody(released, data, tmp_path):
    rows = released.to_arrow()
    assert {"figure", "value", "interval", "attack", "learnt_from", "attacks"} <= set(rows.column_names)
    assert len([row for row in released.rows() if row["figure"] == "auc"]) == 12
    text = released.save(tmp_path / "r.html").read_text()
    assert "retrained" in text
    assert "value by value" in text.lower()
    assert released.record()["check"]["worse"] is False


def test_tables_and_files_come_in_as_they_are(data, tmp_path):
    people = pa.table({"user": data.users.tolist(), "city": [data.values[code] for code in data.y]})
    own = {"members": 2, "budget": 1.0, "key": KEY, "check": False}
    one = ag.protect(data.to_arrow(), attributes=people, attribute="city", **own)
    two = ag.protect(data, **own)
    for each in (one.summary, two.summary):
        assert each.kept + each.removed == data.X.nnz
        assert each.removed == pytest.approx(data.n_users, rel=0.03)
