"""CW's L0 attack: the entries it ends with, rounding, confidence, and all kinds of classifiers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from attriguard.classifiers.hidden_layer import NetworkOutputs
from attriguard.classifiers.linear import LinearClassifier
from attriguard.classifiers.module import ModuleClassifier
from attriguard.classifiers.network import NetworkClassifier
from attriguard.errors import ParameterError
from attriguard.noise.carlini_wagner import CarliniWagner
from attriguard.noise.constraints import make_constraints
from attriguard.noise.exact import Exact
from attriguard.noise.greedy import Panda
from attriguard.noise.policy import POLICIES


def find(W, x, *, b=None, confidence=0.0, search=None, locked=None, **options):
    W = np.asarray(W, dtype=float)
    X = csr_array(np.atleast_2d(np.asarray(x, dtype=np.float32)))
    classifier = LinearClassifier(W, np.zeros(len(W)) if b is None else b)
    constraints = make_constraints(POLICIES["modify_add"], X.shape[1], **options)
    return (search or CarliniWagner(lead=0.01)).find(classifier, X, constraints, confidence=confidence, locked=locked)


def edits_of(edits, value, user=0):
    items, values = edits.of(user, value)
    return dict(zip(items.tolist(), values.tolist(), strict=True))


def test_it_ends_with_the_one_entry_that_does():
    edits = find([[1, 0, 0, 0], [0, 3, 1, 0.5]], [1, 0, 0, 0])
    assert list(edits_of(edits, 1)) == [1]
    # As little as it needs: 3·x ≥ 1.01, not all the way to 1.
    assert edits_of(edits, 1)[1] == pytest.approx(0.34, abs=0.04)
    assert edits_of(edits, 0) == {}


def test_rounding_comes_after_and_may_undo_it():
    W, x = [[1, 0], [0, 1]], [0.5, 0]
    small = CarliniWagner(lead=0.01, searches=8, steps=200)
    by_itself = find(W, x, search=small, locked=csr_array(np.array([[1, 0]], dtype=np.float32)))
    assert edits_of(by_itself, 1)[1] == pytest.approx(0.52, abs=0.02)
    on_grid = find(W, x, search=small, levels=3, locked=csr_array(np.array([[1, 0]], dtype=np.float32)))
    assert edits_of(on_grid, 1) == pytest.approx({1: 2 / 3})
    undone = find(W, [0.6, 0], search=small, levels=4, locked=csr_array(np.array([[1, 0]], dtype=np.float32)))
    assert (undone.success[0, 1], undone.cost[0, 1]) == (False, 0)  # 0.61 becomes 0.5


def test_confidence_asks_for_a_lead_and_locked_entries_stay():
    W, x = [[1, 0, 0, 0], [0, 2, 2, 2]], [1, 0, 0, 0]
    locked = csr_array(np.array([[1, 0, 0, 0]], dtype=np.float32))
    sizes = [find(W, x, confidence=kappa, locked=locked).cost[0, 1] for kappa in (0.0, 2.0, 4.0)]
    assert sizes == [1, 2, 3]
    assert not find(W, x, confidence=6.0, locked=locked).success[0, 1]
    everything = csr_array(np.ones((1, 4), dtype=np.float32))
    assert find(W, x, locked=everything).success[0].tolist() == [True, False]


def test_it_lowers_entries_too():
    edits = find([[4, 0], [0, 0.5]], [0.8, 0], b=[0, 0.5])
    assert edits_of(edits, 1)[0] < 0.2


def small_case(seed=0, n_users=6, n_items=40, m=3):
    rng = np.random.default_rng(seed)
    W, b = rng.normal(size=(m, n_items)), rng.normal(size=m)
    x = rng.integers(1, 6, size=(n_users, n_items)) / 5 * (rng.random((n_users, n_items)) < 0.2)
    return W, b, csr_array(x.astype(np.float32))


def test_it_comes_close_to_the_smallest_noise_there_is():
    W, b, X = small_case()
    classifier, constraints = LinearClassifier(W, b), make_constraints(POLICIES["modify_add"], X.shape[1])
    cw, exact = CarliniWagner(lead=0.01).find(classifier, X, constraints), Exact().find(classifier, X, constraints)
    assert cw.success.all()
    assert (cw.cost >= exact.bound).all()
    assert cw.cost.mean() <= 1.1 * exact.cost.mean()


def test_a_larger_lead_survives_rounding():
    W, b, X = small_case(1, n_users=20)
    classifier, constraints = LinearClassifier(W, b), make_constraints(POLICIES["modify_add"], X.shape[1], levels=5)
    success = [CarliniWagner(lead=lead).find(classifier, X, constraints).success.mean() for lead in (0.01, 0.5)]
    assert success[0] < 0.9 < success[1]


def test_networks_and_modules():
    rng = np.random.default_rng(2)
    W1, b1, W2, b2 = rng.normal(size=(30, 12)), rng.normal(size=12), rng.normal(size=(12, 3)), rng.normal(size=3)
    _, _, X = small_case(3, n_items=30)
    network = NetworkClassifier.from_weights(W1, b1, W2, b2)
    constraints = make_constraints(POLICIES["modify_add"], 30, levels=5)
    edits, panda = CarliniWagner().find(network, X, constraints), Panda().find(network, X, constraints)
    assert edits.success.mean() > 0.9
    both = edits.success & panda.success
    assert edits.cost[both].mean() <= panda.cost[both].mean() + 1
    layers = torch.nn.Linear(30, 12), torch.nn.Linear(12, 3)
    for layer, weight, bias in zip(layers, (W1, W2), (b1, b2), strict=True):
        layer.weight.data, layer.bias.data = torch.from_numpy(weight.T.copy()), torch.from_numpy(bias.copy())
    module = ModuleClassifier(torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1]), 3, 30)
    again = CarliniWagner().find(module, X, constraints)
    assert (again.success == edits.success).mean() > 0.9
    assert again.cost.mean() == pytest.approx(edits.cost.mean(), abs=0.2)


@pytest.mark.parametrize("kind", ["linear", "network"])
def test_pairs_done_together_do_not_disturb_each_other(kind):
    rng = np.random.default_rng(4)
    W, b, X = small_case(5)
    if kind == "linear":
        classifier = LinearClassifier(W, b)
    else:
        W1, b1, W2 = rng.normal(size=(40, 16)), rng.normal(size=16), rng.normal(size=(16, 3))
        classifier = NetworkClassifier.from_weights(W1, b1, W2, np.zeros(3))
    constraints = make_constraints(POLICIES["modify_add"], 40, levels=5)
    together = CarliniWagner().find(classifier, X, constraints)
    alone = [CarliniWagner().find(classifier, X[[u]], constraints) for u in range(X.shape[0])]
    assert together.success.mean() > 0.8
    for u, edits in enumerate(alone):
        assert np.array_equal(edits.success[0], together.success[u])
        for value in range(3):
            assert edits_of(edits, value) == pytest.approx(edits_of(together, value, u))


def test_a_network_takes_all_values_of_a_step_together(monkeypatch):
    rng = np.random.default_rng(6)
    _, _, X = small_case(3, n_users=2, n_items=30)
    rows = []
    point = NetworkOutputs._point
    monkeypatch.setattr(NetworkOutputs, "_point", lambda *given: rows.append(len(given[1])) or point(*given))
    for m in (3, 12):
        weights = rng.normal(size=(30, 12)), rng.normal(size=12), rng.normal(size=(12, m)), rng.normal(size=m)
        rows.clear()
        CarliniWagner(steps=5).find(
            NetworkClassifier.from_weights(*weights), X, make_constraints(POLICIES["modify_add"], 30)
        )
        assert rows[1] == 2 * (m - 1)  # all but the two that are inferred already


@pytest.mark.parametrize(
    "options",
    [{"steps": 0}, {"searches": 1.5}, {"learning_rate": 0}, {"initial_constant": -1}, {"largest_constant": 0.1},
     {"lead": -0.1}, {"shrink": 2}, {"steps": True}],
)  # fmt: skip
def test_bad_options_are_refused(options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        CarliniWagner(**options)
