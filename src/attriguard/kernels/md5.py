"""MD5 of many short texts behind one secret prefix, compiled: half of the bytes that `hashlib.md5` gives.

It is the hash that DuckDB and Spark have as well, so that each of them finds the bucket of a user by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.core import types as nb

from attriguard.kernels.types import const, out

BLOCK = 64
# RFC 1321: how far each of the 64 steps turns its sum, and what it adds to it.
TURNS = np.array([7, 12, 17, 22] * 4 + [5, 9, 14, 20] * 4 + [4, 11, 16, 23] * 4 + [6, 10, 15, 21] * 4, dtype=np.uint32)
SINES = np.floor(np.abs(np.sin(np.arange(1, 65, dtype=np.float64))) * 2.0**32).astype(np.uint32)


@njit(cache=True, nogil=True)
def _mix(block: Any, first: int, state: Any) -> None:
    """One block of 64 bytes into the state of four words."""
    a, b, c, d = state[0], state[1], state[2], state[3]
    for k in range(64):
        if k < 16:
            f, g = (b & c) | (~b & d), k
        elif k < 32:
            f, g = (d & b) | (~d & c), (5 * k + 1) % 16
        elif k < 48:
            f, g = b ^ c ^ d, (3 * k + 5) % 16
        else:
            f, g = c ^ (b | ~d), (7 * k) % 16
        at = first + 4 * g
        word = np.uint32(block[at]) | np.uint32(block[at + 1]) << np.uint32(8)
        word |= np.uint32(block[at + 2]) << np.uint32(16) | np.uint32(block[at + 3]) << np.uint32(24)
        total = np.uint32(a + f + SINES[k] + word)
        a, d, c = d, c, b
        b = np.uint32(b + (np.uint32(total << TURNS[k]) | np.uint32(total >> np.uint32(32 - TURNS[k]))))
    state[0] = np.uint32(state[0] + a)
    state[1] = np.uint32(state[1] + b)
    state[2] = np.uint32(state[2] + c)
    state[3] = np.uint32(state[3] + d)


@njit(
    nb.void(const(nb.uint8, 1), const(nb.uint8, 1), const(nb.int64, 1), nb.int64, nb.int64, out(nb.uint64, 1)),
    cache=True,
    nogil=True,
)
def md5_numbers(prefix: Any, text: Any, ends: Any, start: int, stop: int, numbers: Any) -> None:
    """The lower half of the hash of the prefix and each text `start` to `stop`; k is text[ends[k] : ends[k + 1]]."""
    longest = 0
    for k in range(start, stop):
        longest = max(longest, ends[k + 1] - ends[k])
    n_prefix = prefix.shape[0]
    block = np.zeros(((n_prefix + longest + 8) // BLOCK + 1) * BLOCK, np.uint8)
    for at in range(n_prefix):
        block[at] = prefix[at]
    state = np.empty(4, np.uint32)
    for k in range(start, stop):
        end = n_prefix
        for at in range(ends[k], ends[k + 1]):
            block[end] = text[at]
            end += 1
        whole = ((end + 8) // BLOCK + 1) * BLOCK
        for at in range(end, whole):
            block[at] = 0
        block[end] = 0x80
        bits = np.uint64(8 * end)
        for at in range(8):
            block[whole - 8 + at] = np.uint8((bits >> np.uint64(8 * at)) & np.uint64(255))
        state[0], state[1], state[2], state[3] = 0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476
        for first in range(0, whole, BLOCK):
            _mix(block, first, state)
        numbers[k] = np.uint64(state[2]) | np.uint64(state[3]) << np.uint64(32)
