"""``ag.protect``: ratings and a guard in, released ratings out; ``ag.protect_batches``: the same, block by block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from attriguard._checks import check_rng
from attriguard.data.public_data import PublicData
from attriguard.data.tables.person import is_export
from attriguard.data.tables.table import TableLike, read_table
from attriguard.errors import DataError, ParameterError
from attriguard.operations.checking import check_once
from attriguard.operations.inputs import DataLike
from attriguard.operations.memory import Told
from attriguard.operations.own_table import OwnTable
from attriguard.operations.protector import Block, Prepared, Protector
from attriguard.operations.ready import GuardLike, protector_for, released_blocks
from attriguard.operations.released import Released
from attriguard.operations.wishes import Wishes
from attriguard.progress import Progress, ProgressLike


def protect(
    ratings: DataLike,
    guard: GuardLike | None = None,
    *,
    aim: float | None = None,
    aim_auc: float | None = None,
    check: bool = True,
    even_if_worse: bool = False,
    random_state: Any = None,
    progress: ProgressLike = None,
    **options: Any,
) -> Released:
    """Release a protected version of a table of ratings, and attack it before anybody else does.

    Without a guard: a publisher's own table. The values of its users are known (``attributes``, ``attribute``), guards
    are learnt from them, and the release is checked. With a guard: users whose value nobody knows, the paper's setting.

    Parameters
    ----------
    ratings
        ``PublicData``, or a path, an Arrow table or a frame (pandas, polars): a row a rating.
    guard
        A fitted guard, or the file that one was saved to. It is not changed.
    aim, aim_auc
        For an own table: the strongest attacker's accuracy, or AUC, shall be at most this. The cheapest goal and
        budget whose checked release meets it are found; `ReleaseRefusedError` where none does.
    check, even_if_worse
        Whether the release is attacked, where values are known; and whether ``save`` writes it even if it tells more.
    **options
        Fields of `Wishes`: ``key``, ``locked``, ``additions``, ``most``, ``knows``, ``ledger`` …; `read_ratings`'s.
        Without a guard those of `AttriGuard`, with the goal "conceal" and a budget of everyone unless others are named;
        with one ``goal``, ``policy``, ``budget``, ``budget_over``, ``target`` and ``confidence`` other than its own.

    Examples
    --------
    >>> import attriguard as ag
    >>> data = ag.load_dataset("twin", n_users=300, n_items=50, n_values=2)
    >>> released = ag.protect(data, budget=2.0, key=b"0123456789abcdef")
    >>> released.check.worse
    False
    """
    wishes = Wishes.of(options, random_state)
    chance, work = _chance(random_state), Progress.of(progress)
    if guard is None:
        released = OwnTable.of(ratings, wishes, options, chance).protect(aim, aim_auc, check, work)
    elif aim is None and aim_auc is None:
        released = _with_guard(ratings, protector_for(guard, wishes, options), chance, check, work)
    else:
        raise ParameterError("an aim is for a publisher's own table: leave out the guard, and guards are learnt for it")
    return replace(released, even_if_worse=even_if_worse)


def _chance(random_state: Any) -> np.random.Generator | None:
    """What draws: nothing but the key, unless there is a random state in its place."""
    return None if random_state is None else check_rng(random_state)


def _with_guard(
    ratings: DataLike, protector: Protector, chance: np.random.Generator | None, check: bool, progress: Progress
) -> Released:
    """Users whose value nobody knows; where some are known all the same, the release is checked on them."""
    if is_export(ratings):
        raise DataError(f"{ratings} is one person's export; see what to change in it with: attriguard me {ratings}")
    given = ratings if isinstance(ratings, PublicData) else read_table(ratings, "the ratings table")
    planning, checking = progress.parts(1, 2)
    block = protector.protect(given, chance, planning)
    seed = protector.wishes.seed(chance, protector.attribute, "check")
    found = check_once(block, seed, checking) if check and block.data.disclosed.any() else None
    goal = protector.planner.goal.name
    return Released(block, goal, protector.guard, found, entry=protector.entry(block))


def protect_batches(
    batches: Iterable[pa.RecordBatch],
    guard: GuardLike,
    *,
    sample: TableLike | None = None,
    random_state: Any = None,
    **options: Any,
) -> Iterator[pa.RecordBatch]:
    """`protect` for Arrow record batches whose rows are grouped by user, block by block.

    A user who is cut by a batch's end is carried over. So memory holds one batch, the largest user, and a number for
    every user, by which a user who comes back is found. Under a key a user's release depends on the user, the key, the
    guard and the sample alone, not on how the rows were divided, nor on their order. With a ledger, the release is
    entered when the last batch has been given out.

    Parameters
    ----------
    batches
        Record batches; they are asked for one by one, after the parameters have been checked.
    guard
        A fitted guard, or its file. It must know the scale, which a batch does not show; a budget of everyone must have
        a price (``guard.settle``).
    sample
        Rows of the table by which its other columns (times, titles, devices) are judged, the same for all batches:
        complete users, and some rows of every item. A table of users, items and ratings needs none.
    **options
        Those of `protect`.
    """
    wishes = Wishes.of(options, random_state)
    protector = protector_for(guard, wishes, options).for_blocks()
    if sample is not None:
        protector = protector.settled(protector.prepare(read_table(sample, "the sample")))
    return _batches(released_blocks(batches, protector, _chance(random_state)), protector)


def _batches(blocks: Iterable[tuple[Prepared, Block]], protector: Protector) -> Iterator[pa.RecordBatch]:
    """The released rows; when the last are taken, what was told is entered into the ledger, if there is one."""
    told: list[Told] = []
    for _, made in blocks:
        if made.told is not None:
            told.append(made.told.bare)
        yield from made.release.table.to_batches()
    entry = protector.entry_of(told) if told else None
    if entry is not None:
        entry.write(lambda _: None)
