"""What one person's ratings say about the person, and what to change: figures, wishes, draws, words."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

import attriguard as ag
from attriguard.classifiers.linear import make_estimator
from attriguard.exports.base import Row
from attriguard.exports.scales import Scale
from attriguard.operations.me import guard_items

KEY = b"0123456789abcdef"
STARS = Scale(1.0, 5.0, 1.0)


@pytest.fixture(scope="module")
def twin():
    return ag.load_dataset("twin", n_users=600, n_items=120, n_values=3, seed=5)


@pytest.fixture(scope="module")
def guard(twin):
    return ag.learn(twin, goal="both", members=2, split=0.5, random_state=0)


def export_of(data, user, **changes):
    """A user's ratings as a person would have them, in stars."""
    row = data.X[[user]]
    stars = {int(item): float(entry) for item, entry in zip(row.indices, data.scale.from_unit(row.data), strict=True)}
    rows = [Row(None, str(data.item_names[item]), None, rating) for item, rating in stars.items()]
    return ag.Export("by hand", tuple(rows), STARS, **changes)


def column(data, title):
    return data.item_names.tolist().index(title)


def leakage(posterior, prior):
    return float(np.sum(posterior * np.log(posterior / prior)))


def test_a_guard_keeps_the_titles_of_its_items(twin, guard, tmp_path):
    guard.save(tmp_path / "city.guard")
    loaded = ag.load_guard(tmp_path / "city.guard")
    assert [item.title for item in guard_items(loaded)] == twin.item_names.tolist()
    bare = ag.AttriGuard().fit(twin.X, twin.y, items=twin.items)
    assert [item.title for item in guard_items(bare)] == [str(item) for item in twin.items]
    with pytest.raises(ag.errors.GuardFileError, match="does not name its items"):
        guard_items(ag.AttriGuard().fit(twin.X, twin.y))
    wrong = copy.copy(bare)
    wrong.metadata_ = {"titles": ["one"]}
    with pytest.raises(ag.errors.GuardFileError, match="another number of titles"):
        guard_items(wrong)


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("classifier", ["lr", "lr-ova"])
def test_a_posterior_is_the_one_of_the_classifier_itself(twin, m, classifier):
    y = np.minimum(twin.y, m - 1)
    guard = ag.AttriGuard(classifier).fit(twin.X, y)
    expected = make_estimator(classifier).fit(twin.X, y).predict_proba(twin.X)
    np.testing.assert_allclose(guard.posterior(twin.X), expected, atol=1e-6)
    assert isinstance(make_estimator("lr"), LogisticRegression)


def test_the_figures_are_those_of_the_guard(twin, guard):
    user = 7
    about = ag.about_me(export_of(twin, user), guard, budget=3)
    prior = guard.counts_ / guard.counts_.sum()
    before = guard.posterior(twin.X[[user]])[0]
    np.testing.assert_allclose(about.before, before)
    np.testing.assert_allclose(about.prior, prior)
    assert (about.known, about.titles, about.unknown) == (twin.X[[user]].nnz, twin.X[[user]].nnz, ())
    assert [each.told for each in about.telling] == sorted((each.told for each in about.telling), reverse=True)
    for each in about.telling[:3]:
        without = twin.X[[user]].tolil()
        without[0, column(twin, each.title)] = 0
        left = guard.posterior(csr_array(without))[0]
        assert each.told == pytest.approx(leakage(before, prior) - leakage(left, prior), abs=1e-6)
        assert each.without == pytest.approx(left[before.argmax()], abs=1e-6)


@pytest.mark.parametrize("goal", ["conceal", "mislead", "both"])
def test_the_changes_are_the_plans(twin, guard, goal):
    users, seen = range(40), 0
    for user in users:
        about = ag.about_me(export_of(twin, user), guard, goal=goal, budget=3, key=KEY)
        own = copy.copy(guard).set_params(goal=goal)
        plan = own.plan(twin.X[[user]], budget=3.0, most=3, users=["me"])
        released = plan.release(key=KEY).toarray()[0]
        changed = twin.X[[user]].toarray()[0]
        assert len(about.changes) <= 3
        for each in about.changes:
            place = column(twin, each.title)
            raw = None if changed[place] == 0 else float(twin.scale.from_unit(changed[place]))
            assert raw == each.before
            changed[place] = 0 if each.after is None else twin.scale.to_unit(each.after)
        np.testing.assert_array_equal(changed, released)
        np.testing.assert_allclose(about.after, guard.posterior(csr_array(released[None]))[0], atol=1e-6)
        value = about.inferred
        total = sum(each.effect for each in about.changes)
        assert total == pytest.approx(about.after[value] - about.before[value], abs=1e-6)
        seen += len(about.changes)
    assert seen > 30


def test_what_is_removed_is_removed_in_the_order_of_the_search(twin, guard):
    export = export_of(twin, 7)
    four = ag.about_me(export, guard, goal="conceal", budget=4).changes
    assert [each.title for each in four[:2]] == [
        each.title for each in ag.about_me(export, guard, goal="conceal", budget=2).changes
    ]
    assert {each.action for each in four} == {"remove"}


def test_wishes_are_kept(twin, guard):
    export = export_of(twin, 7)
    free = ag.about_me(export, guard, goal="conceal", budget=2)
    locked = [free.changes[0].title.upper()]
    assert locked[0].title() not in [
        each.title for each in ag.about_me(export, guard, goal="conceal", budget=2, locked=locked).changes
    ]
    added = {each.title for each in _added(export, guard)}
    assert added
    assert not added & {each.title for each in _added(export, guard, never=added)}
    mine = export.rows[0].title  # it is rated already, so that it cannot be added
    assert ag.about_me(export, guard, goal="conceal", budget=2, never=[mine]).changes == free.changes
    with pytest.raises(ag.errors.ParameterError, match="locked: the guard knows no title 'Tokio Museum'; did you mean"):
        ag.about_me(export, guard, locked=["Tokio Museum"])


def _added(export, guard, never=()):
    """What thirty draws add."""
    draws = (
        ag.about_me(export, guard, goal="both", budget=8, never=list(never), random_state=seed) for seed in range(30)
    )
    return [each for about in draws for each in about.changes if each.action == "add"]


def test_a_key_keeps_the_draw_and_chance_does_not(twin, guard):
    export = export_of(twin, 7)
    keyed = [ag.about_me(export, guard, goal="mislead", budget=8, key=KEY) for _ in range(3)]
    assert len({about.points_to for about in keyed}) == 1
    assert keyed[0].keyed
    chance = [ag.about_me(export, guard, goal="mislead", budget=8) for _ in range(60)]
    assert len({about.points_to for about in chance}) > 1  # each value is drawn with a probability of a fifth or more
    assert not chance[0].keyed
    assert any("--key" in line for line in chance[0].remarks)


def test_titles_that_are_not_known_are_told_with_the_nearest(twin, guard):
    export = export_of(twin, 7)
    typo = f"{twin.item_names[3]}s"
    more = ag.Export(export.format, (*export.rows, Row(None, typo, None, 3.0)), export.scale, ("a note",))
    about = ag.about_me(more, guard)
    assert (about.titles, about.known) == (len(export.rows) + 1, len(export.rows))
    assert about.unknown[0].title == typo
    assert str(twin.item_names[3]) in about.unknown[0].near
    assert "a note" in about.remarks
    with pytest.raises(ag.errors.DataError, match="none of the 1 title is known to the guard"):
        ag.about_me(ag.Export("by hand", (Row(None, "Middlemarch"),)), guard)


def test_what_it_says_in_words_rows_and_a_page(twin, guard, outline):
    about = ag.about_me(export_of(twin, 7), guard, goal="conceal", budget=3)
    value = twin.values[about.inferred]
    assert about.headline.startswith(f"From {about.known} ratings of yours a classifier infers: city = {value}, ")
    record = about.record()
    assert record["inferred"] == value
    assert sum(each["before"] for each in record["values"].values()) == pytest.approx(1.0)
    assert {row["figure"] for row in about.rows()} == {"before", "prior", "after", "told", "effect"}
    assert about.limits[0].startswith("An attacker who protects other people with this guard")
    from attriguard.report.page import render

    outline(render(about.full_page()))


def test_half_stars_and_likes_reach_the_guards_scale(twin, guard):
    rows = export_of(twin, 7).rows
    halves = ag.Export("by hand", tuple(row._replace(rating=row.rating - 0.5) for row in rows), Scale(0.5, 5.0, 0.5))
    about = ag.about_me(halves, guard)
    assert {each.title: each.rating for each in about.telling} == {row.title: row.rating for row in rows}
    assert any(note.startswith("your ratings, 0.5 to 5") for note in about.notes)
    seen = ag.about_me(ag.Export("by hand", tuple(row._replace(rating=None) for row in rows)), guard)
    assert {each.rating for each in seen.telling} == {5.0}
    assert any(note.startswith("this file has no ratings") for note in seen.notes)
