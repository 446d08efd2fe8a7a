"""What decides where new rows stand and what is in them: a secret key, or without one a random generator."""

from __future__ import annotations

import hashlib
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attriguard._checks import check_rng
from attriguard._keys import check_key, fresh_key
from attriguard.errors import ParameterError
from attriguard.kernels.words import keyed_words

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
# Keeps these draws apart from any other use of the same key.
DOMAIN = b"attriguard new rows 1"


@dataclass(frozen=True, eq=False)
class Draws:
    """Uniform numbers for each new row, one for every purpose: a name and a round."""

    seeds: Words

    def uniform(self, purpose: str, turn: int = 0) -> NDArray[np.float64]:
        """One number in [0, 1) for each new row."""
        salt = _word(DOMAIN, purpose, str(turn))
        return (_mixed(self.seeds ^ np.uint64(salt)) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def choice(self, purpose: str, count: NDArray[np.int64], turn: int = 0) -> NDArray[np.int64]:
        """One of the numbers 0 … count - 1 for each new row."""
        return (self.uniform(purpose, turn) * count).astype(np.int64)

    def apart(self, purpose: str) -> Draws:
        """Other numbers for the same rows."""
        return Draws(_mixed(self.seeds ^ np.uint64(_word(DOMAIN, purpose))))

    def of(self, which: NDArray[Any]) -> Draws:
        """The numbers of some of the new rows."""
        return Draws(self.seeds[which])


@dataclass(frozen=True, eq=False)
class Chance:
    """A secret key, or without one a random generator."""

    rng: np.random.Generator
    key: bytes | None = None

    @classmethod
    def of(cls, random_state: int | np.random.Generator | None, key: bytes | str | None) -> Chance:
        """Check what a caller gave: a random state or a key, not both."""
        if key is not None and random_state is not None:
            raise ParameterError("give either a key or a random_state: under a key nothing is left to chance")
        if key is not None:
            return cls(check_rng(None), check_key(key))
        # Without either, a key that nobody can repeat.
        return cls(check_rng(random_state), fresh_key() if random_state is None else None)

    def generator(self, purpose: str) -> np.random.Generator:
        """A generator for draws that belong to no row: under a key, the same one each time."""
        return self.rng if self.key is None else np.random.default_rng(_word(self._prefix, purpose))

    @property
    def _prefix(self) -> bytes:
        key = self.key or b""
        return DOMAIN + len(key).to_bytes(8, "big") + key

    def draws(self, users: tuple[NDArray[Any], Ints], items: tuple[NDArray[Any], Ints]) -> Draws:
        """The draws of new rows, given ids and each row's position among them: a function of the two under a key."""
        if self.key is None:
            return Draws(self.rng.integers(0, 2**64, users[1].size, dtype=np.uint64))
        return Draws(_mixed(self._words("user", *users) ^ _mixed(self._words("item", *items))))

    def _words(self, what: str, ids: NDArray[Any], position: Ints) -> Words:
        """A secret number for each position's id."""
        prefix = b"\0".join((self._prefix, what.encode(), b""))
        for known_prefix, known_ids, words in list(_KNOWN):
            if known_ids is ids and known_prefix == prefix:
                return words[position]
        if 2 * position.size < ids.size:  # few of many
            used = np.unique(position)
            return keyed_words(prefix, ids[used], 1)[np.searchsorted(used, position), 0]
        words = keyed_words(prefix, ids, 1)[:, 0]
        _KNOWN.append((prefix, ids, words))
        return words[position]


# The last ids and their numbers: a block's users come in several draws, and the guard's items in every block.
_KNOWN: deque[tuple[bytes, NDArray[Any], Words]] = deque(maxlen=4)


def _word(prefix: bytes, *parts: str) -> int:
    text = b"\0".join((prefix, *(part.encode() for part in parts)))
    return int.from_bytes(hashlib.shake_256(text).digest(8), "little")


def _mixed(words: Words) -> Words:
    """Every bit of the result depends on every bit of a word (the finish of splitmix64)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
