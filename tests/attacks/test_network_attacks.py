"""What is special about the attacks on networks: known answers and parity with the plain way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import attriguard as ag
from attriguard.attacks._factors import factorise, factors_of
from attriguard.classifiers.network import NetworkClassifier, Weights
from attriguard.errors import ParameterError

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def region(small_twin):
    train = small_twin.train
    options = {"hidden": 32, "epochs": 12, "n_points": 30, "radius": 0.3, "random_state": 0}
    return ag.attacks.get("RC-A", **options).fit(train.X, train.y)


def test_votes_are_those_of_the_points_themselves(region, small_twin):
    chance = np.random.Generator(np.random.PCG64DXSM(0))
    offsets = np.concatenate([2 * chance.random((k, 300), dtype=np.float32) - 1 for k in (20, 10)])
    rows = small_twin.test.X[:5]
    w = region.network_.weights
    expected = np.zeros((5, small_twin.m))
    for u, row in enumerate(rows.toarray()):
        points = row + 0.3 * offsets
        scores = np.maximum(points @ w.W1 + w.b1, 0) @ w.W2 + w.b2
        expected[u] = np.bincount(scores.argmax(axis=1), minlength=small_twin.m)
    votes = region.votes(rows, 0.3)
    assert (votes.sum(axis=1) == 30).all()
    assert np.abs(votes - expected).sum() <= 4  # float32 sums in another order may flip a point on a boundary


def test_the_radius_is_chosen_from_the_curve(region, small_twin):
    from attriguard.attacks.region import accuracy_over_radius, largest_radius

    test = small_twin.test
    curve = accuracy_over_radius(region, test.X, test.y, [0.0, 0.05, 50.0])
    plain = region.network_.decision_function(test.X).argmax(axis=1)
    assert curve[0] == pytest.approx((plain == test.y).mean())
    assert curve[2] < curve[0]
    assert largest_radius([0.0, 0.05, 5.0], [0.4, 0.395, 0.2]) == 0.05
    with pytest.raises(ParameterError, match="radius"):
        accuracy_over_radius(region, test.X, test.y, [-1.0])


def test_region_and_network_share_what_was_learnt(small_twin, tmp_path, monkeypatch):
    train = small_twin.train
    options = {"hidden": 16, "epochs": 2, "random_state": 0}
    one = ag.attacks.get("NN-A", **options).fit(train.X, train.y, work=tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    two = ag.attacks.get("RC-A", **options).fit(train.X, train.y, work=tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    np.testing.assert_array_equal(one.network_.weights.W1, two.network_.weights.W1)
    ag.attacks.get("NN-A", **(options | {"random_state": 1})).fit(train.X, train.y, work=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_factors_of_a_matrix_that_has_them():
    rng = np.random.default_rng(0)
    U, V = rng.random((60, 4)), rng.random((4, 30))
    U[U < 0.5] = 0
    X = csr_array((U @ V / 3).astype(np.float32))
    found = factorise(X, 4, iterations=400, chance=rng)
    rows = factors_of(X, found, iterations=400)
    assert (found >= 0).all()
    assert (rows >= 0).all()
    assert np.linalg.norm(rows @ found - X.toarray()) < 0.05 * np.linalg.norm(X.toarray())
    np.testing.assert_allclose(factors_of(X[7:9], found, iterations=400), rows[7:9], atol=1e-4)  # a row for itself


def test_learning_on_factors_is_learning_on_the_denoised_rows():
    """SGD on W1 with rows U V moves the outputs just as SGD on Q W1 with rows U L."""
    from attriguard.attacks._soft import _dense_step, one_hot

    rng = np.random.default_rng(0)
    U, V = rng.random((20, 3)).astype(np.float32), rng.random((3, 12)).astype(np.float32)
    Q, R = np.linalg.qr(V.T.astype(np.float64))
    parts = [rng.normal(size=shape).astype(np.float32) for shape in ((12, 8), (8,), (8, 4), (4,))]
    whole = Weights(*(part.copy() for part in parts))
    small = Weights(np.ascontiguousarray(Q.T @ parts[0], dtype=np.float32), *(part.copy() for part in parts[1:]))
    truth, dice = one_hot(rng.integers(0, 4, 20), 4), np.zeros((20, 8), dtype=np.uint16)
    rows, factors = U @ V, np.ascontiguousarray(U @ R.T, dtype=np.float32)

    def outputs(w, X):
        return np.maximum(X @ w.W1 + w.b1, 0) @ w.W2 + w.b2

    for _ in range(5):
        _dense_step(whole, rows, truth, dice, 0.1, 1.0, 1.0)
        _dense_step(small, factors, truth, dice, 0.1, 1.0, 1.0)
    np.testing.assert_allclose(outputs(whole, rows), outputs(small, factors), atol=1e-3)


def test_soft_training_follows_autograd_on_sparse_and_dense_rows():
    from attriguard.attacks._soft import DICE, _dense_step, _sparse_step

    rng = np.random.default_rng(1)
    X = (rng.random((6, 10)) * (rng.random((6, 10)) < 0.4)).astype(np.float32)
    parts = [rng.normal(size=shape).astype(np.float32) for shape in ((10, 7), (7,), (7, 3), (3,))]
    truth = rng.dirichlet(np.ones(3), size=6).astype(np.float32)
    dice = rng.integers(DICE, size=(6, 7), dtype=np.uint16)
    kept = torch.from_numpy(dice < round(0.6 * DICE))
    W1, b1, W2, b2 = (torch.tensor(part, requires_grad=True) for part in parts)
    active = torch.relu(torch.from_numpy(X) @ W1 + b1) * kept / 0.6
    loss = -3.0 * (torch.from_numpy(truth) * torch.log_softmax((active @ W2 + b2) / 3.0, dim=1)).sum() / 6
    loss.backward()
    expected = [(part - 0.1 * part.grad).detach().numpy() for part in (W1, b1, W2, b2)]
    for step, rows in ((_dense_step, X), (_sparse_step, csr_array(X))):
        w = Weights(*(part.copy() for part in parts))
        if step is _sparse_step:
            rows.indices = rows.indices.astype(np.int32)
        step(w, rows, truth, dice, 0.1, 0.6, 3.0)
        for part, other in zip(w.parts.values(), expected, strict=True):
            np.testing.assert_allclose(part, other, atol=1e-5)


def test_l0_pgd_moves_few_entries_to_a_bound_and_raises_the_loss(small_twin):
    from attriguard.attacks._soft import one_hot
    from attriguard.attacks.adversarial import l0_pgd

    train = small_twin.train
    network = NetworkClassifier(hidden=32, learning_rate=1.0, random_state=0).fit(train.X, train.y)
    truth = one_hot(train.y, small_twin.m)
    moved = l0_pgd(network.weights, train.X, truth, changes=3, rounds=2)
    difference = (moved - train.X).tocsr()
    difference.eliminate_zeros()
    counts = np.diff(difference.indptr)
    assert counts.max() == 3
    assert counts.min() >= 1
    assert set(np.unique(moved.toarray()[difference.toarray() != 0])) <= {0.0, 1.0}

    def right(X):
        return (network.decision_function(X).argmax(axis=1) == train.y).mean()

    assert right(moved) < right(train.X) - 0.3


def test_l0_pgd_training_runs(small_twin):
    train, test = small_twin.split()
    options = {"adversarial": "l0-pgd", "hidden": 32, "epochs": 4, "changes": 2, "random_state": 0}
    attack = ag.attacks.get("AT-A", **options).fit(train.X, train.y)
    assert (attack.predict(test.X) == test.y).mean() > 0.3


def test_the_small_network_takes_the_steps_of_torchs_adam(small_twin):
    """Without dropout, one epoch in one batch: the same weights as torch's Adam with the same start."""
    train = small_twin.train
    attack = ag.attacks.get("MLP-A", hidden=5, epochs=1, batch_size=10_000, dropout=0.0, weight_decay=1e-2,
                            random_state=0).fit(train.X, train.y)  # fmt: skip
    from attriguard._checks import check_rng
    from attriguard.classifiers.small import first_weights

    start = first_weights(check_rng(0), 300, 5, small_twin.m).parts.values()
    W1, b1, W2, b2 = (torch.tensor(part, requires_grad=True) for part in start)
    adam = torch.optim.Adam([W1, b1, W2, b2], lr=2e-3, weight_decay=1e-2)
    output = torch.relu(torch.from_numpy(train.X.toarray()) @ W1 + b1) @ W2 + b2
    torch.nn.functional.cross_entropy(output, torch.from_numpy(train.y.copy())).backward()
    adam.step()
    for mine, theirs in zip(attack._weights.parts.values(), (W1, b1, W2, b2), strict=True):
        np.testing.assert_allclose(mine, theirs.detach().numpy(), atol=1e-5)
