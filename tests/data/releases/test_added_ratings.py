"""Ratings of new rows: drawn from the user's own, as far as what was to be inferred is inferred all the same."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import attriguard as ag
from attriguard.data.releases.added_ratings import draw_ratings
from attriguard.data.releases.chance import Chance
from attriguard.errors import ParameterError

KEY = "a secret of 16 b"


@pytest.fixture(scope="module")
def data() -> ag.PublicData:
    return ag.load_dataset("twin", n_users=600, n_items=80, n_values=2)


def with_tops(data: ag.PublicData) -> tuple[csr_array, np.ndarray]:
    """Half of the missing ratings are added at the top; which they are."""
    X = data.X.toarray()
    new = (X == 0) & (np.random.default_rng(0).random(X.shape) < 0.5)
    return csr_array(np.where(new, np.float32(1), X)), new


def test_ratings_are_drawn_from_the_users_own(data: ag.PublicData) -> None:
    released, new = with_tops(data)
    drawn = draw_ratings(data, data.X, released, data.items, Chance.of(None, KEY), None).toarray()
    X = data.X.toarray()
    assert (drawn[~new] == X[~new]).all()
    for u in range(data.n_users):
        assert set(drawn[u, new[u]].tolist()) <= set(X[u, X[u] > 0].tolist())
    # Each user's new ratings are on average the user's own.
    means = [(drawn[u, new[u]].mean(), X[u, X[u] > 0].mean()) for u in range(data.n_users)]
    difference = np.diff(np.array(means), axis=1).reshape(-1)
    assert abs(difference.mean()) < 3 * difference.std() / np.sqrt(difference.size)
    assert np.corrcoef(np.array(means).T)[0, 1] > 0.9


def test_a_key_decides_and_other_users_have_no_say(data: ag.PublicData) -> None:
    released, _ = with_tops(data)
    some = np.arange(0, data.n_users, 3)

    def drawn(key: str, rows: np.ndarray) -> np.ndarray:
        own = data.take(rows)
        return draw_ratings(own, own.X, released[rows], data.items, Chance.of(None, key), None).toarray()

    every = np.arange(data.n_users)
    assert (drawn(KEY, every)[some] == drawn(KEY, some)).all()
    assert (drawn(KEY, every) != drawn("another secret", every)).any()


def test_who_is_not_served_by_any_trial_keeps_the_top(data: ag.PublicData) -> None:
    released, new = with_tops(data)
    even, asked = np.arange(data.n_users) % 2 == 0, []

    def holds(trial: csr_array) -> np.ndarray:
        asked.append(trial)
        return even & (len(asked) > 1)  # nobody at first, then every second user

    drawn = draw_ratings(data, data.X, released, data.items, Chance.of(0, None), holds).toarray()
    assert (drawn[~even] == released.toarray()[~even]).all()
    second = asked[1].toarray()
    assert (drawn[even] == second[even]).all()
    assert (second[new] != asked[0].toarray()[new]).any()


def test_users_without_ratings_get_the_top_and_likes_stay() -> None:
    data = ag.PublicData(
        X=csr_array(np.float32([[0, 0], [0.2, 0]])), users=np.array([1, 2]), items=np.array([1, 2]),
        scale=ag.RatingScale(1, 5), attribute="city", y=[0, 1], values=("A", "B"),
    )  # fmt: skip
    released = csr_array(np.float32([[1.0, 0], [0.2, 1.0]]))
    drawn = draw_ratings(data, data.X, released, data.items, Chance.of(0, None), None)
    assert drawn.toarray().tolist() == np.float32([[1.0, 0], [0.2, 0.2]]).tolist()


def test_a_publisher_chooses(data: ag.PublicData) -> None:
    def protected(**options: object) -> tuple[ag.Released, np.ndarray]:
        found = ag.protect(data, goal="mislead", budget=2.0, key=KEY, check=False, **options)
        return found, found.table["rating"].to_numpy()[found.block.release.added]

    (top, tops), (mixed, some), (drawn, own) = (protected(added_ratings=how) for how in ("top", "mixed", "drawn"))
    assert top.summary == mixed.summary == drawn.summary
    assert set(tops.tolist()) == {5}
    assert 5 > some.mean() > own.mean() > 1
    assert protected()[0].table.equals(mixed.table)
    # Ratings that the publisher names stay what they are.
    named, ratings = protected(additions=dict.fromkeys(data.items.tolist(), 3))
    assert named.summary.added
    assert set(ratings.tolist()) == {3}
    with pytest.raises(ParameterError, match="added_ratings must be one of top, mixed, drawn, got 'low'"):
        protected(added_ratings="low")


def test_mixed_ratings_mislead_as_the_plan_does(data: ag.PublicData) -> None:
    train, test = data.split(0.5, 0)
    guard = ag.AttriGuard(scale=data.scale, random_state=0).fit(train.X, train.y, items=data.items)
    inferred = {}
    for how in ("top", "mixed", "drawn"):
        released = ag.protect(test, guard, budget=4.0, key=KEY, check=False, added_ratings=how)
        X = ag.read_ratings(released.table, scale=data.scale)
        rows = np.zeros(test.X.shape, dtype=np.float32)
        rows[:, np.searchsorted(data.items, X.items)] = X.X.toarray()
        inferred[how] = guard.planner().infer(csr_array(rows))
    assert (inferred["top"] == inferred["mixed"]).all()
    assert (inferred["top"] != inferred["drawn"]).any()
