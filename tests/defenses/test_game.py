"""The game-theoretic optimum: known answers, an independent solver, and that nothing beats it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import attriguard as ag
from attriguard.data.scale import RatingScale
from attriguard.defenses.game import make_game
from attriguard.defenses.game_domain import empirical_joint, grid_points, plan_channel, separating_items
from attriguard.defenses.game_size import ProgramSize, about
from attriguard.errors import DataError, ParameterError

LEVELS = 3


def random_joint(m, n, seed, *, holes=0):
    """A joint distribution with values that are easy to tell; some points never occur."""
    joint = np.random.default_rng(seed).gamma(0.4, size=(m, n))
    joint[:, :holes] = 0
    return joint / joint.sum()


def random_game(m=3, n_items=2, levels=LEVELS, seed=0, **options):
    points = grid_points(n_items, levels)
    return make_game(points, random_joint(m, points.shape[0], seed), **options)


def test_points_of_a_grid():
    points = grid_points(2, 2)
    assert points.tolist() == [[a, b] for a in (0, 0.5, 1) for b in (0, 0.5, 1)]
    assert grid_points(3, 5).shape == (216, 3)


def test_two_points_by_hand():
    """Everyone of value 0 is at 0 (0.6), everyone of value 1 at 1 (0.4): each moved user lowers the loss by one."""
    game = make_game([[0.0], [1.0]], [[0.6, 0.0], [0.0, 0.4]])
    assert game.unprotected == pytest.approx(1.0)
    assert game.guessing == pytest.approx(0.6)
    for budget, loss in [(0.0, 1.0), (0.1, 0.9), (0.25, 0.75), (0.4, 0.6), (1.0, 0.6)]:
        best = game.solve(budget)
        assert best.privacy_loss == pytest.approx(loss, abs=1e-7)
        assert best.utility_loss <= budget + 1e-9


def test_a_mechanism_by_hand():
    game = make_game([[0.0, 0.0], [1.0, 1.0]], [[0.5, 0.1], [0.1, 0.3]])
    flip = [[0.75, 0.25], [0.5, 0.5]]
    # At x' = 0 the values weigh 0.425 and 0.225, at x' = 1 they weigh 0.175 and 0.175.
    assert game.privacy_loss(flip) == pytest.approx(0.425 + 0.175)
    assert game.utility_loss(flip) == pytest.approx(2 * (0.6 * 0.25 + 0.4 * 0.5))


@pytest.mark.parametrize("seed", range(3))
def test_from_no_protection_to_the_guessing_rate(seed):
    game = random_game(seed=seed)
    budgets = [0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 2.0]
    best = [game.solve(budget) for budget in budgets]
    losses = np.array([one.privacy_loss for one in best])
    assert losses[0] == pytest.approx(game.unprotected, abs=1e-7)
    assert losses[-1] == pytest.approx(game.guessing, abs=1e-6)
    assert (np.diff(losses) <= 1e-7).all()
    # The best trade-off has falling returns: it is convex.
    slopes = np.diff(losses) / np.diff(budgets)
    assert (np.diff(slopes) >= -1e-5).all()
    for one, budget in zip(best, budgets, strict=True):
        assert one.utility_loss <= budget + 1e-7
        np.testing.assert_allclose(one.channel.sum(axis=1), 1)
        assert (one.channel >= 0).all()


# Every example is measured against the optimum at the very utility loss that it has.
GAME = random_game(m=3, n_items=2, levels=2, seed=4)


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 5.0), st.floats(0.0, 1.0))
def test_no_random_mechanism_is_better(seed, sharpness, stay):
    n = GAME.utility.shape[0]
    noise = np.random.default_rng(seed).gamma(sharpness, size=(n, n)) + 1e-12
    channel = stay * np.eye(n) + (1 - stay) * noise / noise.sum(axis=1, keepdims=True)
    best = GAME.solve(GAME.utility_loss(channel))
    assert best.privacy_loss <= GAME.privacy_loss(channel) + 1e-7


@pytest.mark.parametrize("search", ["panda", "margin", "probability"])
@pytest.mark.parametrize("seed", [0, 1])
def test_attriguard_is_not_better(search, seed):
    points = grid_points(2, LEVELS)
    m, n = 3, points.shape[0]
    joint = random_joint(m, n, seed)
    drawn = np.random.default_rng(seed).choice(m * n, size=4000, p=joint.ravel())
    game = make_game(points, joint)
    guard = ag.AttriGuard(search=search, scale=RatingScale(1, LEVELS))
    plan = guard.fit(csr_array(points[drawn % n]), drawn // n).plan(csr_array(points))
    for budget in (0.0, 0.1, 0.3, 1.0, 2.0):
        channel = plan_channel(plan.with_budget(budget), points)
        spent = game.utility_loss(channel)
        assert spent == pytest.approx(joint.sum(axis=0) @ plan.with_budget(budget).expected_cost, abs=1e-9)
        assert spent <= budget + 1e-9
        assert game.solve(spent).privacy_loss <= game.privacy_loss(channel) + 1e-7
    assert game.utility_loss(channel) > 0.1  # the guard did something


@pytest.mark.parametrize("seed", range(4))
def test_the_same_as_cvxpy(seed):
    cp = pytest.importorskip("cvxpy")
    chance = np.random.default_rng(seed)
    points = chance.random((5, 2))
    joint = random_joint(3, 5, seed, holes=seed % 2)
    game = make_game(points, joint, privacy=chance.random((3, 3)), utility="l2")
    f, budget = cp.Variable((5, 5), nonneg=True), 0.15
    loss = sum(cp.max(game.privacy.T @ (joint @ f[:, x])) for x in range(5))
    spent = cp.sum(cp.multiply(joint.sum(axis=0)[:, None] * game.utility, f))
    problem = cp.Problem(cp.Minimize(loss), [cp.sum(f, axis=1) == 1, spent <= budget])
    problem.solve(solver=cp.CLARABEL)
    assert game.solve(budget).privacy_loss == pytest.approx(problem.value, abs=1e-6)


def test_points_that_never_occur_change_nothing():
    points = grid_points(2, 2)
    joint = random_joint(2, 9, 5, holes=4)
    best = make_game(points, joint).solve(0.2)
    assert (best.channel[:4] == np.eye(9)[:4]).all()
    assert best.utility_loss <= 0.2 + 1e-9


def test_norms_of_the_noise():
    points = [[0.0, 0.0], [0.2, 0.4], [0.2, 0.0]]
    joint = np.full((2, 3), 1 / 6)
    assert make_game(points, joint).utility.tolist() == [[0, 2, 1], [2, 0, 1], [1, 1, 0]]
    assert make_game(points, joint, utility="l2").utility[0] == pytest.approx([0, np.hypot(0.2, 0.4), 0.2])


def test_the_joint_distribution_in_data():
    X = csr_array(np.array([[0, 1.0], [0, 1.0], [0.5, 0], [0.5, 0], [0, 0]], dtype=np.float32))
    joint = empirical_joint(X, [0, 1, 1, -1, 0], grid_points(2, 2))
    expected = np.zeros((2, 9))
    expected[0, 2] = expected[1, 2] = expected[1, 3] = expected[0, 0] = 0.25
    assert (joint == expected).all()
    with pytest.raises(DataError, match="2 of 5 rows lie outside"):
        empirical_joint(X, [0, 1, 1, 1, 0], grid_points(2, 1))


def test_separating_items_tell_more_than_others(small_twin):
    items = separating_items(small_twin.X, small_twin.y, 2)
    points = grid_points(2, 5)
    plain = make_game(points, empirical_joint(small_twin.X[:, list(items)], small_twin.y, points))
    quiet = make_game(points, empirical_joint(small_twin.X[:, [-2, -1]], small_twin.y, points))
    assert plain.unprotected - plain.guessing > quiet.unprotected - quiet.guessing


@pytest.mark.parametrize(
    ("number", "text"),
    [(46872, "46,872"), (6**200, "about 4e155"), (10**400, "about 1e400"), (96 * 10**6, "about 1e8")],
)
def test_large_numbers(number, text):
    assert about(number) == text


def test_the_papers_own_example_is_refused():
    assert ProgramSize(points=6**100, values=2).variables == 6**200 + 6**100
    with pytest.raises(ParameterError, match=r"about 7e77 points, about 4e155 variables, .* fewer items"):
        grid_points(100, 5)
    with pytest.raises(ParameterError, match="does not fit"):
        grid_points(10_000, 5)
    with pytest.raises(ParameterError, match="1,296 points, 1,680,912 variables"):
        grid_points(4, 5)
    with pytest.raises(ParameterError, match="at most 50 variables"):
        GAME.solve(0.1, max_variables=50)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"joint": [[0.5, 0.6], [0.1, 0.1]]}, "sums to 1.3"),
        ({"joint": [[0.9, -0.1], [0.1, 0.1]]}, "not negative"),
        ({"joint": [[0.5, 0.2, 0.3]]}, "3 points"),
        ({"privacy": [[1.0]]}, "2 × 2"),
        ({"utility": "l1"}, "unknown utility"),
        ({"utility": [[0.0, -1.0], [1.0, 0.0]]}, "not negative"),
        ({"utility": [[1.0, 1.0], [1.0, 0.0]]}, "diagonal"),
    ],
)
def test_bad_games(change, message):
    options = {"points": [[0.0], [1.0]], "joint": [[0.4, 0.3], [0.1, 0.2]]} | change
    with pytest.raises(ParameterError, match=message):
        make_game(**options)


def test_bad_mechanisms():
    game = make_game([[0.0], [1.0]], [[0.4, 0.3], [0.1, 0.2]])
    with pytest.raises(ParameterError, match="budget"):
        game.solve(-1)
    with pytest.raises(ParameterError, match="row and a column a point"):
        game.privacy_loss(np.eye(3))
    for channel in ([[0.5, 0.4], [0, 1]], [[1.5, -0.5], [0, 1]], [[np.nan, 0.4], [0, 1]]):
        with pytest.raises(ParameterError, match="distribution"):
            game.utility_loss(channel)


def test_a_plan_for_other_rows_has_no_channel(small_twin, small_guard):
    with pytest.raises(ParameterError, match="in their order"):
        plan_channel(small_guard.plan(small_twin.X[:9]), grid_points(2, 2))


def test_the_optimum_as_a_defense_draws_from_the_programs_channel():
    """On three items: as many changes and as much privacy as the program says; a large domain is refused."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=4000)
    X = csr_array((rng.random((4000, 3)) < np.where(y[:, None] == 1, 0.7, 0.3)).astype(np.float32))
    defense = ag.defenses.get("game-theoretic", scale=(0, 1, 1)).fit(X, y)
    for budget in (0.2, 0.6):
        best = defense.optimum(budget)
        release = defense.release_for(X, budget, 1)
        assert (release != X).nnz / 4000 == pytest.approx(best.utility_loss, abs=0.03)
        assert best.utility_loss <= budget + 1e-6
        shares = [
            [((release.toarray() == p).all(axis=1) & (y == s)).mean() for p in np.unique(X.toarray(), axis=0)]
            for s in (0, 1)
        ]
        assert np.max(shares, axis=0).sum() == pytest.approx(best.privacy_loss, abs=0.03)
    wide = csr_array(np.ones((10, 300), dtype=np.float32))
    with pytest.raises(ParameterError, match="variables"):
        ag.defenses.get("game-theoretic", scale=(1, 5, 1)).fit(wide, np.arange(10) % 2)
    with pytest.raises(ParameterError, match="needs a rating scale"):
        ag.defenses.get("game-theoretic").fit(X, y)
    assert "game-theoretic" not in ag.defenses.names()
