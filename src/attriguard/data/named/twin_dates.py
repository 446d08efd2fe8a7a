"""When the users of the twin rated: a day of one year for each rating, which follows from the ids and a seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from attriguard.data.public_data import PublicData
from attriguard.data.tables.source import plain_source

DAYS = 365
FIRST_DAY = np.datetime64("2025-01-01")
DATE = "date"
# Users come at any time in this share of the year, and rate at any time from then on.
COMING = 0.9


def twin_days(data: PublicData, seed: int = 0) -> NDArray[np.int64]:
    """The day of each entry of ``X``, 0 to 364; some of the users, or of the items, have the same days as all."""
    user = np.repeat(data.users.astype(np.uint64), np.diff(data.X.indptr))
    item = data.items.astype(np.uint64)[data.X.indices]
    begin = COMING * _uniform(user + (np.uint64(2 * seed) << np.uint64(40)))
    share = _uniform((user << np.uint64(20)) + item + (np.uint64(2 * seed + 1) << np.uint64(40)))
    return np.floor(DAYS * (begin + (1.0 - begin) * share)).astype(np.int64)


def with_dates(data: PublicData, seed: int = 0) -> PublicData:
    """The same in a table with a column of dates."""
    source, days = plain_source(data), FIRST_DAY + twin_days(data, seed).astype("timedelta64[D]")
    table = source.table.append_column(DATE, pa.array(days))
    return replace(data, source=replace(source, table=table))


def _uniform(numbers: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Numbers in [0, 1) that look like chance: the steps of SplitMix64."""
    with np.errstate(over="ignore"):
        z = numbers + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53
