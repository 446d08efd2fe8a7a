"""Predictions that are damaged, another one's or impossible count as missing: they are made anew."""

from __future__ import annotations

import stat

import numpy as np
import pytest

import attriguard as ag
from attriguard.attacks import lineup
from attriguard.data.locks import used_alone
from attriguard.data.sealed import read_sealed, write_sealed
from attriguard.errors import BusyError
from attriguard.evaluation.cache import HEADER, NETWORKS, Cache, is_of
from attriguard.evaluation.engine import evaluate
from attriguard.evaluation.measure import Measure
from attriguard.operations.work import open_cache

HITS = {"hits": np.array([[0, 1], [1, 1]], dtype=np.uint8)}


def anything(found):
    return True


@pytest.mark.posix
def test_arrays_are_kept_by_name(tmp_path):
    cache = Cache(tmp_path)
    assert cache.load("0a", anything) is None
    assert cache.load(None, anything) is None
    cache.save("0a", HITS)
    np.testing.assert_array_equal(cache.load("0a", anything)["hits"], HITS["hits"])
    (file,) = (tmp_path / "predictions").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.rename(file.with_name("0b.safetensors"))
    assert cache.load("0b", anything) is None  # another one's


@pytest.mark.parametrize("seed", range(100))
def test_random_damage_counts_as_missing(tmp_path, seed):
    cache, chance = Cache(tmp_path), np.random.default_rng(seed)
    cache.save("0a", HITS)
    (file,) = (tmp_path / "predictions").iterdir()
    content = bytearray(file.read_bytes())
    where = int(chance.integers(len(content)))
    if seed % 3 == 0:
        content = content[:where]
    else:
        content[where] ^= 1 << int(chance.integers(8))
    file.write_bytes(content)
    assert cache.load("0a", anything) is None


def test_what_does_not_fit_counts_as_missing(tmp_path):
    cache = Cache(tmp_path)
    cache.save("0a", HITS)
    assert cache.load("0a", lambda found: is_of(found["hits"], (2, 2), np.uint8, 0, 1)) is not None
    for fits in (
        lambda found: is_of(found["hits"], (2, 3), np.uint8, 0, 1),
        lambda found: is_of(found["hits"], (2, 2), np.int64, 0, 1),
        lambda found: is_of(found["hits"], (2, 2), np.uint8, 0, 0),
        lambda found: is_of(found["norms"], (2,), np.float64, 0),
    ):
        assert cache.load("0a", fits) is None
    assert not is_of(np.array([0.5, np.nan]), (2,), np.float64, 0.0)


@pytest.mark.parametrize("sampled", [False, True])
def test_poisoned_predictions_do_not_get_into_figures(tmp_path, small_twin, sampled):
    """Files with a digest of their own, so that only what they hold speaks against them."""
    train, test = small_twin.split()
    (attack,) = lineup(["LR-A"], random_state=0)
    defense = ag.defenses.get("BlurMe") if sampled else ag.AttriGuard(random_state=0)
    protection = defense.fit(train.X, train.y) if sampled else defense.fit(train.X, train.y).plan(test.X)
    measure = Measure(0, 2, Cache(tmp_path))

    def curve():
        return evaluate(
            protection, [attack], test.y, [1.0], train=(train.X, train.y), X=test.X, measure=measure
        )[0]  # fmt: skip

    known = curve()
    for poison in ({"hits": 200}, {"norms": np.nan}, {"norms": -1.0}):
        for file in (tmp_path / "predictions").iterdir():
            found = read_sealed(HEADER, file)
            changed = {n: np.full_like(part, poison.get(n, part)) for n, part in found.tensors.items()}
            write_sealed(HEADER, found.header, changed, file)
        again = curve()
        assert (again.before, again.accuracy, again.expected_l2) == (known.before, known.accuracy, known.expected_l2)


def test_a_work_folder_is_for_one_run_at_a_time_and_the_users_cache_for_all(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTRIGUARD_CACHE", str(tmp_path / "cache"))
    with open_cache(tmp_path / "work") as cache:
        assert cache.keep_networks
        with pytest.raises(BusyError, match=r"another run is using .*work; wait"), open_cache(tmp_path / "work"):
            pass
        data = ag.load_dataset("twin", n_users=300, n_items=50, n_values=2)
        with pytest.raises(BusyError):
            ag.evaluate(data, attacks=["BA-A"], budgets=[1.0], work=tmp_path / "work")
    with open_cache(tmp_path / "work"), open_cache(None), open_cache(None):
        pass


def test_networks_that_another_run_is_training_are_not_removed(tmp_path):
    cache = Cache(tmp_path)
    mine, theirs = (tmp_path / NETWORKS / f"network-{k}.safetensors" for k in range(2))
    for file in (mine, theirs):
        file.touch()
    with used_alone(theirs):
        cache.clear_networks()
        assert not mine.exists()
        assert theirs.exists()
    cache.clear_networks()
    assert not list((tmp_path / NETWORKS).iterdir())
    mine.touch()
    Cache(tmp_path, keep_networks=True).clear_networks()
    assert mine.exists()
