"""Every defense of the registry, from one table; and what the base class promises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

import attriguard as ag
from attriguard.errors import DataError, NotFittedError, ParameterError

OPTIONS = {"QPM": {"clusters": 30, "random_state": 0}}
COUNTED = ("BlurMe", "ChiSquare", "PerBlur", "SBO", "random-additions", "random-deletions", "telling-deletions")


@pytest.fixture(scope="module")
def fitted(small_twin):
    train, _ = small_twin.split()
    made = {}

    def get(name):
        if name not in made:
            made[name] = ag.defenses.get(name, scale=train.scale, **OPTIONS.get(name, {})).fit(train.X, train.y)
        return made[name]

    return get


@pytest.fixture(params=ag.defenses.names())
def defense(request, fitted):
    return fitted(request.param)


def release(defense, test, strength, seed=0):
    return defense.release_for(test.X, strength, seed, truth=test.y if defense.needs_truth else None)


def changes(release, X):
    return (release != X).nnz / X.shape[0]


def test_the_ladder_leads_from_little_noise_to_privacy(defense, small_twin):
    train, test = small_twin.split()
    attack = ag.attacks.get("LR-A").fit(train.X, train.y)
    before = (attack.predict(test.X) == test.y).mean()
    assert len(defense.ladder) == 8
    releases = [release(defense, test, strength) for strength in defense.ladder_for(test.n_items)]
    for data in releases:
        level = data.data * test.scale.levels
        np.testing.assert_allclose(level, np.rint(level), atol=1e-5)
        assert data.shape == test.X.shape
        assert data.dtype == np.float32
        assert data.has_canonical_format
    noise = [changes(data, test.X) for data in releases]
    if defense.name != "QPM":  # its noise is nearly all quantization's
        assert noise[0] <= 1.0
        assert all(np.diff(noise) > -0.05)
    assert (attack.predict(releases[-1]) == test.y).mean() < before - 0.1


def test_releases_repeat_with_the_seed_and_differ_without(defense, small_twin):
    _, test = small_twin.split()
    ladder = defense.ladder_for(test.n_items)
    strength = ladder[len(ladder) // 2]
    first, again, other = (release(defense, test, strength, seed) for seed in (1, 1, 2))
    assert (first != again).nnz == 0
    assert ((first != other).nnz > 0) == defense.is_random


def test_options_are_kept_and_a_copy_is_unfitted(defense):
    twin = clone(defense)
    assert twin.get_params() == defense.unfitted().get_params() == defense.get_params()
    assert len(repr(defense)) < 200
    with pytest.raises(NotFittedError, match=defense.name):
        twin.release_for(csr_array((1, 3)), defense.ladder[0])


def test_nobody_and_nothing(defense, small_twin):
    empty = csr_array((2, small_twin.n_items), dtype=np.float32)
    truth = small_twin.y[:2]
    for data in (empty, empty[:0]):
        got = defense.release_for(data, defense.ladder[0], 0, truth=truth[: data.shape[0]])
        assert got.shape == data.shape


@pytest.mark.parametrize("name", COUNTED)
def test_a_count_is_whole_and_not_larger_than_the_items(name, fitted, small_twin):
    defense, X, y = fitted(name), small_twin.X[:5], small_twin.y[:5]
    with pytest.raises(ParameterError, match="whole number"):
        defense.release_for(X, 1.5, 0, truth=y)
    with pytest.raises(ParameterError, match="at most the number of items, 300, got 301"):
        defense.release_for(X, 301, 0, truth=y)
    with pytest.raises(ParameterError, match="k must be a finite number, 0 or more"):
        defense.release_for(X, -1, 0, truth=y)
    assert (defense.release_for(X, 0, 0, truth=y) != X).nnz == 0


@pytest.mark.parametrize("name", ["BlurMe", "ChiSquare", "PerBlur", "SBO"])
def test_what_must_be_told_the_truth_says_so(name, fitted, small_twin):
    defense, X = fitted(name), small_twin.X[:4]
    assert defense.needs_truth
    with pytest.raises(DataError, match="pass truth="):
        defense.release_for(X, 1)
    with pytest.raises(DataError, match="2 of 4 users have none"):
        defense.release_for(X, 1, truth=[0, -1, 1, 77])
    with pytest.raises(DataError, match="4 of 4") as caught:
        defense.release_for(X, 1, truth=np.array([None, "Paris", 0.5, float("nan")], dtype=object))
    assert "Paris" not in str(caught.value)
    with pytest.raises(DataError, match="one value a user"):
        defense.release_for(X, 1, truth=[0, 1])


def test_values_keep_their_names(small_twin):
    few = small_twin.take(np.arange(200))
    names = np.array(small_twin.values)[few.y]
    by_code = ag.defenses.get("ChiSquare", scale=few.scale).fit(few.X, few.y).release_for(few.X, 3, truth=few.y)
    by_name = ag.defenses.get("ChiSquare", scale=few.scale).fit(few.X, names).release_for(few.X, 3, truth=names)
    assert (by_code != by_name).nnz == 0


def test_the_guard_behind_the_base_class(fitted, small_twin):
    train, test = small_twin.split()
    defense = fitted("AttriGuard")
    plan = defense.plan(test.X, 4.0)
    guard = ag.AttriGuard(scale=train.scale).fit(train.X, train.y)
    np.testing.assert_array_equal(plan.cost, guard.plan(test.X).cost)
    expected = plan.with_budget(1.0).release(5)
    assert (defense.release_for(test.X, 1.0, 5) != expected).nnz == 0
    with pytest.raises(NotFittedError):
        ag.defenses.get("AttriGuard").plan(test.X, 4.0)


def test_an_unknown_defense():
    with pytest.raises(ParameterError, match="known: AttriGuard, BlurMe"):
        ag.defenses.get("blurme")
    with pytest.raises(ParameterError, match="BlurMe has no option 'clusters'; its options are scale"):
        ag.defenses.get("BlurMe", clusters=3)


def test_every_defense_says_what_it_is_and_needs(small_twin):
    for name, cls in ag.defenses.DEFENSES.items():
        assert cls.name == name
        assert cls.summary
        defense = cls()
        assert defense.needs_truth == ("truth" in cls.needs)
        if "scale" in cls.needs:
            with pytest.raises(ParameterError, match="scale"):
                defense.fit(small_twin.X, small_twin.y)
    few_only = [name for name, cls in ag.defenses.DEFENSES.items() if cls.few_items_only]
    assert few_only == ["game-theoretic"]
    assert ag.defenses.names() == [name for name in ag.defenses.DEFENSES if name not in few_only]


def test_a_lineup_gives_each_what_it_knows(small_twin):
    names = ["QPM", "BlurMe", "AttriGuard"]
    qpm, blurme, guard = ag.defenses.lineup(names, scale=small_twin.scale, random_state=7, search="panda")
    assert (qpm.random_state, guard.random_state, guard.search) == (7, 7, "panda")
    assert qpm.scale == blurme.scale == guard.scale == small_twin.scale


def test_what_people_extend_is_exported_and_nothing_else():
    shown = dir(ag.defenses)
    assert {"Defense", "BlurMe", "Guarded", "get", "lineup"} <= set(shown)
    assert "importlib" not in shown
    for name in shown:
        assert getattr(ag.defenses, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nobody'"):
        ag.defenses.Nobody  # noqa: B018


class Plugged(ag.defenses.Defense):
    """A defense from elsewhere."""

    name, summary, strength, ladder = "plugged", "changes nothing", "nothing", (0.0,) * 8

    def _fit(self, X, codes):
        pass

    def _release(self, X, strength, chance, truth):
        return X


def test_a_defense_from_a_module_of_your_own(small_twin):
    defense = ag.defenses.get(f"{__name__}:Plugged", scale=small_twin.scale).fit(small_twin.X, small_twin.y)
    assert (defense.release_for(small_twin.X, 1.0) != small_twin.X).nnz == 0
    with pytest.raises(ParameterError, match="must be a class derived from Defense"):
        ag.defenses.get("attriguard.attacks.logistic:Logistic")


def test_a_defense_from_an_installed_package(tmp_path, monkeypatch):
    info = tmp_path / "plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[attriguard.defenses]\nplugged = {__name__}:Plugged\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert ag.defenses.names()[-1] == "plugged"
    assert isinstance(ag.defenses.get("plugged"), Plugged)
