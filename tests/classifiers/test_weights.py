"""The one softmax, and the one way to start a network's weights."""

from __future__ import annotations

import numpy as np
import pytest

from attriguard.classifiers.maths import log_softmax, softmax
from attriguard.classifiers.weights import first_weights


@pytest.mark.parametrize("wide", [None, 400])
def test_first_weights_are_uniform_within_one_over_root_inputs(wide):
    n_items, hidden, m = 50, 20, 3
    parts = list(first_weights(np.random.default_rng(4), n_items, hidden, m, inputs=wide).parts.values())
    near = wide or n_items
    shapes = (((n_items, hidden), near), ((hidden,), near), ((hidden, m), hidden), ((m,), hidden))
    # (2r - 1)·s and (r - 1/2)·2s are the same float32, bit for bit.
    chance = np.random.default_rng(4)
    for part, (shape, inputs) in zip(parts, shapes, strict=True):
        bound = inputs**-0.5
        expected = ((2 * chance.random(shape, dtype=np.float32) - 1) * bound).astype(np.float32)
        assert part.dtype == np.float32
        assert (part == expected).all()
        assert abs(part).max() <= np.float32(bound)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_softmax_and_its_logarithm_stay_finite(dtype):
    scores = np.array([[0.0, np.log(3.0), -5000.0], [1e4, 1e4, 1e4]], dtype=dtype)
    np.testing.assert_allclose(softmax(scores), [[0.25, 0.75, 0.0], [1 / 3] * 3], rtol=1e-6)
    assert softmax(scores).dtype == log_softmax(scores).dtype == dtype
    np.testing.assert_allclose(log_softmax(scores)[0], [np.log(0.25), np.log(0.75), -5000 + np.log(0.25)], rtol=1e-6)


@pytest.mark.parametrize("wide", [None, 400])
def test_glorot_weights_are_bounded_by_inputs_and_outputs_and_begin_without_biases(wide):
    n_items, hidden, m = 50, 20, 3
    w = first_weights(np.random.default_rng(4), n_items, hidden, m, initial="glorot", inputs=wide)
    for part, bound in ((w.W1, (6 / ((wide or n_items) + hidden)) ** 0.5), (w.W2, (6 / (hidden + m)) ** 0.5)):
        assert abs(part).max() <= np.float32(bound)
        assert abs(part).max() > 0.9 * bound
    assert not w.b1.any()
    assert not w.b2.any()
