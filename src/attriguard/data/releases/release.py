"""Releases: ratings that were changed, given back in the table that they came in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_matrix
from attriguard.data.public_data import PublicData
from attriguard.data.releases.chance import Chance, Draws
from attriguard.data.releases.changes import ReleaseSummary, find_changes
from attriguard.data.releases.fill import Cells, fill_new_rows
from attriguard.data.releases.in_order import are_plain, release_in_order
from attriguard.data.releases.orders import Rows, completed, find_order, table_rows
from attriguard.data.releases.places import order_note, place_rows
from attriguard.data.releases.private import refuse_attribute
from attriguard.data.releases.rewrite import rewrite
from attriguard.data.releases.row_ids import row_ids
from attriguard.data.releases.survey import Survey, survey_table
from attriguard.data.releases.told import Earlier, with_told_cells
from attriguard.data.tables.arrays import are_all
from attriguard.data.tables.cells import Column
from attriguard.data.tables.csv_text import CsvStyle, render_csv
from attriguard.data.tables.ids import lookup
from attriguard.data.tables.source import SourceTable, plain_source
from attriguard.data.tables.suffixes import PARQUET_SUFFIXES, check_output_suffix
from attriguard.data.tables.table import write_table
from attriguard.errors import DataError


def align_items(data: PublicData, items: ArrayLike) -> tuple[csr_array, NDArray[Any]]:
    """``data.X`` on the columns of another catalogue, and the ids in the data that the catalogue lacks."""
    catalogue = np.asarray(items)
    column = lookup(data.items, catalogue)
    X = data.X
    if column.size == catalogue.size and are_all(column):  # the very items, in that order
        return X, data.items[:0]
    target, shape = column.astype(np.int32)[X.indices], (data.n_users, catalogue.size)
    if (column >= 0).all():
        aligned = csr_array((X.data, target, X.indptr), shape=shape)
    else:
        known = target >= 0
        ends = np.concatenate(([0], np.cumsum(known)))
        aligned = csr_array((X.data[known], target[known], ends[X.indptr]), shape=shape)
    found = column[column >= 0]
    if (found[1:] > found[:-1]).all():  # both catalogues have the items in the same order
        aligned.has_sorted_indices = aligned.has_canonical_format = True
    else:
        aligned = aligned.copy()  # what it shares with the data stays as it is
        aligned.sort_indices()
    return check_matrix(aligned), data.items[column < 0]


@dataclass(frozen=True, eq=False)
class Release:
    """A released table, ready to be written.

    Parameters
    ----------
    table
        The table that the data came in, with the released ratings.
    summary
        How many of its rows were kept, changed, removed and added.
    csv
        How the source's CSV file was written; None if the data came from Parquet or a frame.
    types
        For the text of a CSV file: the types that ids and ratings get in a Parquet file, by the position of the column.
        A column is cast to its types one after another.
    filled
        For each other column, how it was filled in new rows.
    telltale
        The other columns that are empty in some new rows, which tells these from the others.
    survey
        What the table says about its columns. ``make_release`` of the next block takes it.
    order_note
        What the publisher is told about the order of rows, where it is not the table's.
    added
        Which rows of the table are new. Keep it to yourself.
    added_users, added_columns
        The user and the item (a column of what was released) of each of them, in the order of the rows.
    """

    table: pa.Table = field(repr=False)
    summary: ReleaseSummary
    csv: CsvStyle | None = None
    types: Mapping[int, tuple[pa.DataType, ...]] = field(default_factory=dict)
    filled: Mapping[str, str] = field(default_factory=dict)
    telltale: tuple[str, ...] = ()
    survey: Survey | None = field(default=None, repr=False)
    order_note: str = ""
    added: NDArray[np.bool_] | None = field(default=None, repr=False)
    added_users: NDArray[np.int64] | None = field(default=None, repr=False)
    added_columns: NDArray[np.int64] | None = field(default=None, repr=False)

    def write(self, path: str | os.PathLike[str], whole: Callable[[Path], None] | None = None) -> None:
        """Write the table as .csv, .csv.gz, .tsv or .parquet; a CSV file is written as the source was.

        ``whole`` is called with the file once it is on the disk, before it gets its name.
        """
        target = Path(path)
        typed = check_output_suffix(target) in PARQUET_SUFFIXES
        write_table(self._typed() if typed else self.table, target, self.csv, whole)

    def write_csv(self, file: IO[bytes]) -> None:
        """Write the table as CSV into an open file, such as standard output, in the style of the source."""
        file.writelines(render_csv(self.table, self.csv or CsvStyle()))

    def _typed(self) -> pa.Table:
        table = self.table
        for k, types in self.types.items():
            # An id that is new to the table may be no number: then the column stays text.
            with suppress(pa.ArrowInvalid):
                numbers = reduce(pa.ChunkedArray.cast, types, pc.utf8_trim_whitespace(table.column(k)))
                table = table.set_column(k, table.column_names[k], numbers)
        return table


def join_releases(releases: Iterable[Release]) -> Release:
    """The releases of consecutive parts of one table as the release of the whole."""
    parts = list(releases)
    if not parts:
        raise DataError("at least one release is needed to join, got none")
    # A column has a type of its own in a Parquet file only if every part can be read as that type.
    types = {k: kind for k, kind in parts[0].types.items() if all(part.types.get(k) == kind for part in parts)}
    tables = pa.concat_tables([part.table for part in parts], promote_options="default")
    telltale = tuple(dict.fromkeys(name for part in parts for name in part.telltale))
    filled = {name: how for part in parts for name, how in part.filled.items() if name not in telltale}
    summary = reduce(add, (part.summary for part in parts))
    note = next((part.order_note for part in parts if part.order_note), "")
    added = np.concatenate([part.added for part in parts]) if all(part.added is not None for part in parts) else None
    return Release(tables, summary, parts[0].csv, types, filled, telltale, parts[-1].survey, note, added)


def make_release(
    data: PublicData,
    released: csr_array,
    *,
    items: ArrayLike | None = None,
    random_state: int | np.random.Generator | None = None,
    key: bytes | str | None = None,
    survey: Survey | None = None,
    order: str = "keep",
    earlier: Earlier | None = None,
) -> Release:
    """The table that the data came in, with the released ratings, and the counts of its rows.

    Parameters
    ----------
    data, released
        The data as it was read, and what is released of it: users × items, in [0, 1].
    items
        The items of the columns of ``released``; by default those of the data. Rows of other items stay untouched.
    random_state
        Repeats the random cells of new rows.
    key
        A secret that decides the cells of new rows in place of ``random_state``: they then depend on the key,
        the user, the item, the user's own rows and the survey. If a table's rows are grouped by user, the releases of
        its parts are the parts of its release, provided that each part has complete users, is read on the same
        ``scale``, and gets the same survey.
    survey
        What the whole table says about its columns and its order: ``survey_data`` of the whole, or the ``survey`` of
        the release of the block before. None: the data is the whole table.
    order
        Of the released rows: "keep", the table's own where its columns tell it, and else by user and item
        (``order_note`` of the result says so); "sorted", by user and item; "shuffled".
    earlier
        Of a table that was released before: new rows that came before keep their cells.

    Notes
    -----
    Neither the place of a new row nor its other columns tell that it is new, as far as this can be done: ``places``,
    ``fill`` and ``row_ids`` say how. The result names the columns that stayed empty (``telltale``).
    """
    catalogue = data.items if items is None else np.asarray(items)
    matrix = check_matrix(released, name="released", n_items=catalogue.size)
    if matrix.shape[0] != data.n_users:
        raise DataError(f"released must have {data.n_users:,} rows, one a user, but has {matrix.shape[0]:,}")
    source = (data.source or plain_source(data)).compact()
    refuse_attribute(data, source, data.attribute)
    given = data, source, (matrix, catalogue), Chance.of(random_state, key)
    found, rows = (survey, None) if survey is not None else _surveyed(data, source)
    quick = _written_in_order(*given, (found, rows), order)
    return quick or _release(*given, (found, earlier or Earlier()), order, part=survey is not None)


def _written_in_order(
    data: PublicData,
    source: SourceTable,
    released: tuple[csr_array, NDArray[Any]],
    chance: Chance,
    known: tuple[Survey, Rows | None],
    wanted: str,
) -> Release | None:
    """The release of a table of numbers that is to be sorted, from the released matrix; None where that cannot be."""
    if wanted == "shuffled" or not are_plain(data, data.source or source, released[1]):
        return None
    survey, rows = known
    made = release_in_order(data, source, released, survey, wanted)
    if made is None:
        return None
    added = (made.new, made.user[made.new], released[0].indices[made.new].astype(np.int64))
    if chance.key is None:  # a generator goes on as it always did
        chance.draws((data.users, added[1]), (released[1], added[2]))
    note = "" if rows is None or wanted != "keep" else order_note(rows, survey.order)
    after = replace(survey, settled=survey.settled or wanted == "keep", next_number={})
    return Release(made.table, made.summary, None, {}, {}, (), after, note, *added)


def survey_data(data: PublicData) -> Survey:
    """What the table that the data came in says about its columns and the order of its rows."""
    return replace(_surveyed(data, (data.source or plain_source(data)).compact())[0], settled=True)


def _surveyed(data: PublicData, source: SourceTable) -> tuple[Survey, Rows]:
    """What the whole table says, and its rows; it stays in its order unless something is added."""
    survey = survey_table(source, data.items)
    rows = table_rows(data, source, survey)
    return replace(survey, order=completed(rows, find_order(rows, survey)), settled=False), rows


def _release(
    data: PublicData,
    source: SourceTable,
    released: tuple[csr_array, NDArray[Any]],
    chance: Chance,
    known: tuple[Survey, Earlier],
    wanted: str,
    *,
    part: bool,
) -> Release:
    """Find the changes, fill the new rows, order and number the rows, and put the table together.

    ``part``: the survey is that of a table of which this is a block.
    """
    (matrix, items), (survey, earlier) = released, known
    changes = find_changes(data, source, matrix, lookup(data.items, items), earlier.away)
    if part and not survey.complete:
        survey = survey.with_items(source, data.items)
    draws = Draws(np.empty(0, dtype=np.uint64))
    if survey.columns or chance.key is None:  # a generator goes on as it always did; a key has nothing to draw
        draws = chance.draws((data.users, changes.added_users), (items, changes.added_columns))
    filled = fill_new_rows(data, source, changes, items, survey, draws, earlier.recent)
    for each in earlier.rows:
        filled = with_told_cells(filled, source, changes, survey, each, items.size)
    rows = Rows(data, source, items, changes, filled)
    order, survey, note = place_rows(rows, survey, chance, wanted)
    others: dict[int, Cells | Column] = dict(filled.cells)
    how, telltale, next_number = dict(filled.how), list(filled.telltale), {}
    for k in (k for k, kind in survey.columns.items() if kind.kind == "number"):
        name = source.table.column_names[k]
        column = row_ids(rows, k, survey, order, (chance, draws), part=part)
        if column is None:
            telltale.append(name)
            continue
        others[k], next_number[k] = column
        how[name] = "numbered anew"
    table = rewrite(data, source, changes, items, order, others)
    if not changes.added_users.size:
        how, telltale = {}, []
    types = {} if source.csv is None else _types(source, data)
    after = replace(survey, next_number=next_number)
    n_old = np.count_nonzero(~changes.removed)
    new = order >= n_old
    of_row = order[new] - n_old
    added = (new, changes.added_users[of_row], changes.added_columns[of_row])
    return Release(table, changes.summary, source.csv, types, how, tuple(telltale), after, note, *added)


def release_table(
    data: PublicData,
    released: csr_array,
    *,
    items: ArrayLike | None = None,
    random_state: int | np.random.Generator | None = None,
    key: bytes | str | None = None,
) -> pa.Table:
    """The table of ``make_release``, without the counts."""
    return make_release(data, released, items=items, random_state=random_state, key=key).table


def write_release(
    data: PublicData,
    released: csr_array,
    path: str | os.PathLike[str],
    *,
    items: ArrayLike | None = None,
    random_state: int | np.random.Generator | None = None,
    key: bytes | str | None = None,
) -> ReleaseSummary:
    """Write a release in the table that the data came in, and return how many rows were kept, changed and so on.

    The file is .csv, .csv.gz, .tsv or .parquet, by its name. The other parameters are those of ``make_release``.
    """
    check_output_suffix(Path(path))
    release = make_release(data, released, items=items, random_state=random_state, key=key)
    release.write(path)
    return release.summary


def _types(source: SourceTable, data: PublicData) -> dict[int, tuple[pa.DataType, ...]]:
    """A CSV file's columns in Parquet: ids as they are in the data, ratings as numbers."""
    roles = {source.user: data.users, source.item: data.items}
    types: dict[int, tuple[pa.DataType, ...]] = {k: (pa.int64(),) for k, ids in roles.items() if ids.dtype.kind in "iu"}
    if source.rating is not None:
        whole = all(float(number).is_integer() for number in (data.scale.lowest, data.scale.step))
        # A whole rating may be written with decimals, which text that becomes a whole number must not have.
        types[source.rating] = (pa.float64(), pa.int64()) if whole else (pa.float64(),)
    return types
