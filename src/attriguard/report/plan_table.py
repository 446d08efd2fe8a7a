"""A plan as a table: every edit and its probability."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attriguard.data.files import written_beside
from attriguard.data.tables.suffixes import check_plan_suffix
from attriguard.errors import DataError
from attriguard.guard.core import Guard
from attriguard.plan import Plan


def write_plan(
    plan: Plan, guard: Guard, path: Path, item_names: Mapping[Any, str] | NDArray[Any] | None = None
) -> None:
    """One row an edit: user, value, probability, cost, item, before, after (raw ratings, null where there is none).

    With ``item_names`` (item id → title, or a title for each of the guard's items) there is a column "title". A value
    without edits has one row without an item. Where the guard conceals, "value" says how many changes are made
    instead: "no change", "1 change" and so on. The table shows what the guard could have done to each user, so it is
    for the publisher and not for the public: only its owner can read the file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    check_plan_suffix(path)
    edits, m = plan.edits, plan.edits.m
    lengths = np.diff(edits.indptr)
    rows = np.repeat(np.arange(lengths.size), np.maximum(lengths, 1))  # the (user, value) pair of every row
    filled = np.repeat(lengths > 0, np.maximum(lengths, 1))
    user, value = rows // m, rows % m
    columns = np.zeros(rows.size, dtype=np.int64)
    after = np.zeros(rows.size, dtype=np.float32)
    columns[filled], after[filled] = edits.items, edits.values
    before = np.zeros(rows.size, dtype=np.float32)
    before[filled] = np.asarray(plan.X[user[filled], columns[filled]]).ravel()
    names = pa.array(list(plan.names(guard.values_)))
    items = guard.items_ if guard.items_ is not None else np.arange(guard.n_features_in_)
    scale = guard.scale

    def raw(entry: np.ndarray) -> pa.Array:
        shown = entry.astype(np.float64) if scale is None else scale.from_unit(entry)
        return pa.array(shown, mask=~filled | (entry == 0))

    table = pa.table(
        {
            "user": pa.array(plan.users[user].tolist()),
            "value": pa.DictionaryArray.from_arrays(pa.array(value.astype(np.int32)), names),
            "probability": plan.probabilities[user, value],
            "cost": pa.array(edits.cost[user, value], mask=~edits.success[user, value]),
            "reached": edits.success[user, value],
            "beyond_policy": edits.extended[user, value],
            "item": _masked(items[columns], filled),
            **({} if item_names is None else {"title": _masked(_titles(items, item_names)[columns], filled)}),
            "before": raw(before),
            "after": raw(after),
        }
    )
    with written_beside(path, private=True) as file:
        pq.write_table(table, file)


def _masked(items: np.ndarray, filled: np.ndarray) -> object:
    import pyarrow as pa

    return pa.array([item if there else None for item, there in zip(items.tolist(), filled, strict=True)])


def _titles(items: NDArray[Any], names: Mapping[Any, str] | NDArray[Any]) -> NDArray[Any]:
    """A title for every item, its id where there is none; 7 and "7" are the same id."""
    if not isinstance(names, Mapping):
        if len(names) != len(items):
            raise DataError(f"item_names must have one name for each of the {len(items):,} items, got {len(names):,}")
        return np.asarray(names, dtype=object)
    known = {str(item): title for item, title in names.items()}
    return np.array([known.get(str(item), str(item)) for item in items.tolist()], dtype=object)
