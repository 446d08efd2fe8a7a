"""A checkpoint that is not what was written is refused in one line; so is a second training with the same file."""

from __future__ import annotations

import json
import stat

import numpy as np
import pytest
from scipy.sparse import csr_array

from attriguard._checks import check_rng
from attriguard.classifiers import training
from attriguard.classifiers.checkpoint import BEST, HEADER, State, read_checkpoint, write_checkpoint
from attriguard.classifiers.network import NetworkClassifier
from attriguard.classifiers.training import Run
from attriguard.classifiers.weights import first_weights
from attriguard.data.locks import used_alone
from attriguard.data.sealed import read_sealed, write_sealed
from attriguard.errors import BusyError, DataError, ParameterError

SHAPES = (30, 8, 3)


def weights(seed):
    return first_weights(np.random.default_rng(seed), *SHAPES)


@pytest.fixture
def file(tmp_path):
    chance = check_rng(5).bit_generator.state
    history = [(1.5, 0.4), (1.2, 0.6), (1.1, 0.5)]  # the second epoch is the best
    write_checkpoint(tmp_path / "training", "mark", State(weights(1), weights(2), chance, 7, history))
    return tmp_path / "training"


@pytest.mark.posix
def test_it_comes_back_and_is_its_owners_alone(file):
    state = read_checkpoint(file, "mark", SHAPES)
    for found, seed in ((state.weights, 1), (state.best, 2)):
        for name, part in weights(seed).parts.items():
            np.testing.assert_array_equal(found.parts[name], part)
            found.parts[name][...] = 0  # training changes them in place
    assert (state.seed, len(state.history)) == (7, 3)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert read_checkpoint(file.with_name("none"), "mark", SHAPES) is None
    with pytest.raises(ParameterError, match="other options or data"):
        read_checkpoint(file, "another mark", SHAPES)


@pytest.mark.parametrize("seed", range(200))
def test_random_damage_is_refused(file, seed):
    chance, content = np.random.default_rng(seed), bytearray(file.read_bytes())
    where = int(chance.integers(len(content)))
    match seed % 4:
        case 0:
            content = content[:where]
        case 1:
            content += bytes(1 + seed % 9)
        case _:
            content[where] ^= 1 << int(chance.integers(8))
    file.write_bytes(content)
    with pytest.raises(DataError, match="remove it to start again"):
        read_checkpoint(file, "mark", SHAPES)


def spoilt(array, value):
    array = array.copy()
    array.flat[3] = value
    return array


@pytest.mark.parametrize(
    "change",
    [
        {"W1": weights(1).W1[:5]},  # shortened: kernels would write behind its end
        {"W1": weights(1).W1[:, :5]},
        {"W1": weights(1).W1.T},
        {BEST + "W1": weights(1).W1[:5]},
        {"W1": spoilt(weights(1).W1, np.nan)},
        {"W2": spoilt(weights(1).W2, np.inf)},
        {"b1": weights(1).b1.astype(np.float64)},
        {"b2": weights(1).b2[:2]},
        {"W1": weights(1).W1[:5], BEST + "W1": weights(1).W1[:5]},
        {"seed": -1}, {"seed": 1.5}, {"seed": None}, {"seed": True},
        {"chance": {}}, {"chance": 5}, {"chance": {"bit_generator": "PCG64", "state": {"state": -1, "inc": 10**60}}},
        {"history": []}, {"history": [[1.0]]}, {"history": [[float("nan"), None]]}, {"history": [[1.0, 200.0]]},
        {"history": [[1.0, "x"]]}, {"history": 10**9}, {"history": [["1e400", None]]},
    ],
    ids=lambda change: " ".join(change),
)  # fmt: skip
def test_a_forged_checkpoint_is_refused_before_any_kernel_sees_it(file, change):
    """Written with a digest of its own, so that the digest is right."""
    found = read_sealed(HEADER, file)
    arrays = {name: part for name, part in change.items() if isinstance(part, np.ndarray)}
    header = found.header | {name: part for name, part in change.items() if name not in arrays}
    write_sealed(HEADER, header, found.tensors | arrays, file)
    with pytest.raises(DataError, match="remove it to start again"):
        read_checkpoint(file, "mark", SHAPES)


def test_deep_or_foreign_headers_are_refused(file):
    for header in (None, [], "x", {}, json.loads("[" * 45 + "]" * 45)):
        write_sealed(HEADER, header, weights(1).parts, file)
        with pytest.raises(DataError, match="remove it to start again"):
            read_checkpoint(file, "mark", SHAPES)


def test_two_trainings_cannot_use_one_checkpoint(small_twin, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    network, file = NetworkClassifier(hidden=8, epochs=1, random_state=0), tmp_path / "training"
    with used_alone(file), pytest.raises(BusyError, match="another run is using"):
        network.fit(small_twin.X, small_twin.y, checkpoint=file)
    real, seen = Run.epoch, []

    def epoch(self, *given):
        with pytest.raises(BusyError), used_alone(file):
            pass
        seen.append(1)
        return real(self, *given)

    monkeypatch.setattr(Run, "epoch", epoch)
    network.fit(small_twin.X, small_twin.y, checkpoint=file)
    assert seen
    assert [path.name for path in tmp_path.iterdir()] == ["training"]


def test_an_attack_does_without_a_checkpoint_that_another_run_is_using(small_twin, tmp_path):
    pytest.importorskip("torch")
    from attriguard.attacks import lineup

    (attack,) = lineup(["NN-A"], hidden=8, epochs=1, random_state=0)
    alone = attack.untrained().fit(small_twin.X, small_twin.y, work=tmp_path).predict(small_twin.X)
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    with used_alone(file):
        again = attack.untrained().fit(small_twin.X, small_twin.y, work=tmp_path).predict(small_twin.X)
    np.testing.assert_array_equal(again, alone)
    assert file.read_bytes() == content


@pytest.fixture
def learnt_from():
    rng = np.random.default_rng(0)
    return csr_array((rng.random((60, 30)) < 0.2).astype(np.float32)), rng.integers(0, 3, 60)


def numbers_written(monkeypatch):
    """The number of epochs in every checkpoint that is written from now on."""
    written = []

    def write(path, mark, state):
        written.append(len(state.history))
        write_checkpoint(path, mark, state)

    monkeypatch.setattr(training, "write_checkpoint", write)
    return written


def test_a_checkpoint_that_takes_long_is_written_seldom_and_at_the_end(tmp_path, learnt_from, monkeypatch):
    def fit(name):
        return NetworkClassifier(hidden=8, epochs=7, random_state=1).fit(*learnt_from, checkpoint=tmp_path / name)

    written = numbers_written(monkeypatch)
    quick = fit("quick")
    assert written == [1, 2, 3, 4, 5, 6, 7]
    written.clear()
    monkeypatch.setattr(training, "QUICK", 1e-9)
    monkeypatch.setattr(training, "SELDOM", np.inf)
    seldom = fit("seldom")
    assert written == [1, 7]  # until one was written, nobody knows how long it takes
    written.clear()
    again = fit("seldom")
    assert written == []
    for other in (seldom, again):
        np.testing.assert_array_equal(other.weights.W1, quick.weights.W1)


def test_an_epoch_that_failed_is_never_written(tmp_path, learnt_from, monkeypatch):
    written = numbers_written(monkeypatch)
    monkeypatch.setattr(training, "QUICK", 1e-9)
    monkeypatch.setattr(training, "SELDOM", np.inf)
    losses = iter([1.0, 0.9, np.inf])
    monkeypatch.setattr(Run, "epoch", lambda *given: next(losses))
    with pytest.warns(RuntimeWarning, match="epoch 3"):
        NetworkClassifier(hidden=8, epochs=7, random_state=1).fit(*learnt_from, checkpoint=tmp_path / "file")
    assert written == [1]
