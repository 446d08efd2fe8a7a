"""Which items a linear classifier would add first: lists of items, sorted once for each model.

For C_i alone the list of value i ranks all items by just that gain, and the kernel takes the first item that the user
does not have. Against rivals it ranks a few items by their gain against the rival that they hurt most, with bounds on
what the items further down can gain (`kernels.additions`). So the kernel need not look at all items.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from attriguard.classifiers.base import linear_parts
from attriguard.kernels.threads import over_users

# Items listed for each value, where rivals count. Half of all steps look at two of them, nine in ten at six or fewer.
DEPTH = 512
# Items kept for each value and rival: the best ones, of which a user has rarely all.
HEADS = 4
# Entries in all lists together, and in all bounds; lists are shortened to stay below.
MOST_ENTRIES, MOST_BOUNDS = 2**26, 2**22


@dataclass(frozen=True, eq=False)
class Candidates:
    """For every value its list of items; ``whole`` says that the lists leave out no item that could be chosen."""

    items: NDArray[np.int32]  # (m, length)
    bounds: NDArray[np.float64]  # (m, length + 1, m): what items from a place on gain at most; nothing for C_i alone
    whole: bool
    heads: NDArray[np.int32]  # (m, m, few): those that gain most for C_i − C_k, as far as the lists tell; then -1


class LinearModel:
    """A linear classifier as the kernel takes it: its weights (items × m), intercepts, and the lists made so far."""

    def __init__(self, classifier: Any) -> None:
        self.W, self.b = linear_parts(classifier)
        self._lists: dict[tuple[bool, bytes], Candidates] = {}

    def candidates(self, upper: NDArray[np.float64], *, rivals: bool) -> Candidates:
        """`rank_candidates`, computed once for each set of addable items."""
        key = rivals, hashlib.blake2b(upper.tobytes()).digest()
        if key not in self._lists:
            self._lists[key] = rank_candidates(self.W, upper, rivals=rivals)
        return self._lists[key]


# The models in use; what was made of a classifier is freed together with it.
_MODELS: WeakKeyDictionary[Any, LinearModel] = WeakKeyDictionary()


def linear_model(classifier: Any) -> LinearModel:
    """The classifier as the kernel takes it, made once."""
    if classifier not in _MODELS:
        _MODELS[classifier] = LinearModel(classifier)
    return _MODELS[classifier]


def rank_candidates(W: NDArray[np.float64], upper: NDArray[np.float64], *, rivals: bool) -> Candidates:
    """The lists for weights W (items × m) and what an added entry may rise to."""
    from attriguard.kernels.additions import bound_gains

    m = W.shape[1]
    addable = np.flatnonzero(upper > 0).astype(np.int32)
    gains = W[addable] * upper[addable, None]
    if not rivals:
        length = min(addable.size, max(1, MOST_ENTRIES // m))
        order = [np.argsort(-gain, kind="stable")[:length] for gain in np.ascontiguousarray(gains.T)]
        items = addable[np.array(order, dtype=np.int64).reshape(m, length)]
        return Candidates(items, np.empty((0, 0, 0)), length == addable.size, np.empty((0, 0, 0), np.int32))
    length = min(addable.size, DEPTH, MOST_BOUNDS // m**2)
    most = np.ascontiguousarray((gains - gains.min(axis=1, keepdims=True)).T)
    items = addable[np.array([_top(gain, length) for gain in most], dtype=np.int64).reshape(m, length)]
    bounds = np.empty((m, length + 1, m))
    over_users(m, lambda start, stop: bound_gains(W, upper, items, bounds, start, stop), smallest=1)
    return Candidates(items, bounds, length == addable.size, first_items(W, upper, items, bounds[:, length]))


def first_items(
    W: NDArray[np.float64], upper: NDArray[np.float64], listed: NDArray[np.int32], others: NDArray[np.float64]
) -> NDArray[np.int32]:
    """(m, m, few): of the items listed for value i those that gain most for C_i − C_k, and more than all others do."""
    m, length = listed.shape
    heads = np.full((m, m, min(HEADS, length)), -1, dtype=np.int32)
    for i, items in enumerate(np.sort(listed)):  # in a tie the first index is first
        gains = upper[items, None] * (W[items, i, None] - W[items])
        best = np.argsort(-gains, axis=0, kind="stable")[:HEADS]
        surely = np.take_along_axis(gains, best, axis=0) > others[i]
        heads[i] = np.where(surely, items[best], -1).T
    return heads


def _top(gain: NDArray[np.float64], length: int) -> NDArray[np.int64]:
    """The ``length`` items of the largest gain, best first."""
    best = np.argpartition(-gain, length - 1)[:length] if 0 < length < gain.size else np.arange(length)
    return best[np.argsort(-gain[best], kind="stable")]
