"""Whom a guard has learnt from, as salted hashes of ids: it notices such users when it meets them again.

Whoever has the guard and a list of ids can test whether an id is among them; the ids themselves cannot be read off.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SALT_BYTES, HASH_BYTES = 16, 8


@dataclass(frozen=True, eq=False, repr=False)
class SeenUsers:
    """Hashes of user ids under a salt of their own."""

    salt: bytes
    marks: NDArray[np.uint64]  # sorted

    @classmethod
    def of(cls, users: NDArray[Any], seed: int | None = None) -> SeenUsers:
        """Remember these users. The salt is new every time; with a seed, it follows from the seed and all the ids."""
        salt = secrets.token_bytes(SALT_BYTES)
        if seed is not None:
            everybody = _hashes(str(seed).encode(), users).tobytes()
            salt = hashlib.blake2b(everybody, digest_size=SALT_BYTES).digest()
        return cls(salt, np.unique(_hashes(salt, users)))

    def among(self, users: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of these users are remembered; 7 and "7" are the same id."""
        return np.isin(_hashes(self.salt, users), self.marks)

    def __repr__(self) -> str:
        return f"SeenUsers({self.marks.size:,} users)"


def _hashes(salt: bytes, users: NDArray[Any]) -> NDArray[np.uint64]:
    keyed = hashlib.blake2b(digest_size=HASH_BYTES, key=salt)

    def digest(user: Any) -> bytes:
        each = keyed.copy()  # a copy costs less than taking in the key again
        each.update(str(user).encode())
        return each.digest()

    return np.frombuffer(b"".join(map(digest, users.tolist())), dtype="<u8").astype(np.uint64)
