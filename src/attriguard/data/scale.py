"""The rating scale: raw ratings to [0, 1] and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attriguard.errors import DataError, ParameterError

# A rating may miss its grid point by this share of a step (decimal fractions are not exact in binary).
GRID_TOLERANCE = 1e-4
# Numbers on more levels than this are taken for measurements, not for ratings.
MAX_LEVELS = 1000


@dataclass(frozen=True, slots=True)
class RatingScale:
    """Ratings run from ``lowest`` to ``highest`` in steps of ``step``.

    An entry of the public data is 0 where the user has not rated. So the lowest rating maps to one level above 0: one
    to five stars become 0.2, 0.4, … 1.0 as in the paper. The scale from 0 to 1 is the scale of likes: 1 is a like,
    and 0 is no entry at all.

    Parameters
    ----------
    lowest, highest
        The ends of the scale; both are ratings.
    step
        The difference between neighbouring ratings.
    """

    lowest: float
    highest: float
    step: float = 1.0

    def __post_init__(self) -> None:
        if not all(np.isfinite([self.lowest, self.highest, self.step])):
            raise DataError(f"a rating scale needs finite numbers, got {self}")
        if self.step <= 0 or self.highest < self.lowest:
            raise DataError(f"a rating scale needs lowest <= highest and step > 0, got {self}")
        levels = (self.highest - self.floor) / self.step
        if not 0.5 < levels < MAX_LEVELS + 0.5:
            raise DataError(f"a rating scale has 1 to {MAX_LEVELS} levels, but {self} has {levels:.0f}")
        steps = (self.highest - self.lowest) / self.step
        if abs(steps - round(steps)) > GRID_TOLERANCE:
            raise DataError(f"highest - lowest must be a whole number of steps, got {self}")

    def __str__(self) -> str:
        return f"{self.lowest:g} to {self.highest:g} in steps of {self.step:g}"

    @classmethod
    def likes(cls) -> RatingScale:
        """The scale of likes: 1 is a like, and 0 is no entry."""
        return cls(0.0, 1.0, 1.0)

    @property
    def is_likes(self) -> bool:
        """Whether this is the scale of likes, on which nothing can be rated low."""
        return self.lowest == 0.0 and self.highest == 1.0 and self.step == 1.0

    @property
    def floor(self) -> float:
        """The raw value that an entry of 0 (not rated) stands for."""
        return 0.0 if self.is_likes else self.lowest - self.step

    @property
    def numbers(self) -> tuple[float, float, float]:
        """Its lowest and highest rating, and the step between two."""
        return float(self.lowest), float(self.highest), float(self.step)

    @property
    def levels(self) -> int:
        """How many distinct ratings there are above "not rated"."""
        return round((self.highest - self.floor) / self.step)

    def to_unit(self, raw: ArrayLike) -> NDArray[np.float32]:
        """Raw ratings as entries in [0, 1]; the caller has checked that they are on the scale."""
        level = np.array(raw, dtype=np.float64)
        level -= self.floor  # in place, since a table may be large
        level /= self.step
        np.rint(level, out=level)
        level /= self.levels
        return level.astype(np.float32)

    def from_unit(self, unit: ArrayLike) -> NDArray[np.float64]:
        """Entries in [0, 1] as raw ratings, on the grid."""
        level = np.rint(np.asarray(unit, dtype=np.float64) * self.levels)
        return self.floor + level * self.step

    def snap(self, unit: ArrayLike) -> NDArray[np.float32]:
        """The nearest entry that stands for a rating (or for none)."""
        level = np.rint(np.clip(np.asarray(unit, dtype=np.float64), 0.0, 1.0) * self.levels)
        return (level / self.levels).astype(np.float32)

    def off_scale(self, raw: ArrayLike) -> NDArray[np.bool_]:
        """Which raw ratings lie outside the scale or between its steps."""
        values = np.asarray(raw, dtype=np.float64)
        level = (values - self.lowest) / self.step
        between = np.abs(level - np.rint(level)) > GRID_TOLERANCE
        slack = GRID_TOLERANCE * self.step
        return between | (values < self.lowest - slack) | (values > self.highest + slack)

    @classmethod
    def infer(cls, raw: ArrayLike) -> RatingScale:
        """The smallest scale that holds all ratings: from the lowest to the highest, in steps of the smallest gap."""
        seen = np.unique(np.asarray(raw, dtype=np.float64))
        if seen.size == 0:
            raise DataError("a rating scale cannot be inferred from no ratings")
        if seen.size == 1:
            return cls.likes() if seen[0] == 1.0 else cls(float(seen[0]), float(seen[0]), 1.0)
        if np.array_equal(seen, [0.0, 1.0]):
            return cls.likes()
        with np.errstate(over="ignore", invalid="ignore"):  # a range too wide for a float is too wide for a scale
            step = float(np.diff(seen).min())
            steps = (seen - seen[0]) / step
            strays = seen[np.abs(steps - np.rint(steps)) > GRID_TOLERANCE]
        if strays.size:
            raise DataError(
                f"the ratings lie on no even scale: between {seen[0]:g} and {seen[-1]:g} the smallest gap is "
                f"{step:g}, but {strays[0]:g} is not on that grid; name the scale (lowest, highest, step)"
            )
        return cls(float(seen[0]), float(seen[-1]), step)


def check_scale(scale: RatingScale | Sequence[float]) -> RatingScale:
    """A rating scale, given as such or as numbers: (lowest, highest) or (lowest, highest, step)."""
    if isinstance(scale, RatingScale):
        return scale
    try:
        numbers = [float(number) for number in scale]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) not in (2, 3):
        raise ParameterError(f"scale must be a RatingScale or (lowest, highest, step), got {scale!r}")
    return RatingScale(*numbers)
