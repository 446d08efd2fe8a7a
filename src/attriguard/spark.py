"""`protect` takes a Spark DataFrame of ratings and gives a protected one, in notebooks and jobs.

It comes with the extra `spark`, and needs Java 17.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os

    from pyspark.sql import DataFrame

    from attriguard.operations.ready import GuardLike

__all__ = ["enter", "protect"]


def protect(
    df: DataFrame,
    guard: GuardLike,
    *,
    key: bytes | str | os.PathLike[str],
    partitions: int | None = None,
    **options: Any,
) -> DataFrame:
    """A protected DataFrame with the columns and types of ``df``. The work is done when its rows are asked for.

    Under the same key and guard a user's release is that of `protect` and `protect_files`, on any number of machines
    and in any retry. Some rows of ``df`` are looked at right away. If it has columns besides users, items and ratings,
    it is also counted, and a sample of it is taken: cache a DataFrame that took long to make.

    Parameters
    ----------
    df
        A row a rating; columns are found by their names, or named with ``user``, ``item`` and ``rating``.
    guard
        A fitted guard, or its file, which only the driver reads: it is broadcast. It must know the scale, and have a
        settled price for a budget of everyone.
    key
        The secret (bytes or text), or the path of a file that holds it. It travels with the guard, in no plan and in no
        task. Executors hold it, so encrypt their traffic and their disks where others share them.
    partitions
        Into how many partitions the users go; by default as Spark's own settings say.
    **options
        Those of `protect_files`: ``budget``, ``locked``, ``most``, ``drop_columns``, ``ledger`` … With a ledger, whose
        folder all machines must see, call `enter` when the rows have been written.
    """
    from attriguard.engines.spark import protect_frame

    return protect_frame(df, guard, key=key, partitions=partitions, **options)


def enter(protected: DataFrame) -> None:
    """Enter a DataFrame that `protect` made with a ledger, after all of its rows have been written.

    Until then, nothing counts as told. Each partition leaves what it tells in the ledger's folder when its last row has
    been taken; a DataFrame of which some partitions were never made is refused.
    """
    from attriguard.engines.spark import enter_frame

    enter_frame(protected)
