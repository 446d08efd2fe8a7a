"""SHAKE-256 of many short texts behind one secret prefix, compiled: the very bytes that `hashlib.shake_256` gives.

The state of Keccak has 25 words (FIPS 202). Those of `LANES` texts stand side by side, so that one instruction serves
several texts; texts of one group have the same number of blocks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.core import types as nb

from attriguard.kernels.types import const, out

LANES = 8
STATE = 25
# Bytes and words of a block, and how the last one ends.
RATE, RATE_WORDS = 136, 17
FIRST_PAD, LAST_PAD = 0x1F, 0x80
ROUNDS = np.array(
    [
        0x0000000000000001, 0x0000000000008082, 0x800000000000808A, 0x8000000080008000,
        0x000000000000808B, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
        0x000000000000008A, 0x0000000000000088, 0x0000000080008009, 0x000000008000000A,
        0x000000008000808B, 0x800000000000008B, 0x8000000000008089, 0x8000000000008003,
        0x8000000000008002, 0x8000000000000080, 0x000000000000800A, 0x800000008000000A,
        0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
    ],
    dtype=np.uint64,
)  # fmt: skip


@njit(cache=True, nogil=True)
def _turned(word: Any, bits: int) -> Any:
    """The word turned to the left."""
    return (word << np.uint64(bits)) | (word >> np.uint64(64 - bits))


@njit(cache=True, nogil=True)
def _row(s: Any, y: int, lane: int) -> Any:
    """Five words of a lane's state: a row of it, from word y on."""
    at = y * LANES + lane
    return s[at], s[at + LANES], s[at + 2 * LANES], s[at + 3 * LANES], s[at + 4 * LANES]


@njit(cache=True, nogil=True)
def _mix(s: Any, y: int, lane: int, a: Any, e: Any, i: Any, o: Any, u: Any) -> None:
    """The step called chi: a row of the state out of five words that have been turned and moved."""
    at = y * LANES + lane
    s[at] = a ^ (~e & i)
    s[at + LANES] = e ^ (~i & o)
    s[at + 2 * LANES] = i ^ (~o & u)
    s[at + 3 * LANES] = o ^ (~u & a)
    s[at + 4 * LANES] = u ^ (~a & e)


@njit(cache=True, nogil=True)
def _permute(s: Any) -> None:
    """Keccak-f[1600] of every lane, with the usual names: rows b, g, k, m, s, and in each the words a, e, i, o, u.

    It is written out on one flat array: only then the compiler puts several lanes into one register.
    """
    for constant in ROUNDS:
        for n in range(LANES):
            ba, be, bi, bo, bu = _row(s, 0, n)
            ga, ge, gi, go, gu = _row(s, 5, n)
            ka, ke, ki, ko, ku = _row(s, 10, n)
            ma, me, mi, mo, mu = _row(s, 15, n)
            sa, se, si, so, su = _row(s, 20, n)
            # Theta: the parities of the two neighbouring columns go into every word.
            a, e, i = ba ^ ga ^ ka ^ ma ^ sa, be ^ ge ^ ke ^ me ^ se, bi ^ gi ^ ki ^ mi ^ si
            o, u = bo ^ go ^ ko ^ mo ^ so, bu ^ gu ^ ku ^ mu ^ su
            a, e, i, o, u = (
                u ^ _turned(e, 1), a ^ _turned(i, 1), e ^ _turned(o, 1), i ^ _turned(u, 1), o ^ _turned(a, 1)
            )  # fmt: skip
            # Rho and pi: each word is turned and moved.
            _mix(s, 0, n, ba ^ a, _turned(ge ^ e, 44), _turned(ki ^ i, 43), _turned(mo ^ o, 21), _turned(su ^ u, 14))
            _mix(s, 5, n, _turned(bo ^ o, 28), _turned(gu ^ u, 20), _turned(ka ^ a, 3), _turned(me ^ e, 45),
                 _turned(si ^ i, 61))  # fmt: skip
            _mix(s, 10, n, _turned(be ^ e, 1), _turned(gi ^ i, 6), _turned(ko ^ o, 25), _turned(mu ^ u, 8),
                 _turned(sa ^ a, 18))  # fmt: skip
            _mix(s, 15, n, _turned(bu ^ u, 27), _turned(ga ^ a, 36), _turned(ke ^ e, 10), _turned(mi ^ i, 15),
                 _turned(so ^ o, 56))  # fmt: skip
            _mix(s, 20, n, _turned(bi ^ i, 62), _turned(go ^ o, 55), _turned(ku ^ u, 39), _turned(ma ^ a, 41),
                 _turned(se ^ e, 2))  # fmt: skip
            s[n] ^= constant


@njit(cache=True, nogil=True)
def _absorb(s: Any, lane: int, block: Any, first: int) -> None:
    """A block of bytes into one lane, the lowest byte of a word first."""
    for k in range(RATE_WORDS):
        at, word = first + 8 * k, np.uint64(0)
        for j in range(8):
            word |= np.uint64(block[at + j]) << np.uint64(8 * j)
        s[k * LANES + lane] ^= word


@njit(
    nb.void(
        const(nb.uint8, 1), const(nb.uint8, 1), const(nb.int64, 1), nb.int64, nb.int64, out(nb.uint64, 2)
    ),
    cache=True,
    nogil=True,
)  # fmt: skip
def shake_words(prefix: Any, text: Any, ends: Any, start: int, stop: int, words: Any) -> None:
    """The first words of the hash of the prefix and each text `start` to `stop`; k is text[ends[k] : ends[k + 1]]."""
    longest = 0
    for k in range(start, stop):
        longest = max(longest, ends[k + 1] - ends[k])
    n_prefix = prefix.shape[0]
    block = np.zeros(((n_prefix + longest) // RATE + 1) * RATE, np.uint8)
    for at in range(n_prefix):
        block[at] = prefix[at]
    s = np.empty(STATE * LANES, np.uint64)
    first = start
    while first < stop:
        n_blocks = (n_prefix + ends[first + 1] - ends[first]) // RATE + 1
        last = first
        while last < min(stop, first + LANES) and (n_prefix + ends[last + 1] - ends[last]) // RATE + 1 == n_blocks:
            last += 1
        for k in range(STATE * LANES):
            s[k] = 0
        for b in range(n_blocks):
            for n in range(last - first):
                end = n_prefix
                for at in range(ends[first + n], ends[first + n + 1]):
                    block[end] = text[at]
                    end += 1
                for at in range(end, n_blocks * RATE):
                    block[at] = 0
                block[end] = FIRST_PAD
                block[n_blocks * RATE - 1] |= LAST_PAD
                _absorb(s, n, block, b * RATE)
            _permute(s)
        for w in range(words.shape[1]):
            if w and w % RATE_WORDS == 0:
                _permute(s)
            for n in range(last - first):
                words[first + n, w] = s[w % RATE_WORDS * LANES + n]
        first = last
