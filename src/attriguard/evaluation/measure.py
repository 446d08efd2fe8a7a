"""How a measurement is made: the options that every function of this room takes."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from attriguard._checks import check_count
from attriguard.evaluation.cache import Cache

# Rows of users, and their values: what attacks, guards and defenses learn from.
Training = tuple[csr_array, ArrayLike]


@dataclass(frozen=True)
class Measure:
    """The seed of a measurement, how often it draws, and where it keeps predictions.

    Attributes
    ----------
    seed
        The same seed gives the same figures. None: the operating system's entropy, where something is drawn.
    draws
        How often something random is drawn. Each function says what; None: the function's own default.
    cache
        A folder for predictions. With it nothing is trained twice, and an interrupted measurement goes on.
    """

    seed: int | None = 0
    draws: int | None = None
    cache: Cache | None = None

    def draws_or(self, default: int) -> int:
        """The number of draws, checked; ``default`` where none was given."""
        return default if self.draws is None else check_count(self.draws, name="draws")


# Seed 0, the default number of draws, nothing kept.
PLAIN = Measure()
