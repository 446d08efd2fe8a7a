"""The protocol for attackers who know the guard: three groups of users that share nobody."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attriguard.data.public_data import PublicData
from attriguard.data.split import stratified_test_mask
from attriguard.errors import DataError
from attriguard.evaluation.job import check_training


class Groups(NamedTuple):
    """Three groups of users, all of whom disclose the attribute."""

    guard_users: PublicData  # the guard is learnt from them
    attacker_users: PublicData  # the attacker protects them with that guard, and learns
    test_users: PublicData  # protected by that guard, and attacked


def three_groups(data: PublicData, seed: int | None = 0) -> Groups:
    """Halves of the training users, stratified by the attribute, and the test users; all of them disclose it.

    The protocol decides the result. A guard looks different on the users that it was learnt from, so an attacker who
    trains on those users learns the wrong thing. So does an attacker who simulates a guard of his own. Data that comes
    with test users keeps them; otherwise a tenth of the users are drawn.
    """
    train, test = data.split(random_state=None if data.test_mask is not None else seed)
    return halves(train.take(train.disclosed), test.take(test.disclosed), seed)


def halves(train: PublicData, test: PublicData, seed: int | None = 0) -> Groups:
    """The three groups for a split that is there already."""
    check_training((train.X, train.y))
    mask = stratified_test_mask(train.y, 0.5, seed)
    groups = Groups(train.take(~mask), train.take(mask), test)
    # An odd user more or less of a rare value may fall to either side.
    if any(np.unique(group.y).size < np.unique(train.y).size for group in groups[:2]):
        raise DataError(
            f"some values of {train.attribute!r} have too few training users for two halves; merge or drop them"
        )
    return groups
