"""A guard packed for a page: the same guard but for rounding, and nothing private in it."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import attriguard as ag
from attriguard.classifiers.ensemble import Ensemble
from attriguard.classifiers.linear import LinearClassifier
from attriguard.classifiers.weights import Weights
from attriguard.errors import ParameterError
from attriguard.goals import Learnt
from attriguard.noise.removals import addition_pool
from attriguard.page.build import page_html
from attriguard.page.pack import MEMBERS, PARTS, pack, rounded, shares, title_and_year, unpack


@pytest.fixture(scope="module")
def guard(small_twin):
    return ag.learn(small_twin.train, goal="both", members=2, split=0.5, random_state=0)


@pytest.fixture(scope="module")
def page_guard(guard):
    packed = pack(guard)
    return unpack(packed.card, packed.weights)


def test_weights_are_rounded_and_nothing_else(guard, page_guard, small_twin):
    X = small_twin.test.X
    coef, packed = guard.classifier_.coef_, page_guard.classifier_.coef_
    half = np.abs(coef).max(axis=0) / (2**15 - 1) * 0.51  # of a step of each item
    assert (np.abs(coef - packed) <= half).all()
    scores = [each.classifier_.decision_function(X) for each in (guard, page_guard)]
    np.testing.assert_allclose(*scores, atol=1e-3)
    np.testing.assert_allclose(*(each.ensemble_.predict_proba(X) for each in (guard, page_guard)), atol=5e-3)


def test_the_page_guard_plans_for_every_goal(guard, page_guard, small_twin):
    X = small_twin.test.X
    for goal in ("mislead", "conceal", "both"):
        plans = [copy.copy(each).set_params(goal=goal).plan(X, budget=3) for each in (guard, page_guard)]
        edits = [[plan.edits.of(u, 3)[0].tolist() for u in range(30)] for plan in plans]
        assert np.mean([one == two for one, two in zip(*edits, strict=True)]) > 0.8


def test_nothing_private_goes_into_a_page(guard):
    marked = copy.copy(guard)
    marked.metadata_ = {**guard.metadata_, "folder": "private folder", "data": "the twin", "users": 810}
    card = pack(marked).card
    text = json.dumps(card)
    assert guard.seen_ is not None
    assert guard.seen_.salt.hex() not in text
    assert "private folder" not in text
    assert card["about"]["data"] == "the twin"
    assert sum(card["shares"]) == PARTS
    assert not any(str(count) in json.dumps(card["shares"]) for count in guard.counts_.tolist() if count > 100)
    back = unpack(card, pack(marked).weights)
    assert back.seen_ is None
    np.testing.assert_allclose(back.target_, guard.target_, atol=1e-4)


def test_the_same_guard_gives_the_same_page(guard):
    one, two = pack(guard), pack(guard)
    assert (one.card, one.weights) == (two.card, two.weights)
    other = copy.copy(guard).set_params(policy="add_new")
    assert pack(other).card["about"]["sha256"] != one.card["about"]["sha256"]


def test_locks_additions_and_scale_come_back(guard):
    items = guard.items_.tolist()
    asked = copy.copy(guard).set_params(locked=items[:3], additions={items[5]: 2.0, items[7]: 5.0}, policy="add_new")
    packed = pack(asked)
    back = unpack(packed.card, packed.weights)
    np.testing.assert_array_equal(back.planner().settings.constraints.upper, asked.planner().settings.constraints.upper)
    assert back.scale == guard.scale
    assert packed.card["pool"] == addition_pool(back.ensemble_, back.planner().settings.constraints).tolist()


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"search": "panda"}, "a page searches with 'probability' or 'margin', not 'panda'; learn it so"),
        (
            {"search": ag.noise.Probability(shorter=True)},
            "a page searches with 'probability' or 'margin', not Probability(shorter=True); learn it so",
        ),
        ({"step": 0.5}, "a page knows step=1.0 alone, got 0.5; learn it so"),
        ({"confidence": 1.0}, "a page knows confidence=None alone, got 1.0; learn it so"),
        ({"maxiter": 3}, "a page knows maxiter=None alone, got 3; learn it so"),
    ],
)
def test_a_search_that_a_page_cannot_do_is_refused(guard, changed, told):
    with pytest.raises(ParameterError) as error:
        pack(copy.copy(guard).set_params(**changed))
    assert str(error.value) == told


def test_a_network_is_refused(guard):
    weights = Weights(*(np.ones(shape, dtype="f4") for shape in ((300, 5), 5, (5, 4), 4)))
    network = copy.copy(guard)
    network.learnt_ = Learnt("mislead", {"classifier": Ensemble([weights], np.full(4, 0.25))}, guard.counts_, 0.0)
    network.goal = "mislead"
    with pytest.raises(ParameterError, match="not a network; learn the guard with classifier='lr'"):
        pack(network)


def test_pages_are_small():
    rng = np.random.default_rng(0)
    linear = LinearClassifier(rng.normal(size=(25, 10_000)), rng.normal(size=25))
    shapes = (10_000, 128), 128, (128, 25), 25
    members = [Weights(*(rng.normal(size=shape).astype("f4") for shape in shapes)) for _ in range(MEMBERS + 1)]
    titles = [f"A title that is as long as many are, number {j} (1993)" for j in range(10_000)]
    sizes = []
    for goal, models in (
        ("mislead", {"classifier": linear}),
        ("both", {"classifier": linear, "ensemble": Ensemble(members, np.full(25, 0.04))}),
    ):
        guard = ag.AttriGuard(goal=goal, split=0.5)
        guard.learnt_ = Learnt(goal, models, np.full(25, 100), 0.5)
        guard.classes_, guard.values_ = np.arange(25), tuple(f"value {i}" for i in range(25))
        guard.items_, guard.n_features_in_ = np.arange(10_000), 10_000
        guard.metadata_, guard.seen_ = {}, None
        sizes.append(len(page_html(pack(guard, titles=titles)).encode()))
    assert sizes[0] <= 3e6
    assert sizes[1] <= 12e6


@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=60).filter(any))
def test_shares_are_ten_thousand_and_nobody_is_lost(counts):
    found = shares(np.array(counts))
    assert found.sum() == PARTS
    assert ((found > 0) == (np.array(counts) > 0)).all()
    exact = np.array(counts) / sum(counts) * PARTS
    assert (np.abs(found - exact) <= len(counts) + 1).all()


@pytest.mark.parametrize(("count", "told"), [(7, 7), (42, 42), (943, 940), (14_607, 15_000), (16_238, 16_000)])
def test_users_are_told_to_two_digits(count, told):
    assert rounded(count) == told


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Piano, The (1993)", ("Piano, The", 1993)),
        ("2001: A Space Odyssey", ("2001: A Space Odyssey", None)),
        ("Brazil (director's cut)", ("Brazil (director's cut)", None)),
        ("(1993)", ("(1993)", None)),
        (" Shall We Dance? (1937)  ", ("Shall We Dance?", 1937)),
    ],
)
def test_a_year_at_the_end_is_no_part_of_the_title(text, found):
    assert title_and_year(text) == found


def test_titles_must_go_with_the_items(guard):
    with pytest.raises(ParameterError, match="titles must name the guard's 300 items, got 2"):
        pack(guard, titles=["one", "two"])
