"""Which items a linear classifier would add first: lists of items sorted by gain, made once for each model.

List i ranks the items by their gain for C_i (PANDA); list m + i·m + k by their gain for C_i − C_k (margin). The kernel
takes the first item of a list that the user does not have, so it need not look at all items.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from attriguard.classifiers.base import linear_parts

# Entries kept of a margin list. Longer lists cost memory; shorter ones cost a full scan for users who have all of them.
MARGIN_LIST = 128
# Entries in all lists of one kind together; lists are shortened to stay below.
MOST_ENTRIES = 2**26


@dataclass(frozen=True, eq=False)
class Candidates:
    """All lists, one after another; ``whole`` says that a list leaves out no item that could be chosen."""

    items: NDArray[np.int32]
    end: NDArray[np.int64]
    whole: NDArray[np.bool_]


class LinearModel:
    """A linear classifier as the kernel takes it: its weights (items × m), intercepts, and the lists made so far."""

    def __init__(self, classifier: Any) -> None:
        self.W, self.b = linear_parts(classifier)
        self._lists: dict[tuple[bool, bytes], Candidates] = {}

    def candidates(self, upper: NDArray[np.float64], *, margin: bool) -> Candidates:
        """`rank_candidates`, computed once for each set of addable items."""
        key = margin, hashlib.blake2b(upper.tobytes()).digest()
        if key not in self._lists:
            self._lists[key] = rank_candidates(self.W, upper, margin=margin)
        return self._lists[key]


# The models in use; what was made of a classifier is freed together with it.
_MODELS: WeakKeyDictionary[Any, LinearModel] = WeakKeyDictionary()


def linear_model(classifier: Any) -> LinearModel:
    """The classifier as the kernel takes it, made once."""
    if classifier not in _MODELS:
        _MODELS[classifier] = LinearModel(classifier)
    return _MODELS[classifier]


def rank_candidates(W: NDArray[np.float64], upper: NDArray[np.float64], *, margin: bool) -> Candidates:
    """The lists for weights W (items × m) and what an added entry may rise to."""
    m = W.shape[1]
    addable = np.flatnonzero(upper > 0).astype(np.int32)
    weighted = np.ascontiguousarray((W[addable] * upper[addable, None]).T)
    length = min(addable.size, max(1, MOST_ENTRIES // m))
    lists: list[NDArray[np.int32]] = []
    whole: list[bool] = []
    for i in range(m):
        order = np.argsort(-weighted[i], kind="stable")[:length]
        lists.append(addable[order])
        whole.append(length == addable.size)
    if margin:
        length = min(addable.size, MARGIN_LIST, MOST_ENTRIES // m**2)
        for i in range(m):
            for k in range(m):
                order, complete = _top(weighted[i] - weighted[k], length)
                lists.append(addable[order])
                whole.append(complete)
    sizes = [part.size for part in lists]
    return Candidates(np.concatenate(lists), np.cumsum(sizes, dtype=np.int64), np.array(whole, dtype=np.bool_))


def _top(gain: NDArray[np.float64], length: int) -> tuple[NDArray[np.int64], bool]:
    """The items of positive gain, best first, the first index first in a tie; at most about ``length`` of them."""
    best = np.flatnonzero(gain > 0)
    complete = best.size <= length
    if not complete:
        # Ties with the last place are left out, since which of them is first in the list would be chance.
        threshold = np.partition(gain[best], best.size - length - 1)[best.size - length - 1] if length else np.inf
        best = best[gain[best] > threshold]
    return best[np.argsort(-gain[best], kind="stable")], complete
