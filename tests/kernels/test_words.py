"""Secret words of ids: SHAKE-256 of the prefix and the id as text, however many ids there are, and of any kind."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from attriguard.kernels.words import FEW, keyed_words

MANY = np.arange(FEW + 100)
IDS = {
    "numbers": MANY * 10**15 - 10**18,
    "numbers without a sign": MANY.astype(np.uint64) + np.uint64(2**64 - MANY.size),
    "small numbers": (MANY % 128).astype(np.int8),
    "text": np.array([f"usér {k}" * (k % 40) for k in MANY], dtype=object),
    "NumPy's text": MANY.astype(str),
    "fractions": MANY / 3,
}


@pytest.mark.parametrize("kind", IDS)
@pytest.mark.parametrize("count", [1, 25])
def test_words_are_those_of_hashlib(kind, count):
    ids, prefix = IDS[kind], b"attriguard" + bytes(range(60))
    hashes = [hashlib.shake_256(prefix + str(each).encode()).digest(8 * count) for each in ids.tolist()]
    expected = np.frombuffer(b"".join(hashes), dtype="<u8").reshape(-1, count)
    assert np.array_equal(keyed_words(prefix, ids, count), expected)
    assert np.array_equal(keyed_words(prefix, ids[:50], count), expected[:50])


def test_no_ids_have_no_words():
    assert keyed_words(b"prefix", MANY[:0], 3).shape == (0, 3)


def test_a_part_of_an_array_is_hashed_as_that_part():
    assert np.array_equal(keyed_words(b"prefix", MANY[40:], 2), keyed_words(b"prefix", MANY, 2)[40:])
