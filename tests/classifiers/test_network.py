"""The network: its gradient is right, training learns, repeats, resumes, and says what is wrong."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from sklearn.base import clone

from attriguard.classifiers import memory, training
from attriguard.classifiers.network import NetworkClassifier
from attriguard.data.sealed import write_sealed
from attriguard.errors import DataError, MissingExtraError, NotFittedError, ParameterError


def small(**options):
    return NetworkClassifier(**{"hidden": 60, "epochs": 3, "random_state": 0, **options})


def same_weights(one, two):
    return all((a == b).all() for a, b in zip(one.weights.parts.values(), two.weights.parts.values(), strict=True))


def torch_twin(weights):
    first, second = torch.nn.Linear(*weights.W1.shape), torch.nn.Linear(*weights.W2.shape)
    for layer, weight, bias in ((first, weights.W1, weights.b1), (second, weights.W2, weights.b2)):
        layer.weight.data, layer.bias.data = torch.from_numpy(weight.T.copy()), torch.from_numpy(bias.copy())
    return torch.nn.Sequential(first, torch.nn.ReLU(), second)


def test_decision_functions_and_gradients_equal_torchs(small_twin):
    rng = np.random.default_rng(0)
    X = small_twin.X[:7]
    network = NetworkClassifier.from_weights(
        rng.normal(size=(X.shape[1], 33)), rng.normal(size=33), rng.normal(size=(33, 4)), rng.normal(size=4)
    )
    module, x = torch_twin(network.weights), torch.from_numpy(X.toarray()).double().requires_grad_()
    output = torch.log_softmax(module(x), dim=1)
    np.testing.assert_allclose(network.decision_function(X), output.detach().numpy(), atol=1e-10)
    np.testing.assert_allclose(network.predict_proba(X), torch.softmax(output, 1).detach().numpy(), atol=1e-12)
    outputs = network.outputs()
    point = outputs.at(X.toarray())
    for i in range(4):
        gradient = point.slope(outputs.towards(point.scores, np.full(7, i)))
        expected = torch.autograd.grad(output[:, i].sum(), x, retain_graph=True)[0].numpy()
        np.testing.assert_allclose(gradient, expected, atol=1e-10)


def test_a_step_of_training_is_torchs_step_of_sgd(small_twin):
    X, codes, rate = small_twin.X[:40], torch.from_numpy(np.array(small_twin.y[:40])), 0.3
    options = small(dropout=0.0, batch_size=40, hidden=2500)  # more than one tile of units
    state = training.first_state(options, X.shape[1], 4)
    module = torch_twin(state.weights)
    loss = torch.nn.functional.cross_entropy(module(torch.from_numpy(X.toarray())), codes)
    loss.backward()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter -= rate * parameter.grad
    run = training.Run.of(state, options)
    assert run.step(X, codes, rate) == pytest.approx(40 * loss.item(), rel=1e-5)
    for mine, theirs in (
        (run.weights.W1.T, module[0].weight),
        (run.weights.b1, module[0].bias),
        (run.weights.W2.T, module[2].weight),
        (run.weights.b2, module[2].bias),
    ):
        np.testing.assert_allclose(mine, theirs.detach().numpy(), atol=2e-6)


def test_dropout_leaves_out_the_share_asked_for():
    options = small(dropout=0.75, hidden=4000, batch_size=10)
    run = training.Run.of(training.first_state(options, 20, 3), options)
    run.weights.b1[:] = 1.0  # every unit is on
    X, seen = csr_array((10, 20), dtype=np.float32), []
    kernel = training.batch_update

    def spy(*given):
        seen.append(np.array(given[3]))
        return kernel(*given)

    training.batch_update, before = spy, run.weights.W2.copy()
    try:
        run.step(X, torch.zeros(10, dtype=torch.int64), 0.1)
    finally:
        training.batch_update = kernel
    assert (seen[0] > 0).mean() == pytest.approx(0.25, abs=0.01)
    assert set(np.unique(seen[0])) == {0.0, 4.0}  # what is left stands for what is missing
    assert (before != run.weights.W2).mean() > 0.9


def test_it_learns_and_the_same_seed_gives_the_same_weights(small_twin, monkeypatch):
    train, test = small_twin.split()
    network = small(hidden=300, epochs=12).fit(train.X, train.y)
    assert (network.decision_function(test.X).argmax(axis=1) == test.y).mean() > 0.55
    losses = [loss for loss, _ in network.history_]
    assert losses[-1] < losses[0] - 0.2
    assert same_weights(network, small(hidden=300, epochs=12).fit(train.X, train.y))
    assert not same_weights(network, small(hidden=300, epochs=12, random_state=1).fit(train.X, train.y))
    assert not same_weights(
        small(random_state=None).fit(train.X, train.y), small(random_state=None).fit(train.X, train.y)
    )


def test_early_stopping_keeps_the_best_epoch(small_twin):
    train, _ = small_twin.split()
    network = small(hidden=200, epochs=40, validation=0.2, patience=2, learning_rate=0.6).fit(train.X, train.y)
    accuracies = [accuracy for _, accuracy in network.history_]
    assert len(accuracies) < 40
    assert len(accuracies) - 1 - int(np.argmax(accuracies)) == 2
    _, held = training.split(train.n_users, 0.2, int(seed_of(0)))
    found = (network.decision_function(train.X[held]).argmax(axis=1) == train.y[held]).mean()
    assert found == pytest.approx(max(accuracies))


def seed_of(random_state):
    return training.first_state(small(random_state=random_state), 2, 2).seed


@pytest.mark.parametrize("validation", [0.0, 0.2])
def test_an_interrupted_training_goes_on_as_if_nothing_had_happened(small_twin, tmp_path, validation):
    train, _ = small_twin.split()
    whole = small(epochs=4, validation=validation).fit(train.X, train.y)

    def interrupt(what, share):
        if share > 0.6:  # in the third epoch of four
            raise KeyboardInterrupt

    file = tmp_path / "training"
    with pytest.raises(KeyboardInterrupt):
        small(epochs=4, validation=validation).fit(train.X, train.y, checkpoint=file, progress=interrupt)
    assert [path.name for path in tmp_path.iterdir()] == ["training"]
    seen = []
    resumed = small(epochs=4, validation=validation).fit(
        train.X, train.y, checkpoint=file, progress=lambda what, share: seen.append((what, share))
    )
    assert same_weights(whole, resumed)
    assert resumed.history_ == whole.history_
    assert "epoch 3" in seen[0][0]
    assert seen[0][1] > 0.5
    assert seen[-1] == ("training, epoch 4", 1.0)
    again = small(epochs=4, validation=validation).fit(train.X, train.y, checkpoint=file)
    assert same_weights(whole, again)


def test_a_checkpoint_of_something_else_is_refused(small_twin, tmp_path):
    train, _ = small_twin.split()
    file = tmp_path / "training"
    small().fit(train.X, train.y, checkpoint=file)
    for network, X in ((small(hidden=61), train.X), (small(random_state=5), train.X), (small(), train.X * 0.5)):
        with pytest.raises(ParameterError, match="other options or data"):
            network.fit(X, train.y, checkpoint=file)
    file.write_bytes(file.read_bytes()[:5000])
    with pytest.raises(DataError, match="damaged"):
        small().fit(train.X, train.y, checkpoint=file)
    write_sealed("x", "y", {"W1": np.zeros((2, 2))}, file)
    with pytest.raises(DataError, match="not a checkpoint"):
        small().fit(train.X, train.y, checkpoint=file)
    with pytest.raises(DataError, match="folder"):
        small().fit(train.X, train.y, checkpoint=tmp_path)
    with pytest.raises(DataError, match="cannot be written"):
        small().fit(train.X, train.y, checkpoint=tmp_path / "none" / "training")


def test_a_loss_that_is_not_finite_stops_training_and_keeps_the_last_good_epoch(small_twin, monkeypatch):
    train, _ = small_twin.split()
    good = small(epochs=5)
    monkeypatch.setattr(training.Run, "epoch", nan_in_epoch(3))
    with pytest.warns(RuntimeWarning, match="epoch 3: training stopped, the last good epoch is kept"):
        good.fit(train.X, train.y)
    assert len(good.history_) == 2
    assert np.isfinite(good.decision_function(train.X)).all()
    monkeypatch.undo()
    with pytest.raises(ParameterError, match="first epoch; try a learning_rate below 1e\\+30"):
        small(learning_rate=1e30).fit(train.X, train.y)


def nan_in_epoch(number):
    original, calls = training.Run.epoch, []

    def epoch(self, *given):
        calls.append(1)
        loss = original(self, *given)
        if len(calls) == number:
            self.weights.W1[:] = np.nan
            return float("nan")
        return loss

    return epoch


def test_a_network_that_does_not_fit_is_refused_before_anything_is_made(small_twin, monkeypatch):
    with pytest.raises(ParameterError, match=r"10,000,000,000 hidden units on 300 items needs [\d,.]+ GB of memory"):
        small(hidden=10_000_000_000).fit(small_twin.X, small_twin.y)
    assert memory.available_bytes() > 2**20
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    memory.check_fits(2**60, what="this")  # a system that does not tell is trusted


def test_without_torch_the_extra_is_named(small_twin, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'attriguard\[nn\]'"):
        small().fit(small_twin.X, small_twin.y)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("hidden", 0),
        ("hidden", 2.5),
        ("epochs", 0),
        ("batch_size", True),
        ("patience", -1),
        ("learning_rate", 0),
        ("learning_rate", "fast"),
        ("dropout", 1.0),
        ("dropout", -0.1),
        ("validation", 1.0),
        ("random_state", "x"),
    ],
)
def test_bad_options_are_named(small_twin, option, value):
    with pytest.raises(ParameterError, match=option):
        small(**{option: value}).fit(small_twin.X, small_twin.y)


def test_use_before_training_and_odd_weights_are_refused(small_twin):
    with pytest.raises(NotFittedError, match="not been trained"):
        small().decision_function(small_twin.X)
    with pytest.raises(ParameterError, match="a network has weights"):
        NetworkClassifier.from_weights(np.ones((3, 2)), np.ones(2), np.ones((4, 2)), np.ones(2))
    with pytest.raises(DataError, match="not finite"):
        NetworkClassifier.from_weights(np.ones((3, 2)), np.ones(2), np.full((2, 2), np.nan), np.ones(2))
    with pytest.raises(DataError, match="not finite"):
        NetworkClassifier.from_weights(
            np.array([[np.inf, 1.0], [-np.inf, 0.0]]), np.ones(2), np.ones((2, 2)), np.ones(2)
        )


def test_it_is_an_estimator_of_options():
    network = small(dropout=0.5)
    assert clone(network).get_params() == network.get_params()


def test_importing_it_does_not_load_torch():
    import subprocess

    code = (
        "import sys, attriguard.classifiers.network, attriguard.guard, attriguard.noise.greedy, attriguard.storage;"
        "sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
