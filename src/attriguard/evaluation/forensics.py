"""A red team for released tables: which rows were added, judged from the table alone, or from two releases of it.

Every *clue* gives each row a number, higher where the row looks more like an added one: it breaks an order that the
others keep, its row id or its time is odd, a cell is empty or written in another way, its rating is not what the item
or the user usually gets. `suspicion` puts them together: it adds up, over all clues, how rare it is to look as
suspicious as the row does. Nothing is learnt, so no row need be known as added; whoever knows measures with `auc`.

Which item a row is about is no clue here: that is what attackers who know the guard look at (``attacks.detector``).
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.stats import rankdata

from attriguard.data.public_data import PublicData
from attriguard.data.releases.release import Release
from attriguard.data.releases.times import time_format
from attriguard.data.tables.arrays import plain_array
from attriguard.data.tables.source import plain_source

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Clues = dict[str, Floats]
# What this share of rows (or of neighbours, for an order) does is the rule, and the others break it.
RULE = 0.75
NEARLY_ALL = 0.9
MOST_SHAPES = 20
SAMPLE = 2_000
TOGETHER = "all clues together"


@dataclass(frozen=True)
class Forensics:
    """How well the added rows of a release can be told from the others: an AUC, 0.5 is guessing.

    ``margin`` is half the width of its 95 % interval. ``by`` is the clue that tells best, or all of them together;
    ``clues`` has the AUC of each. A clue tells as much if its contrary is true of added rows.
    """

    auc: float
    margin: float
    by: str
    clues: dict[str, float]
    added: int


def added_rows(data: PublicData, release: Release) -> Forensics | None:
    """How well the rows that a release added can be told from the others, judged from its table alone."""
    if release.added is None or not release.summary.added:
        return None
    source, names = data.source or plain_source(data), release.table.column_names
    rating = None if source.rating is None else names[source.rating]
    return examine(release.table, release.added, user=names[source.user], item=names[source.item], rating=rating)


def examine(table: pa.Table, added: Flags, *, user: str, item: str, rating: str | None = None) -> Forensics | None:
    """How well each clue tells the rows that were ``added``; None if no row was, or every row."""
    if not added.any() or added.all():
        return None
    found = clues(table, user=user, item=item, rating=rating)
    aucs = {name: auc(scores, added) for name, scores in found.items()}
    aucs[TOGETHER] = auc(combined(found, table.num_rows), added)
    best = max(aucs, key=lambda name: abs(aucs[name] - 0.5))
    value, n_added = abs(aucs[best] - 0.5) + 0.5, int(np.count_nonzero(added))
    by = best if aucs[best] >= 0.5 else f"the contrary of: {best}"
    return Forensics(value, _margin(value, n_added, added.size - n_added), by, aucs, n_added)


def suspicion(
    table: pa.Table, *, user: str, item: str, rating: str | None = None, other: pa.Table | None = None
) -> Floats:
    """A number for each row: the higher, the more likely the row was added. ``other``: another release of the table."""
    found = clues(table, user=user, item=item, rating=rating)
    if other is not None:
        found |= difference(table, other, user=user, item=item)
    return combined(found, table.num_rows)


def suspects(table: pa.Table, *, user: str, item: str, rating: str | None = None) -> Flags:
    """The rows that an attacker would drop: they break a rule that nearly all rows keep.

    A clue on which rows differ by degrees, such as how high a rating is, makes no row a suspect.
    """
    found = np.zeros(table.num_rows, dtype=np.bool_)
    for scores in clues(table, user=user, item=item, rating=rating).values():
        values, counts = np.unique(scores, return_counts=True)
        if counts.max() >= NEARLY_ALL * scores.size:
            found |= scores > values[counts.argmax()]
    return found


def combined(found: Clues, n_rows: int) -> Floats:
    """Fisher's sum: over all clues, minus the logarithm of the share of rows that are at least as suspicious."""
    total = np.zeros(n_rows)
    for scores in found.values():
        total -= np.log((n_rows + 1 - rankdata(scores, method="min")) / n_rows)
    return total


def auc(scores: Floats, added: Flags) -> float:
    """The chance that an added row has a higher score than another row; equal scores count half."""
    n_added = int(np.count_nonzero(added))
    ranks = rankdata(scores)[added].sum()
    return float((ranks - n_added * (n_added + 1) / 2) / (n_added * (added.size - n_added)))


def clues(table: pa.Table, *, user: str, item: str, rating: str | None = None) -> Clues:
    """Every clue that the table gives, by what it says of a suspicious row; clues on which all rows agree are left out.

    Parameters
    ----------
    table
        A released table.
    user, item, rating
        The names of its columns.
    """
    seen = _Table(table, user, item, rating)
    found = {
        **_order_clues(seen),
        **_id_clues(seen),
        **_time_clues(seen),
        **_rating_clues(seen),
        **_cell_clues(seen),
    }
    return {name: scores.astype(np.float64) for name, scores in found.items() if scores.size and np.ptp(scores) > 0}


def difference(table: pa.Table, other: pa.Table, *, user: str, item: str) -> Clues:
    """What another release says about each row: it is not there, it stands elsewhere, or its cells are others."""
    shared = [name for name in table.column_names if name in other.column_names]
    both = pa.concat_tables([table.select(shared), other.select(shared)], promote_options="permissive")
    seen = _Table(both, user, item, None)
    n, pair = table.num_rows, seen.users * (int(seen.items.max()) + 1) + seen.items
    order = np.argsort(pair[n:], kind="stable")
    at = order[np.minimum(np.searchsorted(pair[n:][order], pair[:n]), order.size - 1)]
    there = pair[n:][at] == pair[:n]
    same_users = np.isin(seen.users[:n], seen.users[n:])
    moved = np.zeros(n)
    moved[there] = _outside(at[there])
    changed = np.zeros(n)
    for cells in seen.codes.values():
        changed += there & (cells[:n] != cells[n:][at])
    # A user who is in one release only says nothing.
    return {
        "another release lacks the row": (same_users & ~there).astype(float),
        "another release has the row elsewhere": moved,
        "another release has other cells": changed,
    }


def metadata_notes(table: pa.Table) -> list[str]:
    """What a table's metadata says about another number of rows than it has, in a line each."""
    noted = (table.schema.metadata or {}).get(b"pandas")
    if noted is None:
        return []
    try:
        ranges = [index for index in json.loads(noted)["index_columns"] if isinstance(index, dict)]
        counts = [len(range(each["start"], each["stop"], each["step"])) for each in ranges if each["kind"] == "range"]
    except (ValueError, KeyError, TypeError):
        return []
    return [f"the metadata speaks of {count:,} rows" for count in counts if count != table.num_rows]


class _Table:
    """A table's columns as numbers: codes that are equal where cells are, and ranks that compare as cells do."""

    def __init__(self, table: pa.Table, user: str, item: str, rating: str | None) -> None:
        self.names, self.n_rows = table.column_names, table.num_rows
        self.columns = [table.column(k) for k in range(table.num_columns)]
        self.user, self.item = self.names.index(user), self.names.index(item)
        self.rating = None if rating is None else self.names.index(rating)
        self.codes: dict[int, Ints] = {}
        self.distinct: dict[int, pa.Array] = {}
        for k, column in enumerate(self.columns):
            try:
                encoded = plain_array(column).dictionary_encode()
            except pa.ArrowException:
                continue  # lists and structures
            self.distinct[k] = encoded.dictionary
            self.codes[k] = encoded.indices.fill_null(-1).to_numpy().astype(np.int64)
        self.users, self.items = self.codes[self.user], self.codes[self.item]
        forms = {k: time_format(self.columns[k], self.names[k]) for k in self.others}
        self.times = {k: f for k, f in forms.items() if f is not None and (f.unit or self.ids(k) is None)}

    @property
    def others(self) -> list[int]:
        """The columns that are neither user, item nor rating."""
        return [k for k in self.codes if k not in (self.user, self.item, self.rating)]

    def ranks(self, k: int) -> list[Ints]:
        """The column in the order of its cells: of numbers, of text, or of text both as text and as numbers."""
        distinct, ways = self.distinct[k], []
        if pa.types.is_large_string(distinct.type):
            trimmed = pc.utf8_trim_whitespace(distinct)
            with suppress(pa.ArrowException):
                ways.append(pc.if_else(pc.equal(trimmed, ""), "-inf", trimmed).cast(pa.float64()))
        found = []
        for cells in (*ways, distinct):
            try:
                place = pc.rank(cells, tiebreaker="dense").to_numpy().astype(np.int64)
            except pa.ArrowException:
                continue
            found.append(np.append(place, 0)[self.codes[k]])
        return found

    def ids(self, k: int) -> Ints | None:
        """The column as row ids: whole numbers that are nearly all distinct."""
        distinct = self.distinct[k]
        if len(distinct) < RULE * self.n_rows or (self.codes[k] < 0).any():
            return None
        try:
            return distinct.cast(pa.int64()).to_numpy()[self.codes[k]]
        except pa.ArrowException:
            return None


def _order_clues(seen: _Table) -> Clues:
    """Rows outside the longest run of rows that keep an order which most rows keep.

    Orders are by one column, or by user or item and another column; users may come in any order. Where nothing orders
    a user's rows, the last of them are suspicious.
    """
    breaks, ordered = np.zeros(seen.n_rows), False
    columns = {k: seen.ranks(k) for k in seen.codes}
    firsts = [(seen.user, _as_they_come(seen.users))] + [(k, rank) for k, ways in columns.items() for rank in ways]
    for k, rank in firsts:
        first = _direction(rank) * rank
        if not first.any():
            continue
        breaks += _outside(first)
        if k not in (seen.user, seen.item):
            ordered = True
            continue
        tie = first[1:] == first[:-1]
        for second in (rank for other, ways in columns.items() if other != k for rank in ways):
            within = _kept(second, tie)
            if within:
                ordered = True
                _, pair = np.unique(np.stack((first, within * second)), axis=1, return_inverse=True)
                breaks += _outside(pair.reshape(-1))
    found = {"it breaks the order of rows": breaks}
    if not ordered:
        found["it stands behind the user's other rows"] = _position_in_group(seen.users, np.arange(seen.n_rows))
    return found


def _as_they_come(users: Ints) -> Ints:
    """Users by where most of their rows stand."""
    order = np.lexsort((np.arange(users.size), users))
    count = np.bincount(users)
    middle = order[np.cumsum(count) - count + count // 2] if users.size else users
    return middle[users]


def _direction(ranks: Ints) -> int:
    """1 if most rows stand in this order, -1 if they stand in its contrary, 0 if in neither; judged by a sample."""
    sample = ranks[np.linspace(0, ranks.size - 1, min(SAMPLE, ranks.size)).astype(np.int64)]
    # In a column with few values many rows never fall, whatever their order.
    mixed = np.random.default_rng(0).permutation(sample)
    for sign in (1, -1):
        breaking = _outside(sign * sample).mean()
        if breaking <= 1 - RULE and breaking < _outside(sign * mixed).mean() / 2:
            return sign
    return 0


def _kept(ranks: Ints, among: Flags) -> int:
    """1 if most neighbours rise, -1 if most fall, 0 if they do both; equal ones do neither."""
    rises = int(np.count_nonzero((ranks[1:] > ranks[:-1]) & among))
    falls = int(np.count_nonzero((ranks[1:] < ranks[:-1]) & among))
    if max(rises, falls) < RULE * max(rises + falls, 1):
        return 0
    return 1 if rises >= falls else -1


def _outside(ranks: Ints) -> Floats:
    """1 for every row outside the longest run of rows, not necessarily neighbours, that never falls."""
    outside = np.zeros(ranks.size)
    if not (np.diff(ranks) < 0).any():
        return outside
    ends: list[int] = []
    length = []
    for rank in ranks.tolist():  # patience sorting: the length of the longest run that ends in each row
        place = bisect_right(ends, rank)
        ends[place : place + 1] = [rank]
        length.append(place)
    wanted, limit = len(ends) - 1, np.inf
    outside[:] = 1.0
    for row in range(ranks.size - 1, -1, -1):
        if length[row] == wanted and ranks[row] <= limit:
            outside[row], limit, wanted = 0.0, ranks[row], wanted - 1
    return outside


def _id_clues(seen: _Table) -> Clues:
    """Row ids that come twice, and ids apart from all others where nearly all have a neighbour."""
    odd = np.zeros(seen.n_rows)
    for k in seen.others:
        ids = None if k in seen.times else seen.ids(k)
        if ids is None:
            continue
        order = np.argsort(ids, kind="stable")
        gaps = np.diff(ids[order])
        nearest = np.minimum(np.append(np.inf, gaps), np.append(gaps, np.inf))
        alone = nearest != 1
        if alone.mean() <= 1 - RULE:
            odd[order] += alone
        elif (nearest == 0).mean() <= 1 - RULE:
            odd[order] += nearest == 0
    return {"its row id is odd": odd}


def _time_clues(seen: _Table) -> Clues:
    """Times of a finer step than most, times that the user has twice, gaps, and times before the item's others."""
    found: Clues = {}
    for k, form in seen.times.items():
        times, valid = form.read(seen.columns[k])
        name = seen.names[k]
        step = next(step for step in form.steps if (times[valid] % step == 0).mean() > RULE)
        found[f"{name} is of a finer step"] = valid & (times % step != 0)
        order = np.lexsort((times, seen.users))
        gaps = np.where(np.diff(seen.users[order]) == 0, np.diff(times[order]), np.inf)
        nearest = np.empty(seen.n_rows)
        nearest[order] = np.minimum(np.append(np.inf, gaps), np.append(gaps, np.inf))
        found[f"{name} is that of another row of the user"] = valid & (nearest == 0)
        known = valid & np.isfinite(nearest)
        far = np.where(known, np.log1p(np.where(known, nearest, 0)), 0.0)
        found[f"{name} is far from the user's other times"] = far
        found[f"{name} is before the item's other times"] = np.where(valid, -_position_in_group(seen.items, times), -1)
    return {name: np.nan_to_num(scores.astype(float)) for name, scores in found.items()}


def _rating_clues(seen: _Table) -> Clues:
    """Ratings against those that the item has from others, and that the user gave elsewhere."""
    if seen.rating is None:
        return {}
    found: Clues = {}
    ratings = seen.ranks(seen.rating)[0]
    for name, group in (("item", seen.items), ("user", seen.users)):
        others = np.bincount(group)[group] - 1.0
        place = _position_in_group(group, ratings) * (others + 1) - 0.5  # of all, how many are lower, ties half
        pair = np.unique(group * (int(ratings.max()) + 1) + ratings, return_inverse=True)[1].reshape(-1)
        same = np.bincount(pair)[pair] - 1.0
        known = others > 0
        high = np.where(known, place / np.maximum(others, 1), 0.5)
        usual = np.where(known, same / np.maximum(others, 1), 0.5)
        found |= {
            f"its rating is high for the {name}": high,
            f"its rating is usual for the {name}": usual,
        }
    return found


def _position_in_group(group: Ints, values: NDArray[Any]) -> Floats:
    """Where a row's value stands among those of its group, from 0 to 1; equal ones stand in their middle."""
    order = np.lexsort((values, group))
    count = np.bincount(group)
    start = np.cumsum(count) - count
    new = np.append(True, (np.diff(group[order]) != 0) | (np.diff(values[order]) != 0))
    tie = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    middle = (first + np.append(first[1:], group.size) - 1) / 2
    place = np.empty(group.size)
    place[order] = middle[tie]
    return (place - start[group] + 0.5) / count[group]


def _cell_clues(seen: _Table) -> Clues:
    """Empty cells, cells written in a rare way, and cells that neither the user nor the item has in another row."""
    empty, rare, strange = np.zeros(seen.n_rows), np.zeros(seen.n_rows), np.zeros(seen.n_rows)
    for k, codes in seen.codes.items():
        for shapes, blank in _shapes(seen, k):
            empty += blank
            share = np.bincount(shapes)[shapes] / seen.n_rows
            rare = np.maximum(rare, -np.log(share))
        if k in seen.others and len(seen.distinct[k]) < RULE * seen.n_rows:
            alone = [_alone(group, codes) for group in (seen.users, seen.items)]
            strange += alone[0] & alone[1]
    return {
        "it has empty cells": empty,
        "it is written in another way": rare,
        "neither its user nor its item has its cells elsewhere": strange,
    }


def _shapes(seen: _Table, k: int) -> Iterator[tuple[Ints, Flags]]:
    """How each cell is written (digits and letters are alike), if there are few ways; and which cells are empty."""
    distinct, codes = seen.distinct[k], seen.codes[k]
    if not pa.types.is_large_string(distinct.type):
        yield np.zeros(codes.size, dtype=np.int64), codes < 0
        return
    blank = np.append(pc.equal(distinct, "").to_numpy(zero_copy_only=False).astype(bool), True)[codes]
    plain = pc.replace_substring_regex(distinct, "[0-9]+", "0")
    shape = pc.replace_substring_regex(plain, r"\p{L}+", "a").dictionary_encode()
    few = len(shape.dictionary) <= MOST_SHAPES
    yield np.append(shape.indices.to_numpy(), -1)[codes] + 1 if few else np.zeros(codes.size, dtype=np.int64), blank


def _alone(group: Ints, codes: Ints) -> Flags:
    """Is there no other row in the group with the same cell, though the group has other rows?"""
    pair = np.unique(group * (int(codes.max()) + 2) + codes + 1, return_inverse=True)[1].reshape(-1)
    return (np.bincount(pair)[pair] == 1) & (np.bincount(group)[group] > 1)


def _margin(value: float, n_added: int, n_others: int) -> float:
    """Half the width of the 95 % interval of an AUC (Hanley and McNeil)."""
    one, two = value / (2 - value), 2 * value**2 / (1 + value)
    variance = value * (1 - value) + (n_added - 1) * (one - value**2) + (n_others - 1) * (two - value**2)
    return 1.96 * float(np.sqrt(max(variance, 0.0) / (n_added * n_others)))
