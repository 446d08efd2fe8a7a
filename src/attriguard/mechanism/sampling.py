"""Drawing one of the representative noises a user."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attriguard.errors import ParameterError

# Keeps these draws apart from any other use of the same key.
DOMAIN = b"attriguard draw 1"
# Fewer bytes than this can be guessed by trying.
SHORTEST_KEY = 8
# Users drawn at once; keeps the work arrays small.
BLOCK = 65_536


def draw(M: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """One value a user, value i with probability M[u, i]."""
    choice = np.empty(M.shape[0], dtype=np.int64)
    for start in range(0, M.shape[0], BLOCK):
        rows = M[start : start + BLOCK]
        choice[start : start + BLOCK] = _race(rows, rng.random(rows.shape))
    return choice


def draw_keyed(M: NDArray[np.float64], users: NDArray[Any], key: bytes | str) -> NDArray[np.int64]:
    """The same with a secret key in place of chance: a user's draw is a function of the key and the user's id.

    A second release gives the same draw, so repeated releases do not average the noise away.
    """
    secret = check_key(key)
    prefix = DOMAIN + len(secret).to_bytes(8, "big") + secret
    m = M.shape[1]
    choice = np.empty(M.shape[0], dtype=np.int64)
    for start in range(0, M.shape[0], BLOCK):
        ids = users[start : start + BLOCK].tolist()
        stream = b"".join(hashlib.shake_256(prefix + str(user).encode()).digest(8 * m) for user in ids)
        words = np.frombuffer(stream, dtype="<u8").reshape(-1, m)
        uniform = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
        choice[start : start + BLOCK] = _race(M[start : start + BLOCK], uniform)
    return choice


def _race(M: NDArray[np.float64], uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """Value i finishes after an exponential time of rate M_i, the first one wins: so it wins with probability M_i.

    Unlike a walk along the cumulated M it hardly ever changes its winner when M changes a little, as it does when a
    user's data has grown between two releases under the same key.
    """
    with np.errstate(divide="ignore"):
        time = np.where(M > 0, -np.log1p(-uniform) / np.where(M > 0, M, 1.0), np.inf)
    return np.argmin(time, axis=1)


def check_key(key: bytes | str) -> bytes:
    """The key as bytes; one that is short enough to be guessed is refused."""
    if not isinstance(key, (bytes, str)):
        raise ParameterError(f"key must be bytes or text, got {type(key).__name__}")
    secret = key.encode() if isinstance(key, str) else bytes(key)
    if len(secret) < SHORTEST_KEY:
        raise ParameterError(
            f"key must have at least {SHORTEST_KEY} bytes, or it can be guessed; 32 random ones are best"
        )
    return secret
