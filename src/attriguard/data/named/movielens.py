"""MovieLens 100K and 1M: ratings of films, with gender, age and occupation."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from attriguard.data.files import read_bytes
from attriguard.data.public_data import PublicData
from attriguard.data.ratings import read_ratings
from attriguard.data.tables.csv_text import read_cells
from attriguard.data.tables.ids import lookup
from attriguard.data.tables.table import InputTable
from attriguard.errors import DataError, ParameterError

ATTRIBUTES = ("gender", "age", "occupation")
# MovieLens 1M's own age bands and the age at which each begins (its files hold 1 for the youngest).
AGE_BANDS = ("Under 18", "18-24", "25-34", "35-44", "45-49", "50-55", "56+")
AGE_STARTS = (18, 25, 35, 45, 50, 56)
# MovieLens 1M numbers its occupations from 0.
OCCUPATIONS = (
    "other", "academic/educator", "artist", "clerical/admin", "college/grad student", "customer service",
    "doctor/health care", "executive/managerial", "farmer", "homemaker", "K-12 student", "lawyer",
    "programmer", "retired", "sales/marketing", "scientist", "self-employed", "technician/engineer",
    "tradesman/craftsman", "unemployed", "writer",
)  # fmt: skip


@dataclass(frozen=True)
class _Layout:
    """The files of one MovieLens data set: their names and the order of their fields."""

    ratings: str
    users: str
    items: str
    separator: bytes
    user_fields: tuple[str, ...]

    @property
    def files(self) -> tuple[str, str, str]:
        """The names of the three files."""
        return self.ratings, self.users, self.items


LAYOUTS = (
    _Layout("u.data", "u.user", "u.item", b"|", ("user", "age", "gender", "occupation", "zip")),
    _Layout("ratings.dat", "users.dat", "movies.dat", b"::", ("user", "gender", "age", "occupation", "zip")),
)


def read_movielens(folder: str | os.PathLike[str], *, attribute: str | Sequence[str] = "gender") -> PublicData:
    """Read the folder of MovieLens 100K (``u.data`` …) or 1M (``ratings.dat`` …) as it was unpacked.

    ``attribute`` is "gender", "age" (in the bands of MovieLens 1M) or "occupation", or several of them for a
    joint attribute. Films are named by their titles in ``item_names``.
    """
    chosen = [attribute] if isinstance(attribute, str) else list(attribute)
    for name in chosen:
        if name not in ATTRIBUTES:
            raise ParameterError(f"unknown MovieLens attribute {name!r}; known: {', '.join(ATTRIBUTES)}")
    base, layout = _find(Path(folder))
    separator = b"\t" if layout.separator == b"|" else layout.separator
    ratings = _read_fields(base / layout.ratings, separator, ("user", "item", "rating", "timestamp"))
    users = _read_fields(base / layout.users, layout.separator, layout.user_fields)
    described = {"user": _whole(users["user"], layout.users, "user")}
    for name in chosen:
        described[name] = _describe(name, users[name], layout)
    data = read_ratings(
        InputTable(
            pa.table({name: _whole(column, layout.ratings, name) for name, column in ratings.items()}), layout.ratings
        ),
        attributes=InputTable(pa.table(described), layout.users),
        attribute=chosen,
        scale=(1, 5, 1),
        unmatched="keep",
        # The data set is known as it is: "none" is an occupation, and rare combinations are as they are.
        missing=(),
        min_users=1,
    )
    return replace(data, item_names=_titles(base / layout.items, layout, data.items))


def _find(folder: Path) -> tuple[Path, _Layout]:
    """The folder, or the one inside it that the archive unpacks to, and which data set it holds."""
    if folder.is_file():
        raise DataError(f"{folder} is a file; unpack the archive and name the folder")
    for base in (folder, folder / "ml-100k", folder / "ml-1m"):
        for layout in LAYOUTS:
            present = [name for name in layout.files if (base / name).is_file()]
            missing = [name for name in layout.files if name not in present]
            if present and missing:
                raise DataError(f"{base} lacks {', '.join(missing)}; unpack the whole archive there")
            if present:
                return base, layout
    raise DataError(
        f"{folder} must hold MovieLens 100K (u.data, u.user, u.item) or 1M (ratings.dat, users.dat, "
        f"movies.dat), but has none of these files; other MovieLens data sets tell nothing about their users"
    )


def _read_fields(path: Path, separator: bytes, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
    """The first fields of a file without a header, as text; Latin-1, as MovieLens is."""
    content = read_bytes(path).decode("latin-1").encode()
    if not content.strip():
        raise DataError(f"{path} is empty; unpack the archive again")
    if len(separator) > 1:
        content, separator = content.replace(separator, b"\t"), b"\t"
    table = read_cells(content, separator.decode(), path.name, quotes=False)
    if table.num_columns < len(names):
        raise DataError(
            f"{path.name} must have {', '.join(names)} in every line, but has {table.num_columns} fields; "
            f"unpack the archive again"
        )
    return dict(zip(names, table.columns, strict=False))


def _whole(column: pa.ChunkedArray, file: str, name: str) -> pa.Array:
    """A field that is a whole number in every line."""
    text = pc.utf8_trim_whitespace(column).combine_chunks()
    good = pc.match_substring_regex(text, "^[0-9]{1,18}$").to_numpy(zero_copy_only=False)
    if not good.all():
        line = int(np.flatnonzero(~good)[0]) + 1
        raise DataError(f"{file}, line {line:,}: the {name} must be a whole number")
    return text.cast(pa.int64())


def _describe(name: str, column: pa.ChunkedArray, layout: _Layout) -> pa.Array:
    """An attribute's values as names."""
    if name == "age":
        band = np.searchsorted(AGE_STARTS, _whole(column, layout.users, "age").to_numpy(), side="right")
        indices = pa.array(band.astype(np.int8))
        return pa.DictionaryArray.from_arrays(indices, pa.array(AGE_BANDS), ordered=True)
    if name == "occupation" and layout.ratings == "ratings.dat":
        codes = _whole(column, layout.users, "occupation").to_numpy()
        if codes.max() >= len(OCCUPATIONS):
            line = int(np.argmax(codes >= len(OCCUPATIONS))) + 1
            raise DataError(f"{layout.users}, line {line:,}: an occupation must be 0 to {len(OCCUPATIONS) - 1}")
        return pa.array(np.array(OCCUPATIONS, dtype=object)[codes])
    return column


def _titles(path: Path, layout: _Layout, items: NDArray[Any]) -> NDArray[Any]:
    """The title of every rated film; a film that the file lacks keeps its number."""
    films = _read_fields(path, layout.separator, ("item", "title"))
    row = lookup(items, _whole(films["item"], layout.items, "film").to_numpy())
    numbers = [f"film {item}" for item in items.tolist()]
    titles = films["title"].to_numpy(zero_copy_only=False)
    return np.where(row < 0, np.array(numbers, dtype=object), titles[row])
