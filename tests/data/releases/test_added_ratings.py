"""Ratings of new rows: drawn as the user rates and as others rate the item, and searched for as such."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import attriguard as ag
from attriguard.data.habits import CAUTION, SHARED, Habits
from attriguard.data.releases.added_ratings import draw_ratings
from attriguard.data.releases.chance import Chance
from attriguard.errors import DataError, ParameterError

KEY = "a secret of 16 b"


@pytest.fixture(scope="module")
def data() -> ag.PublicData:
    return ag.load_dataset("twin", n_users=600, n_items=80, n_values=2)


def raters(n: int = 4_000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Ratings of 1 to 5 by users who are harsh or kind, of items that are good or bad: all of them, and a tenth."""
    rng = np.random.default_rng(seed)
    kind, good = rng.normal(size=n), np.linspace(-1.5, 1.5, 30)
    stars = np.clip(np.rint(3 + kind[:, None] + good + 0.5 * rng.normal(size=(n, 30))), 1, 5) / 5
    return stars, np.where(rng.random((n, 30)) < 0.3, stars, 0)


def as_data(X: np.ndarray) -> ag.PublicData:
    return ag.PublicData(
        X=csr_array(X.astype(np.float32)), users=np.arange(len(X)), items=np.arange(X.shape[1]),
        scale=ag.RatingScale(1, 5), attribute="city", y=np.arange(len(X)) % 2, values=("A", "B"),
    )  # fmt: skip


def test_drawn_ratings_are_like_those_that_the_users_would_have_given() -> None:
    stars, X = raters()
    data = as_data(X)
    habits = Habits.of(data.X, 5)
    new = (X == 0) & (np.random.default_rng(1).random(X.shape) < 0.3)
    released = csr_array(np.where(new, 1.0, X).astype(np.float32))
    drawn = draw_ratings(data, data.X, released, data.items, Chance.of(None, KEY), habits).toarray()
    assert (drawn[~new] == X.astype(np.float32)[~new]).all()
    assert set(np.rint(drawn[new] * 5)) == {1, 2, 3, 4, 5}
    # By item and by user they are on average what these users would have given, whom nobody asked.
    for axis in (0, 1):
        count = np.maximum(new.sum(axis=axis), 1)
        mean, true = (np.where(new, each, 0).sum(axis=axis) / count for each in (drawn, stars))
        assert np.corrcoef(mean, true)[0, 1] > (0.99 if axis == 0 else 0.8)
        assert abs((mean - true).mean()) < 0.02
    # The same share of each star.
    shares = [np.bincount(np.rint(each[new] * 5).astype(int), minlength=6) / new.sum() for each in (drawn, stars)]
    assert np.abs(shares[0] - shares[1]).max() < 0.02


def test_a_key_decides_and_other_users_have_no_say(data: ag.PublicData) -> None:
    X, habits = data.X.toarray(), Habits.of(data.X, 5)
    released = csr_array(np.where((X == 0) & (np.random.default_rng(0).random(X.shape) < 0.5), np.float32(1), X))
    some = np.arange(0, data.n_users, 3)

    def drawn(key: str, rows: np.ndarray) -> np.ndarray:
        own = data.take(rows)
        return draw_ratings(own, own.X, released[rows], data.items, Chance.of(None, key), habits).toarray()

    every = np.arange(data.n_users)
    assert (drawn(KEY, every)[some] == drawn(KEY, some)).all()
    assert (drawn(KEY, every) != drawn("another secret of 16", every)).any()


def test_habits_are_shares_with_a_little_of_everybodys() -> None:
    X = csr_array(np.float32([[0.2, 1.0], [0.2, 0], [0.4, 0]]))
    habits = Habits.of(X, 5)
    every = np.array([2, 1, 0, 0, 1]) / 4
    shares = (np.array([[2, 1, 0, 0, 0], [0, 0, 0, 0, 1]]) + SHARED * every) / np.array([[3 + SHARED], [1 + SHARED]])
    assert np.diff(habits.below, axis=1) == pytest.approx(shares, abs=1e-6)
    assert habits.counted == pytest.approx(CAUTION * shares @ np.arange(1, 6) / 5, abs=1e-6)
    # All ratings alike, as likes are: nothing to draw.
    assert Habits.of(csr_array(np.float32([[1, 1], [1, 0]])), 1) is None


@given(st.integers(2, 200), st.data())
def test_where_a_rating_stands_leads_back_to_it(levels: int, draw: st.DataObject) -> None:
    level = np.array(draw.draw(st.lists(st.integers(1, levels), min_size=1, max_size=20)))
    entries = (level / levels).astype(np.float32)
    X = csr_array(entries[:, None])
    habits = Habits.of(X, levels)
    within = np.array([draw.draw(st.floats(0.01, 0.99)) for _ in level])
    zero = np.zeros(level.size, dtype=np.int64)
    position = habits.position(zero, entries, within)
    again = habits.entries(zero, position, levels)
    on_grid = np.rint(again * levels)
    assert again == pytest.approx(on_grid / levels)
    assert (on_grid >= 1).all()
    assert (on_grid <= levels).all()
    # The same bin, which is the same rating where every level has a bin of its own.
    assert (np.abs(on_grid - level) < max(1, levels / habits.bins + 1)).all()
    if levels <= 20:
        assert on_grid.tolist() == level.tolist()


def test_ends_of_the_scale_are_ratings() -> None:
    habits = Habits.of(csr_array(np.float32([[0.2], [1.0]])), 5)
    zero = np.zeros(2, dtype=np.int64)
    assert habits.entries(zero, np.array([0.0, 1.0]), 5) == pytest.approx([0.2, 1.0])


@pytest.mark.parametrize("spoil", ["shape", "falling", "nan", "end"])
def test_habits_that_nobody_has_are_refused(spoil: str) -> None:
    below = Habits.of(csr_array(np.float32([[0.2, 1.0], [0.4, 0.6]])), 5).below.copy()
    if spoil == "shape":
        below = below[:, 1:]
    else:
        below[1, {"falling": 2, "nan": 2, "end": 5}[spoil]] = {"falling": -0.5, "nan": np.nan, "end": 0.9}[spoil]
    with pytest.raises(DataError, match="shares of ratings"):
        Habits(below).check(2, 5)


def test_a_publisher_chooses(data: ag.PublicData) -> None:
    def protected(**options: object) -> tuple[ag.Released, np.ndarray]:
        found = ag.protect(data, goal="mislead", budget=2.0, key=KEY, check=False, **options)
        return found, found.table["rating"].to_numpy()[found.block.release.added]

    (_, tops), (drawn, own) = protected(added_ratings="top"), protected()
    assert set(tops.tolist()) == {5}
    assert len(set(own.tolist())) > 2
    # Ratings of the table and drawn ones, on average.
    assert abs(own.mean() - data.scale.from_unit(data.X.data).mean()) < 0.5
    assert protected(added_ratings="drawn")[0].table.equals(drawn.table)
    # Items that may be added get drawn ratings, too; ratings that the publisher names stay what they are.
    some = data.items[:40].tolist()
    assert len(set(protected(additions=some)[1].tolist())) > 2
    named, ratings = protected(additions=dict.fromkeys(some, 3))
    assert named.summary.added
    assert set(ratings.tolist()) == {3}
    with pytest.raises(ParameterError, match="added_ratings must be drawn or top, got 'low'"):
        protected(added_ratings="low")


def test_a_search_that_counts_on_less_reaches_more_with_drawn_ratings(data: ag.PublicData, tmp_path) -> None:
    """What the guard aims at is inferred from most drawn releases, and a saved guard draws as the guard itself."""
    train, test = data.split(0.5, 0)
    guard = ag.AttriGuard(scale=data.scale, random_state=0).fit(train.X, train.y, items=data.items)
    plan = guard.planner().adding(guard.habits_.counted).plan(test.X, budget=4.0, users=test.users)
    reached = {}
    for how, each in (("counted", plan), ("top", guard.plan(test.X, users=test.users))):
        rows = each.release(key=KEY)
        drawn = draw_ratings(test, test.X, rows, test.items, Chance.of(None, KEY), guard.habits_)
        inferred = guard.classifier_.decision_function(drawn).argmax(axis=1)
        reached[how] = float((inferred == each.draw(key=KEY)).mean())
    assert reached["counted"] > 0.9
    assert reached["counted"] > reached["top"] + 0.05
    guard.save(tmp_path / "city.guard")
    again = ag.load_guard(tmp_path / "city.guard")
    tables = [ag.protect(test, each, key=KEY, check=False).table for each in (guard, again)]
    assert tables[0].equals(tables[1])
