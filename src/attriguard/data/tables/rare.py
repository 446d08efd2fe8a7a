"""Rare values: merged into "other", or dropped; and too many of them to learn anything from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attriguard._checks import UNDISCLOSED, check_choice, check_count
from attriguard._text import count_of
from attriguard.data.tables.coded import Coded
from attriguard.errors import DataError, ParameterError

OTHER = "other"
RARE = ("merge", "drop")
# A value of fewer users than this can hardly be learnt from.
LEARNABLE = 20
# So many values may have any number of users: twice as many as the cities of the paper.
FEW_VALUES = 50
# Of more values, so many may be rare.
MOST_RARE = 1 / 3


@dataclass(frozen=True, slots=True)
class Rare:
    """What happens to values with fewer than ``least`` users; without a number, nothing does."""

    least: int | None = None
    how: str = "merge"

    @classmethod
    def checked(cls, min_users: Any, rare: str) -> Rare:
        """As the options ``min_users`` and ``rare`` say."""
        check_choice(rare, RARE, name="rare")
        if min_users is None and rare != RARE[0]:
            raise ParameterError("rare says what happens to values of few users; say how few with the option min_users")
        return cls(None if min_users is None else check_count(min_users, name="min_users"), rare)

    @property
    def least_in_bin(self) -> int:
        """Bins with fewer users are joined with a neighbour, which tells more about a number than "other" does."""
        return self.least if self.least is not None and self.how == "merge" else 0

    def settle(self, column: Coded) -> Coded:
        """The column without rare values, with a note."""
        counts = column.counts
        rare = counts < (self.least or 0)
        if not rare.any():
            return column
        users, n_rare = int(counts[rare].sum()), int(np.count_nonzero(rare))
        are = "has" if n_rare == 1 else "have"
        found = f"{n_rare:,} of {count_of(rare.size, 'value')} of {column.name!r} {are} fewer than {self.least:,} users"
        # A value that is called "other" already takes the rare ones in, and may be rare itself.
        other = np.array([value.casefold() == OTHER for value in column.values])
        pool = rare | other
        group, names = np.where(rare, UNDISCLOSED, np.arange(rare.size)), [*column.values, OTHER]
        if self.how == "merge" and counts[pool].sum() >= (self.least or 0):
            into = int(np.argmax(np.where(other, counts, -1))) if other.any() else rare.size
            group[pool] = into
            return column.regrouped(group, names).told(f"{found}: merged into {names[into]!r} ({_users(users)})")
        reason = f", too few for a value {OTHER!r}" if self.how == "merge" else ""
        return column.regrouped(group, names).told(f"{found} ({_users(users)} in all{reason}): taken as undisclosed")


def _users(n: int) -> str:
    return count_of(n, "user")


def check_size(joint: Coded, columns: Sequence[Coded]) -> Coded:
    """Refuse a joint attribute with too many rare combinations; one attribute with too many rare values is told."""
    size, rare = len(joint.values), int(np.count_nonzero(joint.counts < LEARNABLE))
    if size <= FEW_VALUES or rare <= MOST_RARE * size:
        return joint
    if len(columns) == 1:
        return joint.told(
            f"{rare:,} of {size:,} values of {joint.name!r} have fewer than {LEARNABLE} users, of which little can be "
            f"learnt; the option min_users merges them"
        )
    sizes = " × ".join(f"{len(column.values):,}" for column in columns)
    raise DataError(
        f"{joint.name}: {sizes} values give {size:,} combinations, {rare:,} of them with fewer than {LEARNABLE} users, "
        f"of which little can be learnt; merge those with the option min_users, cut numbers into fewer bins with the "
        f"option bins, or take one attribute after the other: release for the first, then protect that release for "
        f"the next"
    )
