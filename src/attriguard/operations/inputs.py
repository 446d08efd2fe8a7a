"""What an operation is given: data in any form, and options that belong to the reading or to the guard."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attriguard.data.public_data import PublicData
from attriguard.data.ratings import read_ratings
from attriguard.data.tables.table import TableLike
from attriguard.errors import DataError, ParameterError
from attriguard.goals.price import EVERYONE
from attriguard.guard.core import Guard

if TYPE_CHECKING:
    from attriguard.guard import AttriGuard

DataLike = PublicData | TableLike
# What is done to a publisher's own table unless he asks for something else: it leaves least to the strongest attacker
# who knows and retrains (docs/findings.md).
SAFEST = {"goal": "conceal", "budget_over": EVERYONE}


def _names(function: Any) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name != "ratings"]


# Options of `read_ratings`, and options of the guard. The scale of the data is the guard's.
READING = _names(read_ratings)
GUARD = [name for name in _names(Guard) if name not in (*READING, "random_state")]


def split_options(options: Mapping[str, Any], *, guard: bool = True) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options for reading a table, and those for the guard; any other is refused."""
    known = [*READING, *GUARD] if guard else READING
    strange = [name for name in options if name not in known]
    if strange:
        raise ParameterError(f"unknown option {strange[0]!r}; known: {', '.join(known)}")
    reading = {name: value for name, value in options.items() if name in READING}
    return reading, {name: value for name, value in options.items() if name in GUARD}


def as_data(data: DataLike, reading: Mapping[str, Any]) -> PublicData:
    """Ratings with the attribute that some users disclose, read if need be."""
    if isinstance(data, PublicData):
        if reading:
            raise ParameterError(
                f"{', '.join(sorted(reading))}: options for reading a table, but the data has been read already"
            )
        return data
    if reading.get("attributes") is None:
        raise DataError("the attribute is missing: name a table with a row a user: attributes=")
    return read_ratings(data, **reading)


def make_guard(data: PublicData, options: Mapping[str, Any], random_state: Any) -> AttriGuard:
    """An unfitted guard for this data."""
    from attriguard.guard import AttriGuard

    return AttriGuard(**options, scale=data.scale, random_state=random_state)
