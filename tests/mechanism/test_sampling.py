"""Draws follow M*, keyed draws are a function of key and user, and neither touches global state."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from attriguard.errors import ParameterError
from attriguard.mechanism.sampling import draw, draw_keyed

M = np.array([0.5, 0.3, 0.15, 0.05, 0.0])
KEY = b"a key of at least eight bytes"


def test_draws_follow_the_mechanism():
    choice = draw(np.tile(M, (40_000, 1)), np.random.default_rng(1))
    counts = np.bincount(choice, minlength=5)
    assert counts[4] == 0
    assert chisquare(counts[:4], M[:4] * choice.size).pvalue > 1e-3


def test_keyed_draws_follow_the_mechanism_over_users_and_over_keys():
    over_users = draw_keyed(np.tile(M, (20_000, 1)), np.arange(20_000), KEY)
    over_keys = np.array([draw_keyed(M[None], np.array(["one user"]), f"key number {k}")[0] for k in range(6000)])
    for choice in (over_users, over_keys):
        counts = np.bincount(choice, minlength=5)
        assert counts[4] == 0
        assert chisquare(counts[:4], M[:4] * choice.size).pvalue > 1e-3


def test_a_keyed_draw_depends_on_key_and_user_alone():
    users = np.array(["ann", "bob", "cyd", "dan"] * 10)
    rows = np.tile([0.25, 0.25, 0.25, 0.25], (40, 1))
    choice = draw_keyed(rows, users, KEY)
    assert choice[:4].tolist() == choice[4:8].tolist()
    shuffled = np.random.default_rng(0).permutation(40)
    assert draw_keyed(rows, users[shuffled], KEY).tolist() == choice[shuffled].tolist()
    many = np.arange(500)
    flat = np.full((500, 4), 0.25)
    assert (draw_keyed(flat, many, KEY) != draw_keyed(flat, many, KEY + b"!")).mean() > 0.6
    assert draw_keyed(flat, many, "text key").tolist() == draw_keyed(flat, many, b"text key").tolist()
    assert draw_keyed(flat, many, KEY).tolist() == draw_keyed(flat, many.astype(str), KEY).tolist()


def test_a_keyed_draw_hardly_changes_when_the_mechanism_changes_a_little():
    users = np.arange(20_000)
    before = np.tile([0.20, 0.20, 0.20, 0.20, 0.20], (users.size, 1))
    after = np.tile([0.24, 0.19, 0.19, 0.19, 0.19], (users.size, 1))
    changed = draw_keyed(before, users, KEY) != draw_keyed(after, users, KEY)
    assert changed.mean() < 2 * 0.04 + 0.01  # at most twice the total variation between the two


def test_a_key_that_can_be_guessed_is_refused():
    with pytest.raises(ParameterError, match="at least 8 bytes"):
        draw_keyed(M[None], np.array([1]), "short")
    with pytest.raises(ParameterError, match="bytes or text"):
        draw_keyed(M[None], np.array([1]), 12345678)
