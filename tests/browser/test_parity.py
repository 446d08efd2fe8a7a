"""The page's search in a real browser: what Python finds with the page's own guard, in little time."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from parity import KEY, Count, Parity, engine_page, guard_of, measure, ratings_of

from attriguard._keys import check_key
from attriguard.classifiers.linear import LinearClassifier
from attriguard.data.scale import RatingScale
from attriguard.errors import ParameterError
from attriguard.goals import Learnt
from attriguard.page.pack import pack, unpack

N_PEOPLE, BUDGETS = 80, [0, 1, 2.5, 3, 5, 8]


@pytest.fixture
def opened(browser, guard, tmp_path):
    """Open a page with this guard's search, after changes to its parameters."""

    def open_page(**parameters):
        changed = copy.copy(guard).set_params(**parameters)
        packed = pack(changed)
        browser.open(engine_page(tmp_path, packed))
        browser.wait("Boolean(globalThis.guard)")
        return packed

    return open_page


def compare(browser, packed, X, goals=("mislead", "conceal", "both"), locked=()):
    count, sides = Count(), Parity(browser, packed, X, locked=locked)
    for goal in goals:
        for capped in (True, False):
            sides.compare(goal, BUDGETS, capped=capped, count=count)
    assert not count.wrong, "\n".join(count.wrong[:5])
    assert len(count.near) <= 0.05 * X.shape[0]
    assert count.plans == 2 * len(goals) * len(BUDGETS) * X.shape[0]


def test_the_browser_changes_what_python_changes(browser, opened, people):
    compare(browser, opened(), people.X[:N_PEOPLE])


@pytest.mark.parametrize(("goal", "model"), [("mislead", "classifier"), ("conceal", "ensemble")])
def test_a_guard_for_one_goal_serves_that_goal(browser, guard, people, tmp_path, goal, model):
    alone = copy.copy(guard).set_params(goal=goal, split=None)
    alone.learnt_ = Learnt(goal, {model: guard.learnt_.models[model]}, guard.counts_, float(goal == "conceal"))
    packed = pack(alone)
    browser.open(engine_page(tmp_path, packed))
    browser.wait("Boolean(globalThis.guard)")
    assert browser.evaluate("guard.goals") == [goal]
    compare(browser, packed, people.X[:10], goals=(goal,))


def test_policies_locks_and_additions_are_kept(browser, opened, people, guard):
    items = guard.items_.tolist()
    some = people.X[: N_PEOPLE // 4]
    popular = np.argsort(-np.bincount(people.X.indices, minlength=300))[:20].tolist()
    compare(browser, opened(policy="add_new", locked=items[:9]), some, locked=popular[:4])
    compare(browser, opened(policy="modify_exist", target="uniform"), some, locked=popular[4:8])
    compare(browser, opened(policy="add_new", additions=dict.fromkeys(items[40:90], 3.0)), some)


def test_what_a_person_never_wants_is_never_added(browser, opened, people):
    opened(policy="add_new")
    ask = """(ratings, never, secret) => plan(guard, asMap(ratings), {goal: "conceal", budget: 6, never: new Set(never),
      secret: Uint8Array.from(secret), person: "me"}).changes.map(({item}) => item)"""
    ratings = ratings_of(people.X, 0)
    added = browser.call(ask, ratings, [], list(KEY))
    others = browser.call(ask, ratings, added[:3], list(KEY))
    assert len(added) == len(others) == 6
    assert not set(others) & set(added[:3])


def test_what_is_inferred_and_which_ratings_tell_it(browser, opened, people):
    packed = opened()
    ensemble = unpack(packed.card, packed.weights).ensemble_
    X = people.X[:5]
    for user, expected in enumerate(ensemble.predict_proba(X)):
        told = browser.call("ratings => ({...infer(guard, asMap(ratings)).probabilities})", ratings_of(X, user))
        np.testing.assert_allclose(list(told.values()), expected, atol=1e-5)

    def leakage(row):
        p = ensemble.predict_proba(row)[0]
        return float((p * np.log(p / ensemble.prior)).sum())

    row = X[[0]]
    told = browser.call("ratings => telling(guard, asMap(ratings))", ratings_of(X, 0))
    assert [each["told"] for each in told] == sorted((each["told"] for each in told), reverse=True)
    for each in told:
        without = row.toarray()
        without[0, each["item"]] = 0
        assert each["told"] == pytest.approx(leakage(row) - leakage(type(row)(without)), abs=1e-5)


def test_effects_add_up_to_the_difference_between_before_and_after(browser, opened, people):
    opened()
    for goal in ("mislead", "conceal", "both"):
        found = browser.call(
            """(ratings, goal, secret) => {
              const {changes, before, after, pointsTo} = plan(guard, asMap(ratings), {goal, budget: 6, person: "me",
                secret: Uint8Array.from(secret)});
              return {changes, before: [...before], after: [...after], pointsTo};
            }""",
            ratings_of(people.X, 1), goal, list(KEY),
        )  # fmt: skip
        top = int(np.argmax(found["before"]))
        difference = found["after"][top] - found["before"][top]
        assert sum(each["effect"] for each in found["changes"]) == pytest.approx(difference, abs=1e-12)
        assert sum(found["after"]) == pytest.approx(1.0)
        assert len(found["changes"]) <= 6
        assert (found["pointsTo"] is None) == (goal == "conceal")
        rated = dict(map(tuple, ratings_of(people.X, 1)))
        assert all(each["from"] == rated.get(each["item"], 0) != each["to"] for each in found["changes"])


def test_probabilities_of_a_linear_guard_are_those_of_the_regression(browser, people, tmp_path):
    """For two values C_1 = −C_2, so that the softmax of both would be too sure."""
    coef = np.random.default_rng(0).normal(size=(1, 300))
    two = guard_of({"classifier": LinearClassifier(np.vstack([-coef, coef]), [0.1, -0.1])}, 300, 2)
    browser.open(engine_page(tmp_path, pack(two)))
    browser.wait("Boolean(globalThis.guard)")
    told = browser.call("ratings => [...infer(guard, asMap(ratings)).probabilities]", ratings_of(people.X, 0))
    z = float((people.X[[0]] @ coef.T).item()) - 0.1
    assert told[1] == pytest.approx(1 / (1 + np.exp(-z)), abs=1e-3)


@pytest.mark.parametrize("scale", [(1, 5, 1), (0.5, 5, 0.5), (0, 1, 1), (1, 10, 1)])
def test_ratings_are_mapped_as_python_maps_them(browser, opened, scale):
    opened()
    mine = RatingScale(*scale)
    raw = np.arange(mine.floor + mine.step, mine.highest + mine.step / 2, mine.step)
    found = browser.call(
        """(scale, raw) => raw.map((rating) => {
          const entry = toEntry({scale}, rating);
          return [entry, toRating({scale}, entry)];
        })""",
        dict(zip(("low", "high", "step"), scale, strict=True)),
        raw.tolist(),
    )
    np.testing.assert_array_equal([entry for entry, _ in found], mine.to_unit(raw))
    np.testing.assert_allclose([rating for _, rating in found], raw)


@pytest.mark.parametrize(
    "secret", [b"short", b"a" * 32, b"abcabcabcabcabcabc", b"ab cd ab cd ef ab cd", b"sixteen letters!", KEY]
)
def test_secrets_that_can_be_guessed_are_refused_as_python_refuses_them(browser, opened, secret):
    opened()
    try:
        check_key(secret)
        guessable = False
    except ParameterError:
        guessable = True
    assert browser.call("secret => isGuessable(Uint8Array.from(secret))", list(secret)) == guessable


def test_a_guard_of_10_000_items_answers_at_once(browser, tmp_path, large_guard):
    """The best of three runs, since other work on the machine is none of the page's."""
    packed = pack(large_guard)
    browser.open(engine_page(tmp_path, packed))
    browser.wait("Boolean(globalThis.guard)")
    runs = [measure(browser, 10_000) for _ in range(3)]
    for goal in ("mislead", "conceal", "both"):
        assert min(run[goal]["drop"] for run in runs) <= 300, goal
        moves = np.min([run[goal]["moves"] for run in runs], axis=0)
        assert moves.max() <= 50, goal
