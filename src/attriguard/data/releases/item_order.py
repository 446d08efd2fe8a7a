"""The order of items, judged from ids alone, so that it is the same in every part of a table."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from attriguard.data.tables.ids import CANONICAL_INTEGER, lookup, union

# Whole numbers below this match CANONICAL_INTEGER when they are written as text.
LARGEST_NUMBER = 10**18


class ItemOrder:
    """Two orders of the items of a table and of a catalogue: by number and by text.

    By number, whole numbers come first by their value, and other ids follow by their text. A rank says where an item
    stands in an order. Which of two items comes first depends on their two ids alone, whatever other items there are.
    """

    def __init__(self, items: NDArray[Any], catalogue: NDArray[Any]) -> None:
        self._every = union(items, catalogue)
        self._of_items, self._of_catalogue = lookup(items, self._every), lookup(catalogue, self._every)

    @property
    def _all_numbers(self) -> bool:
        """Numbers that fit: they are sorted already, so that no text is made unless the order by text is asked for."""
        every = self._every
        return every.dtype.kind in "iu" and (
            every.size == 0 or (int(every[0]) > -LARGEST_NUMBER and int(every[-1]) < LARGEST_NUMBER)
        )

    @cached_property
    def _text(self) -> pa.Array:
        return pa.array(self._every).cast(pa.large_string())

    @cached_property
    def _is_number(self) -> NDArray[np.bool_]:
        if self._all_numbers:
            return np.ones(self._every.size, dtype=np.bool_)
        return pc.match_substring_regex(self._text, CANONICAL_INTEGER).to_numpy(zero_copy_only=False)

    @cached_property
    def _text_ranks(self) -> NDArray[np.int64]:
        return _ranks(pc.array_sort_indices(self._text).to_numpy())

    @cached_property
    def _number_ranks(self) -> NDArray[np.int64]:
        if self._all_numbers:
            return np.arange(self._every.size)
        value = np.zeros(len(self._text), dtype=np.int64)
        value[self._is_number] = self._text.filter(pa.array(self._is_number)).cast(pa.int64()).to_numpy()
        text = np.where(self._is_number, 0, self._text_ranks)
        return _ranks(np.lexsort((text, value, ~self._is_number)))

    @property
    def is_number(self) -> NDArray[np.bool_]:
        """For each item of the table: is its id a whole number?"""
        return self._is_number[self._of_items]

    def ranks(self, *, by_number: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The ranks of the table's items and of the catalogue's items in one of the two orders."""
        ranks = self._number_ranks if by_number else self._text_ranks
        return ranks[self._of_items], ranks[self._of_catalogue]


def _ranks(order: NDArray[Any]) -> NDArray[np.int64]:
    ranks = np.empty(order.size, dtype=np.int64)
    ranks[order] = np.arange(order.size)
    return ranks
