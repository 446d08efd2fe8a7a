"""Twin of the kernel that hashes texts: Python's own MD5, one text after another."""

from __future__ import annotations

import hashlib
from typing import Any

from attriguard.kernels.reference.arrays import Ints


def md5_numbers(prefix: Any, text: Any, ends: Ints, start: int, stop: int, numbers: Any) -> None:
    """The last eight bytes of the hash of the prefix and each text, the lowest first."""
    for k in range(start, stop):
        one = prefix.tobytes() + text[ends[k] : ends[k + 1]].tobytes()
        numbers[k] = int.from_bytes(hashlib.md5(one, usedforsecurity=False).digest()[8:], "little")
