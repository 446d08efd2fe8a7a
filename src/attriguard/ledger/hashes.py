"""Users as the ledger knows them: keyed hashes of their ids.

A hash is the lower half of MD5 behind a secret of 128 bits, which is the key's own for this purpose: without it a list
of ids does not tell who is in a ledger. MD5 because DuckDB and Spark have it, too: its upper bits say which bucket of a
large table a user is in, so that a bucket of the table and the entries of its users are found by the same number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from attriguard.kernels.md5 import md5_numbers
from attriguard.kernels.threads import over_users

SECRET_DIGITS = 32


def secret_text(key: bytes) -> str:
    """What stands before an id when it is hashed."""
    return key.hex()[:SECRET_DIGITS]


def user_hashes(users: NDArray[Any], key: bytes) -> NDArray[np.uint64]:
    """The hash of each id; 7 and "7" are the same. ``key`` is the ledger's."""
    return text_hashes(pa.array(users if users.dtype.kind in "iu" else list(map(str, users.tolist()))), key)


def text_hashes(users: pa.Array, key: bytes) -> NDArray[np.uint64]:
    """The same for ids as Arrow has them, numbers or text, none of them missing."""
    _, buffer, content = users.cast(pa.large_string()).buffers()
    text = np.frombuffer(b"" if content is None else content, dtype=np.uint8)
    ends = np.frombuffer(buffer, dtype=np.int64)[: len(users) + 1]
    prefix = np.frombuffer(secret_text(key).encode(), dtype=np.uint8)
    numbers = np.empty(len(users), dtype=np.uint64)
    over_users(len(users), lambda start, stop: md5_numbers(prefix, text, ends, start, stop, numbers))
    return numbers


def bucket_of(hashes: NDArray[np.uint64], n: int) -> NDArray[np.int64]:
    """Which of ``n`` buckets each user is in: ranges of hashes, one behind the other."""
    return ((hashes >> np.uint64(32)) * np.uint64(n) >> np.uint64(32)).astype(np.int64)
