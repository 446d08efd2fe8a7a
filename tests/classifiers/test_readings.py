"""C_i read as an output or as a probability: the same value is inferred, and Algorithm 1 takes another way to it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from attriguard.classifiers.base import infer
from attriguard.classifiers.engines import PlainEngine
from attriguard.classifiers.linear import LinearClassifier
from attriguard.classifiers.network import NetworkClassifier
from attriguard.classifiers.readings import OUTPUTS, PROBABILITY, Reading, read_as
from attriguard.errors import ParameterError
from attriguard.noise import JSMA, Panda, make_constraints
from attriguard.noise.policy import POLICIES

ITEMS, M = 24, 4


class Slow(Reading):
    """The same reading, without the fast ways that its class knows: every gradient is computed anew."""

    def __init__(self, reading):
        self.inner = reading

    classifier = property(lambda self: self)
    is_linear = False
    m, n_items = M, ITEMS

    def decision_function(self, X):
        return self.inner.decision_function(X)

    def outputs(self):
        return self.inner.outputs()

    def pair_engine(self):
        return PlainEngine(self.outputs())


def linear(seed):
    rng = np.random.default_rng(seed)
    return LinearClassifier(rng.normal(size=(M, ITEMS)) + rng.normal(size=ITEMS), rng.normal(size=M))


def network(seed):
    rng = np.random.default_rng(seed)
    shapes = (ITEMS, 30), (30,), (30, M), (M,)
    return NetworkClassifier.from_weights(*(rng.normal(size=shape) for shape in shapes))


def users(seed, n=8):
    rng = np.random.default_rng(seed)
    return csr_array((rng.integers(1, 6, size=(n, ITEMS)) / 5 * (rng.random((n, ITEMS)) < 0.3)).astype(np.float32))


@pytest.mark.parametrize("make", [linear, network])
@pytest.mark.parametrize("reading", [OUTPUTS, PROBABILITY])
@pytest.mark.parametrize("policy", ["modify_add", "modify_exist"])
@pytest.mark.parametrize("seed", range(4))
def test_the_fast_ways_find_what_the_plain_one_finds(make, reading, policy, seed):
    classifier, X = make(seed), users(seed)
    rules = make_constraints(POLICIES[policy], ITEMS, maxiter=60)
    read = read_as(classifier, reading)
    fast = Panda().find(read, X, rules)
    slow = Panda().find(Slow(Reading(classifier, softmax=reading == PROBABILITY)), X, rules)
    assert fast.success.tolist() == slow.success.tolist()
    assert fast.success.mean() > 0.5
    for u in range(X.shape[0]):
        for i in range(M):
            for found, expected in zip(fast.of(u, i), slow.of(u, i), strict=True):
                assert found.tolist() == expected.tolist()
    for i in range(M):
        released = fast.apply(X, np.full(X.shape[0], i))
        assert (infer(classifier, released)[fast.success[:, i]] == i).all()


def test_a_step_on_the_probability_is_the_one_that_raises_it_most():
    # One step of 1 from an empty row: brute force over all entries, since the first step's gradient is exact there.
    classifier, x = linear(7), csr_array((1, ITEMS), dtype=np.float32)
    rules = make_constraints(POLICIES["modify_add"], ITEMS, maxiter=0)
    p = np.exp(classifier.intercept_) / np.exp(classifier.intercept_).sum()
    slope = classifier.coef_ - p @ classifier.coef_  # of log p_i, for every i
    found = Panda().find(read_as(classifier, PROBABILITY), x, rules)
    for i in range(M):
        items, _ = found.of(0, i)
        if found.success[0, i] and items.size:
            assert items.tolist() == [int(np.argmax(slope[i]))]
    assert found.success.sum() > 1


def test_a_reading_changes_noise_and_not_what_is_inferred():
    classifier, X = linear(2), users(2, n=40)
    rules = make_constraints(POLICIES["modify_add"], ITEMS)
    read = read_as(classifier, PROBABILITY)
    assert (infer(read, X) == infer(classifier, X)).all()
    one, other = Panda().find(classifier, X, rules), Panda().find(read, X, rules)
    assert (one.cost != other.cost).any()
    assert read.n_items == ITEMS


def test_a_classifier_that_reads_as_asked_is_left_alone():
    plain, net = linear(1), network(1)
    assert read_as(plain, OUTPUTS) is plain
    assert read_as(net, PROBABILITY) is net
    assert isinstance(read_as(net, OUTPUTS), Reading)
    with pytest.raises(ParameterError, match="reading"):
        read_as(plain, "logit")


def test_jsma_reads_what_the_classifier_reads():
    # Behind a softmax all derivatives sum to 0, so the map is that of the probability.
    classifier, X = linear(5), users(5)
    rules = make_constraints(POLICIES["modify_add"], ITEMS)
    read = JSMA().find(read_as(classifier, PROBABILITY), X, rules)
    asked = JSMA(of="probabilities").find(classifier, X, rules)
    assert read.cost.tolist() == asked.cost.tolist()
