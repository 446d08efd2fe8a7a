"""A guard made ready for tables and blocks of them. Loads nothing of scikit-learn, so that engines start quickly."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from attriguard.data.blocks import complete_users
from attriguard.data.tables.columns import find_roles
from attriguard.data.tables.csv_text import CsvStyle
from attriguard.data.tables.table import InputTable
from attriguard.errors import ParameterError
from attriguard.guard.core import Guard, read_guard
from attriguard.operations.inputs import READING as ALL_READING
from attriguard.operations.protector import Block, Prepared, Protector, make_protector
from attriguard.operations.wishes import Wishes, first_few
from attriguard.progress import Progress

GuardLike = Guard | str | os.PathLike[str]
# How a table is read; its scale, and whether its rows are likes, are the guard's.
READING = [name for name in ALL_READING if name not in ("scale", "like")]
# The guard's parameters that may still be set when protecting.
CHANGES = ("goal", "policy", "budget", "budget_over", "target", "confidence")


def released_blocks(
    batches: Iterable[pa.RecordBatch | pa.Table],
    protector: Protector,
    chance: np.random.Generator | None = None,
    csv: CsvStyle | None = None,
) -> Iterator[tuple[Prepared, Block]]:
    """Blocks of complete users, each as it came and as it is released; ``csv`` says that cells are those of a file."""
    for table in _blocks(batches, protector, csv):
        if protector.survey is None:
            protector = _plainly_settled(protector, table)
        block = protector.prepare(table)
        yield block, protector.release(block, protector.plan(block, Progress()), chance)


def _plainly_settled(protector: Protector, table: InputTable) -> Protector:
    """Without a sample: there must be no other columns, which a block cannot be asked about."""
    block = protector.prepare(table)
    others = [] if block.data.source is None else block.data.source.other_columns
    if others:
        raise ParameterError(
            f"the batches have other columns than users, items and ratings ({first_few(others)}), which one batch does "
            "not tell enough about; give some rows of the table as sample=, or leave the columns out with drop_columns="
        )
    return protector.settled(block)


def _blocks(
    batches: Iterable[pa.RecordBatch | pa.Table], protector: Protector, csv: CsvStyle | None
) -> Iterator[InputTable]:
    """Tables of complete users; the first batch says which column is the user's."""
    rest = iter(batches)
    first = next(rest, None)
    if first is None:
        return
    named = {name: protector.reading.get(name) for name in ("user", "item", "rating")}
    shown = pa.Table.from_batches([first]) if isinstance(first, pa.RecordBatch) else first
    roles = find_roles(InputTable(shown, "the first batch", csv), **named, like=False)
    for table in complete_users(chain([first], rest), roles.user, trim=csv is not None):
        yield InputTable(table, "the batch", csv)


def protector_for(guard: GuardLike, wishes: Wishes, options: dict[str, Any]) -> Protector:
    """A guard, or its file, with wishes; of ``options``, those of reading and parameters of the guard."""
    strange = [name for name in options if name not in (*READING, *CHANGES)]
    if strange:
        raise ParameterError(f"unknown option {strange[0]!r}; known: {', '.join((*READING, *CHANGES))}")
    if wishes.knows is not None:
        raise ParameterError("knows is for a publisher's own table: with a guard, nobody's value is known")
    return make_protector(
        guard if isinstance(guard, Guard) else read_guard(Guard, guard),
        "the guard" if isinstance(guard, Guard) else str(guard),
        {name: value for name, value in options.items() if name in CHANGES},
        wishes,
        {name: value for name, value in options.items() if name in READING},
    )
