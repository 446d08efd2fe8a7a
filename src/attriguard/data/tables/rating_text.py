"""Ratings in a column of text: a new rating is written as its user's other ratings are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from attriguard.data.scale import RatingScale
from attriguard.data.tables.arrays import plain_array, plain_type
from attriguard.data.tables.cells import rating_cells, rating_values
from attriguard.data.tables.source import SourceTable

Ints = NDArray[np.int64]
# In place of a number of decimals: as few as the number needs.
AS_NEEDED = -1


def new_rating_cells(source: SourceTable, scale: RatingScale, users: Ints, levels: Ints) -> tuple[pa.Array, Ints]:
    """Cells for new ratings of ``users``: distinct cells, and for each rating the position of its cell among them.

    In a column of numbers the level decides. In a column of text it is also the user: a rating is written as the user
    has written the same rating, else with as many decimals as the user's other ratings. Other users have no say, so
    that a part of the table with complete users gets the same cells as the whole.
    """
    column = source.table.column(source.rating)
    kind = plain_type(column.type)
    if not pa.types.is_large_string(kind):
        return rating_cells(kind, scale), levels
    values = rating_values(scale)
    encoded = plain_array(column).dictionary_encode()
    seen = _SeenTexts.of(encoded.dictionary, scale, values)
    decimals = seen.common_decimals(values)
    if decimals is not None:
        return pa.array([_text(value, decimals) for value in values], kind), levels
    return _cells_by_user(source, seen, encoded.indices.to_numpy()[source.rows], values, (users, levels))


@dataclass(frozen=True, eq=False)
class _SeenTexts:
    """The distinct texts of a column: their levels, the numbers of decimals, and which are as short as they can be."""

    texts: list[str]
    level: Ints
    decimals: Ints
    shortest: NDArray[np.bool_]

    @classmethod
    def of(cls, distinct: pa.Array, scale: RatingScale, values: list[float]) -> _SeenTexts:
        """What the distinct texts of a column say about how its ratings are written."""
        texts = distinct.to_pylist()
        numbers = pc.utf8_trim_whitespace(distinct).cast(pa.float64()).to_numpy(zero_copy_only=False)
        level = np.rint(scale.to_unit(numbers).astype(np.float64) * scale.levels).astype(np.int64)
        decimals = [len(text.strip().partition(".")[2]) for text in texts]
        shortest = [_text(values[k], AS_NEEDED) == text for k, text in zip(level.tolist(), texts, strict=True)]
        return cls(texts, level, np.array(decimals, dtype=np.int64), np.array(shortest, dtype=np.bool_))

    def common_decimals(self, values: list[float]) -> int | None:
        """The number of decimals with which ``_text`` would write every text just as it stands, or None."""
        decimals = int(self.decimals.max(initial=0))
        pairs = zip(self.level.tolist(), self.texts, strict=True)
        return decimals if all(_text(values[level], decimals) == text for level, text in pairs) else None


def _text(value: float, decimals: int) -> str:
    """A number with so many decimals; with as few as it needs, if ``decimals`` says so or is too small for it."""
    text = f"{value:.12g}" if decimals == AS_NEEDED else f"{value:.{decimals}f}"
    return text if float(text) == value else f"{value:.12g}"


def _cells_by_user(
    source: SourceTable, seen: _SeenTexts, code: Ints, values: list[float], wanted: tuple[Ints, Ints]
) -> tuple[pa.Array, Ints]:
    """As ``new_rating_cells``, for texts that follow no common rule; ``code`` is the text of each of source's rows."""
    users, levels = wanted
    n_users = int(max(source.user_of_row.max(initial=-1), users.max(initial=-1))) + 1
    most, least = np.zeros(n_users, dtype=np.int64), np.full(n_users, np.iinfo(np.int64).max)
    np.maximum.at(most, source.user_of_row, seen.decimals[code])
    np.minimum.at(least, source.user_of_row, seen.decimals[code])
    longer = np.zeros(n_users, dtype=np.bool_)
    longer[source.user_of_row[~seen.shortest[code]]] = True
    decimals = np.where((least < most) & ~longer, AS_NEEDED, most)[users]
    # The text of the user's first row with the same rating. Rows are assigned from the last to the first.
    width = len(values)
    keys, place = np.unique(users * width + levels, return_inverse=True)
    row_keys = source.user_of_row * width + seen.level[code]
    at = np.minimum(np.searchsorted(keys, row_keys), max(keys.size - 1, 0))
    own = np.full(keys.size, -1, dtype=np.int64)
    same = np.flatnonzero(keys[at] == row_keys)[::-1] if keys.size else np.empty(0, dtype=np.int64)
    own[at[same]] = code[same]
    own = own[place]
    made, position = np.unique(np.where(own < 0, decimals * width + levels, 0), return_inverse=True)
    new = [_text(values[k % width], k // width) for k in made.tolist()]
    texts = pa.array([*seen.texts, *new], pa.large_string())
    return texts, np.where(own >= 0, own, len(seen.texts) + position)
