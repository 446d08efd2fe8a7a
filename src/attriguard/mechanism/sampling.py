"""Drawing one of the representative noises a user."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attriguard.kernels.words import keyed_words

# Keeps these draws apart from any other use of the same key.
DOMAIN = b"attriguard draw 1"
# Users drawn at once; keeps the work arrays small.
BLOCK = 65_536


def draw(M: NDArray[np.float64], rng: np.random.Generator | None = None) -> NDArray[np.int64]:
    """One value a user, value i with probability M[u, i]; without a generator the operating system draws."""
    choice = np.empty(M.shape[0], dtype=np.int64)
    for start in range(0, M.shape[0], BLOCK):
        rows = M[start : start + BLOCK]
        uniform = _system_uniform(rows.shape) if rng is None else rng.random(rows.shape)
        choice[start : start + BLOCK] = _race(rows, uniform)
    return choice


def draw_keyed(M: NDArray[np.float64], users: NDArray[Any], key: bytes) -> NDArray[np.int64]:
    """The same with a secret key in place of chance: a user's draw is a function of the key and the user's id.

    A second release gives the same draw, so repeated releases do not average the noise away. The key is one that was
    derived for these draws alone.
    """
    prefix = DOMAIN + len(key).to_bytes(8, "big") + key
    m = M.shape[1]
    choice = np.empty(M.shape[0], dtype=np.int64)
    for start in range(0, M.shape[0], BLOCK):
        words = keyed_words(prefix, users[start : start + BLOCK], m)
        choice[start : start + BLOCK] = _race(M[start : start + BLOCK], _uniform(words))
    return choice


def _system_uniform(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Numbers in [0, 1) that nobody can foresee: from many draws the state of a generator might be found out."""
    stream = secrets.token_bytes(8 * int(np.prod(shape)))
    return _uniform(np.frombuffer(stream, dtype=np.uint64)).reshape(shape)


def _uniform(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Random words as numbers in [0, 1)."""
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _race(M: NDArray[np.float64], uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """Value i finishes after an exponential time of rate M_i, the first one wins: so it wins with probability M_i.

    Unlike a walk along the cumulated M it hardly ever changes its winner when M changes a little, as it does when a
    user's data has grown between two releases under the same key.
    """
    with np.errstate(divide="ignore"):
        time = np.where(M > 0, -np.log1p(-uniform) / np.where(M > 0, M, 1.0), np.inf)
    return np.argmin(time, axis=1)
