"""Draws follow M*, keyed draws are a function of key and user, and no two derived keys share anything."""

from __future__ import annotations

import hmac

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, chisquare

from attriguard._keys import check_key, derive_key, fresh_key
from attriguard.errors import ParameterError
from attriguard.mechanism.sampling import draw, draw_keyed

M = np.array([0.5, 0.3, 0.15, 0.05, 0.0])
KEY = b"a key of at least sixteen bytes"


@pytest.mark.parametrize("rng", [np.random.default_rng(1), None], ids=["seeded", "operating system"])
def test_draws_follow_the_mechanism(rng):
    choice = draw(np.tile(M, (40_000, 1)), rng)
    counts = np.bincount(choice, minlength=5)
    assert counts[4] == 0
    assert chisquare(counts[:4], M[:4] * choice.size).pvalue > (1e-6 if rng is None else 1e-3)


def test_keyed_draws_follow_the_mechanism_over_users_and_over_keys():
    over_users = draw_keyed(np.tile(M, (20_000, 1)), np.arange(20_000), KEY)
    over_keys = np.array([draw_keyed(M[None], np.array(["one user"]), b"key number %d" % k)[0] for k in range(6000)])
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
    assert draw_keyed(flat, many, KEY).tolist() == draw_keyed(flat, many.astype(str), KEY).tolist()


def test_a_keyed_draw_hardly_changes_when_the_mechanism_changes_a_little():
    users = np.arange(20_000)
    before = np.tile([0.20, 0.20, 0.20, 0.20, 0.20], (users.size, 1))
    after = np.tile([0.24, 0.19, 0.19, 0.19, 0.19], (users.size, 1))
    changed = draw_keyed(before, users, KEY) != draw_keyed(after, users, KEY)
    assert changed.mean() < 2 * 0.04 + 0.01  # at most twice the total variation between the two


def test_unseeded_draws_ask_the_operating_system(monkeypatch):
    """Every other number is 0, and the value whose number is 0 wins the race at once."""
    monkeypatch.setattr(
        "attriguard.mechanism.sampling.secrets.token_bytes", lambda n: (b"\xff" * 8 + b"\0" * 8) * (n // 16)
    )
    assert draw(np.full((50, 2), 0.5)).tolist() == [1] * 50


@pytest.mark.parametrize(
    "key",
    ["", "short", "fifteen bytes!!", " " * 16, " \t\n\r\v\f" * 4, "a" * 40, "abcde" * 8, "abcdefgh" * 2, "0" * 15 + "1",
     "0123456789" * 3, "abcdefghijklmno" * 2 + "abc", b"\0" * 32],
)  # fmt: skip
def test_a_key_that_can_be_guessed_is_refused(key):
    with pytest.raises(ParameterError, match="at least 16 bytes, 6 distinct characters besides blanks") as told:
        check_key(key)
    assert len(key) < 2 or str(key) not in str(told.value)
    with pytest.raises(ParameterError, match="can be guessed"):
        derive_key(key, "city", "draws")


@pytest.mark.parametrize(
    "key", ["a secret of at least 16 bytes", b"0123456789abcdef", "correct horse battery", "ein geheimer Schlüssel"]
)
def test_a_key_that_people_choose_is_taken(key):
    assert check_key(key) == (key.encode() if isinstance(key, str) else key)


def test_what_is_no_key_is_refused():
    with pytest.raises(ParameterError, match="bytes or text"):
        check_key(1234567890123456)


@given(st.one_of(st.binary(min_size=16, max_size=64), st.binary(min_size=6, max_size=20).map(lambda part: part * 3)))
def test_random_bytes_are_refused_only_for_what_the_rule_says(key):
    few = len(set(key) - set(b" \t\n\r\v\f")) < 6
    pieces = [n for n in range(1, 16) if 2 * n <= len(key) and (key[:n] * len(key))[: len(key)] == key]
    if few or pieces:
        with pytest.raises(ParameterError):
            check_key(key)
    else:
        assert check_key(key) == key


def test_fresh_keys_are_keys_and_never_the_same():
    keys = {fresh_key() for _ in range(100)}
    assert len(keys) == 100
    assert all(check_key(key) == key and len(key) == 32 for key in keys)


def test_the_derivation_is_hkdf():
    """RFC 5869 with the domain as salt, one block; any other answer means that releases cannot be repeated."""
    secret = hmac.new(b"attriguard key 2", KEY, "sha256").digest()
    assert derive_key(KEY, "city", "draws") == hmac.new(secret, b"draws\0city\1", "sha256").digest()
    assert (
        derive_key(b"0123456789abcdef", "city", "draws").hex()
        == "3041d4fbfc2464ec7a574be88eb32c773608b1e4e9502f6c31bb64ee0d2c32e0"
    )


def test_a_derived_key_depends_on_key_attribute_and_purpose():
    found = {
        derive_key(key, attribute, purpose)
        for key in (KEY, KEY + b"!")
        for attribute in ("", "city", "gender", "city × gender")
        for purpose in ("draws", "places", "guards", "check")
    }
    assert len(found) == 2 * 4 * 4
    assert derive_key(KEY, " Home_City", "draws") == derive_key(KEY.decode(), "home city", "draws")


def test_draws_for_two_attributes_under_one_key_are_independent():
    """Under the bare key they were the same draw."""
    users, flat = np.arange(20_000), np.full((20_000, 2), 0.5)
    city, gender = (draw_keyed(flat, users, derive_key(KEY, name, "draws")) for name in ("city", "gender"))
    table = np.histogram2d(city, gender, bins=2)[0]
    assert chi2_contingency(table).pvalue > 1e-3
    assert table.min() > 4700
