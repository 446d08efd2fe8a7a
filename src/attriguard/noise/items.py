"""From items as people name them to columns: items that must not change, and items that may be added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attriguard.data.scale import RatingScale
from attriguard.errors import ParameterError
from attriguard.noise.constraints import Constraints, make_constraints
from attriguard.noise.policy import check_policy


def item_columns(wanted: Iterable[Any], n_items: int, items: NDArray[Any] | None, *, name: str) -> NDArray[np.int64]:
    """Columns of items named by id (where ids are known; 7 and "7" are the same item) or by column number."""
    if isinstance(wanted, (str, bytes)):
        raise ParameterError(f"{name} must be a list of items, got the text {wanted!r}")
    # fit and every plan read the parameter again, so an iterator, which can be read only once, is refused.
    if not isinstance(wanted, Iterable) or isinstance(wanted, Iterator):
        raise ParameterError(f"{name} must be a list of items, got {type(wanted).__name__}")
    names = list(wanted)
    if items is None:
        if not all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) and 0 <= n < n_items for n in names):
            raise ParameterError(
                f"{name} must hold column numbers between 0 and {n_items - 1} (fit was given no items)"
            )
        return np.array(names, dtype=np.int64)
    column = {str(item): j for j, item in enumerate(items.tolist())}
    missing = [n for n in names if str(n) not in column]
    if missing:
        raise ParameterError(
            f"{name} holds {len(missing)} items that the data does not have, the first is {missing[0]!r}"
        )
    return np.array([column[str(n)] for n in names], dtype=np.int64)


def locked_columns(locked: Any, n_items: int, items: NDArray[Any] | None) -> NDArray[np.int64] | None:
    """Columns of the items that must not change; None where nothing is locked."""
    return None if locked is None else item_columns(locked, n_items, items, name="locked")


def additions_array(
    additions: Any, n_items: int, items: NDArray[Any] | None, scale: RatingScale | None
) -> NDArray[np.float64] | None:
    """(items,) what an added entry gets, 0 where it must not be added; None: anything, at the top of the scale."""
    if additions is None:
        return None
    columns = item_columns(additions, n_items, items, name="additions")
    entry = np.zeros(n_items)
    if not isinstance(additions, Mapping):
        entry[columns] = 1.0
        return entry
    try:
        ratings = np.array([float(rating) for rating in additions.values()])
    except (TypeError, ValueError):
        raise ParameterError("additions must map items to ratings, which are numbers") from None
    if scale is not None:
        if scale.off_scale(ratings).any():
            raise ParameterError(f"additions must hold ratings on the scale, {scale}")
        ratings = scale.to_unit(ratings).astype(np.float64)
    if not ((ratings > 0) & (ratings <= 1)).all():
        raise ParameterError("additions must hold entries in (0, 1]; name the scale to give raw ratings")
    entry[columns] = ratings
    return entry


@dataclass(frozen=True, eq=False)
class ItemNames:
    """The columns of the data, and their ids where these are known."""

    n_items: int
    ids: NDArray[Any] | None = None


def constraints_for(
    items: ItemNames, scale: RatingScale | None, *, policy: Any, step: Any, maxiter: Any, locked: Any, additions: Any
) -> Constraints:
    """What a user may say about the noise, checked: with items by name, and ratings on the scale."""
    return make_constraints(
        check_policy(policy),
        items.n_items,
        step=step,
        levels=0 if scale is None else scale.levels,
        maxiter=maxiter,
        locked=locked_columns(locked, items.n_items, items.ids),
        additions=additions_array(additions, items.n_items, items.ids, scale),
    )
