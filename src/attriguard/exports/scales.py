"""Scales of ratings: half stars, points from 1 to 10, likes; and how a rating on one becomes one on another."""

from __future__ import annotations

import math
from typing import NamedTuple

# A rating may miss its grid by this share of a step, and a half is rounded up in spite of it.
TOLERANCE = 1e-6


class Scale(NamedTuple):
    """Ratings from ``low`` to ``high`` in steps of ``step``; from 0 to 1 in one step are likes."""

    low: float
    high: float
    step: float

    def __str__(self) -> str:
        return "likes" if self.is_likes else f"{self.low:g} to {self.high:g} in steps of {self.step:g}"

    @property
    def is_likes(self) -> bool:
        """1 is a like, and 0 is none."""
        return self == (0.0, 1.0, 1.0)

    @property
    def levels(self) -> int:
        """How many different ratings there are."""
        return 1 if self.is_likes else round((self.high - self.low) / self.step) + 1

    def holds(self, rating: float) -> bool:
        """Is the rating one of them?"""
        level = (rating - self.low) / self.step
        return self.low <= rating <= self.high and abs(level - round(level)) < TOLERANCE

    def unit(self, rating: float) -> float:
        """The rating as a share of the highest one, in (0, 1]; 0 is left for "not rated"."""
        return 1.0 if self.is_likes else (round((rating - self.low) / self.step) + 1) / self.levels

    def nearest(self, unit: float) -> float:
        """The nearest share that stands for a rating; of two the higher."""
        return max(1, math.floor(unit * self.levels + 0.5 + TOLERANCE)) / self.levels


def entry_of(rating: float | None, given: Scale | None, guard: Scale | None) -> float | None:
    """A rating on the scale of an export as an entry in (0, 1] of a guard; None where it says nothing to the guard.

    A title without a rating in an export with ratings is not rated. In an export without ratings every title is a like,
    and on a guard of likes every title of any export is one.
    """
    if guard is not None and guard.is_likes:
        return 1.0
    if given is None:
        return 1.0
    if rating is None:
        return None
    return given.unit(rating) if guard is None else guard.nearest(given.unit(rating))


def scale_note(given: Scale | None, guard: Scale | None) -> str:
    """What happens to the ratings of an export on the way to a guard, in a line; "" where they stay what they are."""
    if guard is not None and guard.is_likes:
        return "" if given is None else "the guard knows likes only: every title counts as one, whatever its rating"
    if given is None:
        return "this file has no ratings: every title counts as one that you rated as high as can be"
    if guard is None or given == guard:
        return ""
    return f"your ratings, {given}, become the nearest of {guard}: 4 of 5 and 8 of 10 are the same"
