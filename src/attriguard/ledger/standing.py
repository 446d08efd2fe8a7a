"""What an attacker has of the users of a table, from all releases so far, and what is new in it.

The rules, by what the ledger says of a user's item and what the table says now:

- a rating that was hidden stays hidden, and one that was added stays, with its value, whatever the user does;
- a rating that was changed keeps its change for as long as the user has the rating;
- a rating that was told as it was is told as the user rates it now; the user's new value counts as told;
- a rating that the user has deleted leaves the release, but an attacker has it: it counts as told, and is told again
  where it comes back.

What is planned for is everything that was ever told, with what is new. Only what is new may change.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_matrix
from attriguard.data.public_data import PublicData
from attriguard.data.tables.ids import lookup
from attriguard.kernels.entries import find_rising
from attriguard.kernels.threads import over_users
from attriguard.ledger.entries import Entries

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Past:
    """The ledger's entries of some users, one for each user and item; ``key`` is row · items + item, and rises."""

    key: Ints
    own: NDArray[np.int32]
    told: NDArray[np.int32]

    @classmethod
    def of(cls, entries: Entries, place: Ints, key: Ints) -> Past:
        """Some of a ledger's entries, whose keys are given; of several for a user's item, the last release's."""
        if (key[1:] > key[:-1]).all():
            return cls(key, entries.own[place], entries.told[place])
        order = np.argsort(key, kind="stable")
        last = np.append(key[order][1:] != key[order][:-1], True)[: key.size]
        chosen = order[last]
        place = place[chosen]
        return cls(key[chosen], entries.own[place], entries.told[place])

    def find(self, key: Ints) -> Ints:
        """The position of each key, -1 where the past has none."""
        return _find(self.key, key)


@dataclass(frozen=True, eq=False)
class Standing:
    """The users of a table with their past; columns are ``items``, of which the guard knows the first ``n_known``."""

    items: NDArray[Any]
    n_known: int
    n_users: int
    levels: int  # of the scale
    past: Past
    key: Ints  # of the table's ratings, rising
    level: Ints
    entry: NDArray[np.float32]
    ever: tuple[Entries, Ints, Ints]  # the ledger, where in it the users' entries are, and their keys

    @cached_property
    def _old(self) -> Ints:
        """For each rating of the table its place in the past, -1 for one that is new."""
        return self.past.find(self.key)

    @cached_property
    def _rated_anew(self) -> NDArray[np.bool_]:
        """Ratings that were told as they were, and that the user has changed since."""
        own, told = (np.append(each, 0)[self._old] for each in (self.past.own, self.past.told))
        return (self._old >= 0) & (own == told) & (self.level != told)

    @cached_property
    def _new(self) -> Ints:
        """The ratings of the table that have to be told: new ones, and those that the user has changed since."""
        return np.flatnonzero((self._old < 0) | self._rated_anew)

    @cached_property
    def has_past(self) -> NDArray[np.bool_]:
        """Which users an earlier release had."""
        return np.diff(_ends(self.past.key, self.n_users, self.items.size)) > 0

    @cached_property
    def news(self) -> Ints:
        """The users whom something has to be planned for: new ratings that the guard knows, or no past at all."""
        user, column = np.divmod(self.key[self._new], self.items.size)
        has_news = np.bincount(user[column < self.n_known], minlength=self.n_users) > 0
        return np.flatnonzero(has_news | ~self.has_past)

    @cached_property
    def spent(self) -> Ints:
        """How many changes each user has had so far."""
        changed = self.past.own != self.past.told
        return np.bincount(self.past.key[changed] // self.items.size, minlength=self.n_users)

    @cached_property
    def _tellable(self) -> tuple[Ints, NDArray[np.float32]]:
        """What an attacker would have if everything new were told: all that was told, ever, and all that is new."""
        old = np.flatnonzero(self._rated_anew)
        told = self.past.told.copy()
        told[self._old[old]] = self.level[old]
        shown, new = told > 0, self._old < 0
        entries = (told[shown] / self.levels).astype(np.float32)
        return _merged((self.past.key[shown], entries), (self.key[new], self.entry[new]))

    @cached_property
    def known(self) -> csr_array:
        """What is planned for: what could be told of the users with news, on the columns that the guard knows."""
        return self._with_news(*self._tellable)

    @cached_property
    def own(self) -> csr_array:
        """The same if no release had changed anything: all that the users with news have ever rated."""
        deleted = (self.past.own > 0) & ~self._has(self.past.key)
        entries = (self.past.own[deleted] / self.levels).astype(np.float32)
        return self._with_news(*_merged((self.key, self.entry), (self.past.key[deleted], entries)))

    def locked(self, more: csr_array | None) -> csr_array:
        """What no search may touch of the users with news: all that was met before, and what else must not change."""
        pattern = self._with_news(self.past.key, np.ones(self.past.key.size, dtype=np.float32))
        return pattern if more is None else check_matrix(((pattern + more[self.news]) != 0).astype(np.float32))

    def _with_news(self, key: Ints, entries: NDArray[np.float32]) -> csr_array:
        """Some of the users' entries, whose keys rise: of the users with news, on the columns that the guard knows."""
        width = self.items.size
        first, end = (np.searchsorted(key, (self.news + k) * width) for k in (0, 1))
        indptr = np.concatenate([[0], np.cumsum(end - first)])
        place = np.repeat(first - indptr[:-1], end - first) + np.arange(indptr[-1])
        rows = csr_array((entries[place], key[place] % width, indptr), shape=(self.news.size, width))
        return _columns(check_matrix(rows), self.n_known)

    def released(self, found: csr_array) -> csr_array:
        """What is published, given what was found for the users with news: without what users have deleted."""
        width, (key, entries) = self.items.size, self._tellable
        news = np.zeros(self.n_users, dtype=np.bool_)
        news[self.news] = True
        of_news = np.flatnonzero(np.repeat(news, np.diff(_ends(key, self.n_users, width))))
        stays = np.ones(key.size, dtype=np.bool_)
        stays[of_news] = key[of_news] % width >= self.n_known
        mine = self.news[np.repeat(np.arange(self.news.size), np.diff(found.indptr))] * width + found.indices
        key, entries = _merged((key[stays], entries[stays]), (mine, found.data))
        deleted = self.past.key[(self.past.own > 0) & (self.past.told > 0) & ~self._has(self.past.key)]
        if deleted.size:
            there = _find(deleted, key) < 0
            key, entries = key[there], entries[there]
        return self._matrix(key, entries)

    def told_now(self, released: csr_array, draws: Ints, number: int) -> tuple[Ints, Entries]:
        """What a release adds to the ledger: each entry's user, as a row, and the entries without their users."""
        width = self.items.size
        new = self._new
        concerned = np.zeros(self.n_users, dtype=np.bool_)
        concerned[self.news] = concerned[self.key[new] // width] = True
        out_row = np.repeat(np.arange(self.n_users, dtype=np.int64), np.diff(released.indptr))
        some = concerned[out_row]
        out_key = out_row[some] * width + released.indices[some]
        out_level = np.append(np.rint(released.data[some].astype(np.float64) * self.levels), 0).astype(np.int64)
        told = out_level[_find(out_key, self.key[new])]
        added = np.flatnonzero((self.past.find(out_key) < 0) & ~self._has(out_key))
        key = np.concatenate([self.key[new], out_key[added]])
        order = np.argsort(key, kind="stable")
        row, column = key[order] // width, key[order] % width
        used = np.bincount(column, minlength=width) > 0
        names, code = np.flatnonzero(used), (np.cumsum(used) - 1)[column]
        entries = Entries(
            user=np.zeros(key.size, dtype=np.uint64),
            item=code.astype(np.int32),
            own=np.concatenate([self.level[new], np.zeros(added.size, np.int64)])[order].astype(np.int32),
            told=np.concatenate([told, out_level[added]])[order].astype(np.int32),
            draw=draws[row].astype(np.int32),
            release=np.full(key.size, number, dtype=np.int32),
            names=np.array([str(name) for name in self.items[names].tolist()], dtype=object),
        )
        return row, entries

    def history(self, number: int, most: int) -> list[csr_array]:
        """What each of the last releases told, up to that of this number; the oldest of them tells what came before it.

        When a user deleted a rating is not in the ledger: what was told counts as told in every later release.
        """
        found = []
        for n in range(max(1, number - most + 1), number + 1):
            entries, place, key = self.ever
            then = np.flatnonzero(entries.release[place] <= n)
            past = Past.of(entries, place[then], key[then])
            shown = past.told > 0
            found.append(self._matrix(past.key[shown], (past.told[shown] / self.levels).astype(np.float32)))
        return found

    def _has(self, key: Ints) -> NDArray[np.bool_]:
        """Does the table have these ratings now?"""
        return _find(self.key, key) >= 0

    def _matrix(self, key: Ints, entries: NDArray[np.float32]) -> csr_array:
        """Everybody's rows; keys rise."""
        ends, width = _ends(key, self.n_users, self.items.size), self.items.size
        column = key - np.repeat(np.arange(self.n_users, dtype=np.int64) * width, np.diff(ends))
        return check_matrix(csr_array((entries, column.astype(np.int32), ends), shape=(self.n_users, width)))


def stand(data: PublicData, guard_items: NDArray[Any], entries: Entries, hashes: NDArray[np.uint64]) -> Standing:
    """Meet the users of a table, whose hashes are given, with their past."""
    place, row = entries.of_users(hashes)
    item = entries.item[place]
    items = columns_of(data, guard_items, entries)
    column = lookup(entries.names, items) if entries.names.size else np.empty(0, dtype=np.int64)
    row *= items.size
    row += column[item]
    ever = entries, place, row
    past, X = Past.of(*ever), data.X
    here = lookup(data.items, items)[X.indices]
    key = np.repeat(np.arange(data.n_users, dtype=np.int64), np.diff(X.indptr)) * items.size + here
    order = slice(None) if _rises(key) else np.argsort(key, kind="stable")
    level = np.rint(X.data.astype(np.float64) * data.scale.levels).astype(np.int64)
    return Standing(
        items, int(guard_items.size), data.n_users, data.scale.levels, past, key[order], level[order], X.data[order],
        ever,
    )  # fmt: skip


def columns_of(data: PublicData, guard_items: NDArray[Any], entries: Entries) -> NDArray[Any]:
    """The guard's items, and behind them what else the table and the ledger have."""
    used = np.flatnonzero(np.bincount(entries.item, minlength=entries.names.size))
    return more_ids(more_ids(guard_items, data.items), entries.names[used])


def more_ids(ids: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    """The ids, and behind them those of others that are not among them; all of them text if one of them must be."""
    extra = others[lookup(others, ids) < 0] if others.size else others
    if not extra.size:
        return ids
    texts = [str(each) for each in extra.tolist()]
    if ids.dtype.kind in "iu" and all(_is_number(text) for text in texts):
        return np.concatenate([ids, np.array([int(text) for text in texts], dtype=np.int64)])
    return np.array([*map(str, ids.tolist()), *texts], dtype=object)


def _is_number(text: str) -> bool:
    """Is it the text of a whole number, written as numbers are, of 64 bits?"""
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) <= 18 and str(int(text)) == text


def _find(among: Ints, key: Ints) -> Ints:
    """The position of each key among rising ones, -1 where there is none."""
    if not among.size:
        return np.full(key.size, -1, dtype=np.int64)
    if not _rises(key):
        place = np.minimum(np.searchsorted(among, key), among.size - 1)
        return np.where(among[place] == key, place, -1)
    places = np.empty(key.size, dtype=np.int64)
    over_users(key.size, lambda start, stop: find_rising(among, key, start, stop, places), smallest=100_000)
    return places


def _merged(
    many: tuple[Ints, NDArray[np.float32]], few: tuple[Ints, NDArray[np.float32]]
) -> tuple[Ints, NDArray[np.float32]]:
    """Keys and entries of both; the keys of each rise."""
    if not (many[0].size and few[0].size):
        return many if many[0].size else few
    place = np.searchsorted(many[0], few[0])
    return np.insert(many[0], place, few[0]), np.insert(many[1], place, few[1])


def _rises(key: Ints) -> bool:
    return bool((key[1:] >= key[:-1]).all())


def _ends(key: Ints, n_users: int, width: int) -> Ints:
    """Where the entries of each user begin, and where the last one's end; keys rise."""
    return np.searchsorted(key, np.arange(n_users + 1, dtype=np.int64) * width)


def _columns(X: csr_array, n: int) -> csr_array:
    """The first columns."""
    return X if n == X.shape[1] else check_matrix(csr_array(X[:, :n]))
