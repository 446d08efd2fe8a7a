"""LDP-SH: the channel against the randomizer it stands for, its privacy, and the draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import chisquare

import attriguard as ag
from attriguard.defenses import ldp
from attriguard.errors import ParameterError


def simulated(epsilon, categories, n, chance):
    """Bit by bit: write the code word, flip bits, decode to the nearest code word."""
    words = ldp.code_words(categories).astype(int)
    share = epsilon / (words[0] != words[1]).sum()
    counts = np.zeros((categories, categories))
    for sent in range(categories):
        flips = chance.random((n, words.shape[1])) >= np.exp(share) / (np.exp(share) + 1)
        agreement = (words[sent] * np.where(flips, -1, 1)) @ words.T
        tie_break = chance.random(agreement.shape) * 0.5
        counts[sent] = np.bincount((agreement + tie_break).argmax(axis=1), minlength=categories)
    return counts


@pytest.mark.parametrize(("epsilon", "categories"), [(1.0, 6), (6.0, 6), (12.0, 6), (2.0, 2), (4.0, 11)])
def test_the_channel_is_the_randomizer(epsilon, categories):
    n = 40_000
    counts, rates = simulated(epsilon, categories, n, np.random.default_rng(1)), ldp.channel(epsilon, categories)
    np.testing.assert_allclose(rates.sum(axis=1), 1)
    np.testing.assert_allclose(counts / n, rates, atol=5 * np.sqrt(0.25 / n))
    for seen, expected in zip(counts, rates, strict=True):
        assert chisquare(seen, n * expected).pvalue > 1e-4


@given(epsilon=st.floats(0.01, 30), categories=st.sampled_from([2, 3, 6, 8, 11]))
@settings(max_examples=20)
def test_it_is_private(epsilon, categories):
    rates = ldp.channel(epsilon, categories)
    assert (rates.max(axis=0) <= np.exp(epsilon) * rates.min(axis=0) * (1 + 1e-9)).all()


def test_code_words_are_equally_far_apart():
    for categories in range(2, 17):
        words = ldp.code_words(categories).astype(int)
        apart = (words.shape[1] - words @ words.T) / 2
        assert (apart[~np.eye(categories, dtype=bool)] == (words.shape[1] + 1) / 2).all()


def test_two_categories_are_randomized_response():
    odds = np.exp(1.5)
    np.testing.assert_allclose(ldp.channel(1.5, 2), np.array([[odds, 1], [1, odds]]) / (1 + odds))


def test_little_epsilon_is_all_noise_and_much_is_none(small_twin):
    np.testing.assert_allclose(ldp.channel(1e-9, 6), 1 / 6, atol=0.03)
    assert (np.diag(ldp.channel(40.0, 6)) > 1 - 1e-6).all()
    defense = ag.defenses.get("LDP-SH", scale=small_twin.scale).fit(small_twin.X, small_twin.y)
    for epsilon in (100.0, 1e4):
        assert (defense.release_for(small_twin.X, epsilon, 0) != small_twin.X).nnz == 0


def test_draws_follow_the_channel_for_every_category():
    rows = np.tile(np.arange(6) / 5, (900, 20))
    X = csr_array(rows.astype(np.float32))
    defense = ag.defenses.get("LDP-SH", scale=(1, 5)).fit(X, np.arange(900) % 2)
    rates = ldp.channel(5.0, 6)
    got = np.rint(defense.release_for(X, 5.0, 0).toarray() * 5).astype(int)
    was = np.rint(rows * 5).astype(int)
    for category in range(6):
        seen = np.bincount(got[was == category], minlength=6)
        assert chisquare(seen, seen.sum() * rates[category]).pvalue > 1e-4
    # Where a free entry changes does not depend on the item.
    assert chisquare((got[:, ::6] > 0).sum(axis=0)).pvalue > 1e-4


def test_blocks_of_users_make_one_release(monkeypatch, small_twin):
    defense = ag.defenses.get("LDP-SH", scale=small_twin.scale).fit(small_twin.X, small_twin.y)
    monkeypatch.setattr(ldp, "BLOCK", 7 * small_twin.n_items)
    rate = 1 - ldp.channel(10.0, 6)[0, 0]
    changed = (defense.release_for(small_twin.X, 10.0, 0) != small_twin.X).nnz
    cells = small_twin.n_users * small_twin.n_items
    assert abs(changed - cells * rate) < 5 * np.sqrt(cells * rate)


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), "much"])
def test_epsilon_must_be_positive(epsilon, small_twin):
    defense = ag.defenses.get("LDP-SH", scale=small_twin.scale).fit(small_twin.X, small_twin.y)
    with pytest.raises(ParameterError, match="epsilon must"):
        defense.release_for(small_twin.X, epsilon)


@pytest.mark.parametrize("scale", [None, (1, 100)])
def test_it_needs_few_categories(scale, small_twin):
    with pytest.raises(ParameterError, match="rating scale of at most 15 levels"):
        ag.defenses.get("LDP-SH", scale=scale).fit(small_twin.X, small_twin.y)
