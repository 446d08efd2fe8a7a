"""LDP-SH: Bassily and Smith's succinct histogram (STOC 2015), applied to every entry as a category.

Their protocol writes a user's category as a ±1 code word and sends one random bit of it, which keeps its sign with
probability e^ε / (e^ε + 1); the histogram is decoded from the bits of many users. One entry has one user: from one bit
nobody can tell six categories apart, however large ε is. So all bits of the code word are sent, each through that basic
randomizer, and ε is shared out among those in which two code words can differ: the report is ε-differentially private.
What is released is the category with the nearest code word (of several, one at random), which needs no more privacy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from scipy.special import expit

from attriguard._checks import check_number
from attriguard.defenses.base import Defense
from attriguard.defenses.cells import first_free, free_cells, taken_cells, with_ratings
from attriguard.errors import ParameterError

# Every word that can be received is listed: 2^15 of them for 16 categories, 2^31 for more.
MOST_LEVELS = 15
# Cells drawn at once: bounds the memory of a draw.
BLOCK = 2**22


def code_words(categories: int) -> NDArray[np.int8]:
    """(categories, bits): rows of a Hadamard matrix without its constant column; any two differ in as many bits."""
    words = np.ones((1, 1), dtype=np.int8)
    while words.shape[0] < max(categories, 2):
        words = np.block([[words, words], [words, -words]])
    return words[:categories, 1:]


def keep_probability(epsilon: float, words: NDArray[np.int8]) -> tuple[float, float]:
    """The probabilities that a bit keeps its sign, and that it does not."""
    share = epsilon / int((words[0] != words[1]).sum())
    return float(expit(share)), float(expit(-share))


def channel(epsilon: float, categories: int) -> NDArray[np.float64]:
    """(categories, categories): with what probability category a is released as b; exact, over all received words."""
    words = code_words(categories)
    bits = words.shape[1]
    received = 1 - 2 * ((np.arange(2**bits)[:, None] >> np.arange(bits)) & 1)
    agreeing = (received @ words.T.astype(np.int64) + bits) // 2  # bits in which a received word equals a code word
    keep, flip = keep_probability(epsilon, words)
    sent = keep**agreeing * flip ** (bits - agreeing)
    nearest = agreeing == agreeing.max(axis=1, keepdims=True)
    released = sent.T @ (nearest / nearest.sum(axis=1, keepdims=True))
    return released / released.sum(axis=1, keepdims=True)


class SuccinctHistogram(Defense):
    """Every entry, rated or not, becomes a draw from the channel; nothing is learnt from the training users."""

    name = "LDP-SH"
    plain_name = "local differential privacy"
    summary = "every entry through a local randomizer"
    needs = ("scale",)
    strength = "epsilon"
    ladder = (24.0, 21.0, 18.0, 16.0, 14.0, 12.0, 10.0, 7.0)

    def check_strength(self, strength: float) -> float:
        """ε, which must be above 0."""
        return check_number(strength, name=self.strength, low=0.0, open_low=True)

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        self._categories()

    def _categories(self) -> int:
        if not 1 <= self.levels <= MOST_LEVELS:
            found = f"one of {self.levels} levels" if self.levels else "none"
            raise ParameterError(
                f"LDP-SH takes an entry as a category and needs a rating scale of at most {MOST_LEVELS} levels, got "
                f"{found}: pass scale=(lowest, highest, step)"
            )
        return self.levels + 1

    def _release(
        self, X: csr_array, strength: float, chance: np.random.Generator, truth: NDArray[np.int64] | None
    ) -> csr_array:
        rates = channel(strength, self._categories())
        rows = max(1, BLOCK // max(X.shape[1], 1))
        blocks = [self._draw(X[start : start + rows], rates, chance) for start in range(0, X.shape[0], rows)]
        return _stacked(blocks, X.shape)

    def _draw(self, X: csr_array, rates: NDArray[np.float64], chance: np.random.Generator) -> csr_array:
        """Rated cells one by one; of the free ones, first how many change, then which."""
        number = int(first_free(X)[-1])
        changing = chance.binomial(number, rates[0, 1:].sum())
        numbers = chance.choice(number, size=changing, replace=False, shuffle=False).astype(np.int64)
        cells = free_cells(taken_cells(X), numbers)
        new = 1 + _draws(np.broadcast_to(rates[0, 1:], (cells.size, rates.shape[0] - 1)), chance)
        old = np.rint(X.data * self.levels).astype(np.int64)
        drawn = _draws(rates[old], chance)
        kept = csr_array((self._entries(drawn), X.indices, X.indptr), shape=X.shape)
        return with_ratings(kept, cells, self._entries(new))

    def _entries(self, categories: NDArray[np.int64]) -> NDArray[np.float32]:
        return (categories / self.levels).astype(np.float32)


def _draws(rates: NDArray[np.float64], chance: np.random.Generator) -> NDArray[np.int64]:
    """One category a row, with probability proportional to the row."""
    up_to = np.cumsum(rates, axis=1)
    return (chance.random((up_to.shape[0], 1)) * up_to[:, -1:] >= up_to[:, :-1]).sum(axis=1)


def _stacked(blocks: list[csr_array], shape: tuple[int, int]) -> csr_array:
    return csr_array(vstack(blocks, format="csr")) if blocks else csr_array(shape, dtype=np.float32)
