"""``ag.learn``: ratings and attributes in, a fitted guard out."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attriguard._checks import check_rng
from attriguard.data.public_data import PublicData
from attriguard.data.split import stratified_test_mask
from attriguard.goals.price import EVERYONE
from attriguard.guard import AttriGuard
from attriguard.operations.inputs import DataLike, as_data, make_guard, split_options
from attriguard.progress import Progress, ProgressLike

# The share of the users who settle a price and are not learnt from, and how many are enough.
SETTLING, ENOUGH = 0.1, 2_000


def learn(
    data: DataLike,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    random_state: Any = None,
    progress: ProgressLike = None,
    **options: Any,
) -> AttriGuard:
    """Learn a guard from users who disclose the attribute.

    Parameters
    ----------
    data
        ``PublicData``, or ratings as a path, an Arrow table or a frame; then ``attributes`` and ``attribute`` name
        the table and the column with the attribute (see `read_ratings` for all options of reading).
    checkpoint
        A file where the training of a network stands after each epoch; the same call goes on from there.
    random_state
        Seeds the learning; None: the operating system's entropy.
    progress
        Where to report progress (see `Progress`).
    **options
        Options of `read_ratings` and of `AttriGuard` (``goal``, ``classifier``, ``policy``, ``budget`` …).

    Returns
    -------
    AttriGuard
        The fitted guard; ``guard.save(path)`` writes it. ``metadata_`` has the attribute's name and the items' titles.

    Examples
    --------
    >>> import attriguard as ag
    >>> data = ag.load_dataset("twin", n_users=300, n_items=50, n_values=2)
    >>> guard = ag.learn(data, goal="mislead", budget=2.0)
    >>> guard.values_
    ('New York', 'London')
    """
    reading, own = split_options(options)
    users = as_data(data, reading)
    guard = make_guard(users, own, random_state)
    if guard.budget_over == EVERYONE:
        _fit_and_settle(guard, users, checkpoint, random_state, progress)
    else:
        _fit(guard, users, checkpoint, progress)
    # On a scale of 0 and 1 a table to be protected is read as this one was: by its ratings, or every row as a like.
    rated = users.source is not None and users.source.rating is not None
    guard.metadata_.update(attribute=users.attribute, rated=rated)
    if users.item_names is not None:  # what people call the items, so that a person's export can be matched to them
        guard.metadata_["titles"] = [str(name) for name in users.item_names]
    return guard


def _fit(guard: AttriGuard, users: PublicData, checkpoint: Any, progress: ProgressLike) -> AttriGuard:
    return guard.fit(
        users.X, users.y, items=users.items, values=users.values, users=users.users, checkpoint=checkpoint,
        progress=progress,
    )  # fmt: skip


def _fit_and_settle(
    guard: AttriGuard, users: PublicData, checkpoint: Any, random_state: Any, progress: ProgressLike
) -> None:
    """Learn from most users, and settle the price of a change on the others."""
    others = _for_the_price(users, random_state)
    fitting, settling = Progress.of(progress).parts(4, 1)
    _fit(guard, users.take(~others), checkpoint, fitting).settle(users.X[others], progress=settling)


def _for_the_price(users: PublicData, random_state: Any) -> NDArray[np.bool_]:
    """Users to settle a price on, who are not learnt from: those who do not disclose, or else some of the others."""
    hidden = ~users.disclosed
    if hidden.sum() >= ENOUGH:
        return np.asarray(hidden & (np.cumsum(hidden) <= ENOUGH))
    known = np.flatnonzero(users.disclosed)
    share = min(SETTLING, ENOUGH / known.size)
    held = np.zeros(users.n_users, dtype=np.bool_)
    held[known[stratified_test_mask(users.y[known], share, check_rng(random_state))]] = True
    return held
