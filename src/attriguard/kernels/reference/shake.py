"""Twin of the kernel that hashes texts: Python's own SHAKE-256, one text after another."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from attriguard.kernels.reference.arrays import Ints


def shake_words(prefix: Any, text: Any, ends: Ints, start: int, stop: int, words: Any) -> None:
    """The first words of the hash of the prefix and each text."""
    for k in range(start, stop):
        one = prefix.tobytes() + text[ends[k] : ends[k + 1]].tobytes()
        words[k] = np.frombuffer(hashlib.shake_256(one).digest(8 * words.shape[1]), dtype="<u8")
