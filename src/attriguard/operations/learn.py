"""``ag.learn``: ratings and attributes in, a fitted guard out."""

from __future__ import annotations

import os
from typing import Any

from attriguard.guard import AttriGuard
from attriguard.operations.inputs import DataLike, as_data, make_guard, split_options
from attriguard.progress import ProgressLike


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
    guard.fit(
        users.X, users.y, items=users.items, values=users.values, users=users.users, checkpoint=checkpoint,
        progress=progress,
    )  # fmt: skip
    # On a scale of 0 and 1 a table to be protected is read as this one was: by its ratings, or every row as a like.
    rated = users.source is not None and users.source.rating is not None
    guard.metadata_.update(attribute=users.attribute, rated=rated)
    if users.item_names is not None:  # what people call the items, so that a person's export can be matched to them
        guard.metadata_["titles"] = [str(name) for name in users.item_names]
    return guard
