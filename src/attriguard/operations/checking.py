"""The check of a release: the table is read as an attacker reads it, and attacked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.attacks import lineup
from attriguard.data.public_data import PublicData
from attriguard.data.ratings import read_ratings
from attriguard.data.releases.release import Release, align_items
from attriguard.data.tables.ids import lookup, union
from attriguard.data.tables.source import plain_source
from attriguard.data.tables.table import InputTable
from attriguard.evaluation.check import Check, Checker, Enough
from attriguard.evaluation.forensics import added_rows
from attriguard.evaluation.inference import check_values, divide
from attriguard.operations.protector import Block
from attriguard.progress import Progress

ATTACKS = ("LR-A", "MLP-A", "NB-A", "RF-A")  # the slowest comes last
# Who says in a trial how much a release tells: the strongest of those who learn in seconds retrains, and these have
# learnt from original rows.
TRIED, UNAWARE = "NB-A", ATTACKS[:3]


class ReleaseChecker:
    """Attacks releases of one table: users whose value is known, all items that the table or a release has."""

    def __init__(self, data: PublicData, seed: int, items: NDArray[Any] | None = None) -> None:
        check_values(data.y, data.values, data.attribute)
        self.known = known = data.disclosed
        self.users, self.items = data.users[known], data.items if items is None else items
        X, _ = align_items(data, self.items)
        group = divide(data.y[known], seed)
        self.checker = Checker(X[known], data.y[known], group, lineup(ATTACKS, random_state=seed))

    def check(self, block: Block, progress: Progress, enough: Enough | None = None) -> Check:
        """Attack a release, read from its table as it would be written."""
        rows = self._rows(block.data, block.release)
        before = () if block.told is None else block.told.before
        history = [*(self._earlier(each, block.items) for each in before), rows]
        found = self.checker.check(history, progress, enough)
        return replace(found, forensics=added_rows(block.data, block.release))

    def told(self, released: csr_array) -> float:
        """How much the strongest of the trial's attackers infers.

        ``released`` has the users and the items of the data.
        """
        return self.checker.told(released[self.known], TRIED, UNAWARE)

    def _earlier(self, release: csr_array, items: NDArray[Any]) -> csr_array:
        """What an earlier release told: an attacker has kept it."""
        mine = release[self.known].tocoo()
        column = lookup(items, self.items)[mine.col]
        there = column >= 0
        shape = (self.users.size, self.items.size)
        return csr_array((mine.data[there], (mine.row[there], column[there])), shape=shape)

    def _rows(self, data: PublicData, release: Release) -> csr_array:
        """The released rows of the users whose value is known; a user without any rating left has an empty row."""
        if not release.table.num_rows:
            return csr_array((self.users.size, self.items.size), dtype=np.float32)
        source = data.source or plain_source(data)
        names = release.table.column_names
        like = source.rating is None
        read = read_ratings(
            InputTable(release.table, "the release", csv=release.csv),
            user=names[source.user],
            item=names[source.item],
            rating=None if source.rating is None else names[source.rating],
            scale=None if like else data.scale,
            like=like,
            duplicates="last",
        )
        X, _ = align_items(read, self.items)
        row = lookup(self.users, read.users)
        # A user who is not there has row -1, and gets the empty row that is appended here.
        return _with_empty_row(X)[row]


def _with_empty_row(X: csr_array) -> csr_array:
    ends = np.append(X.indptr, X.indptr[-1])
    return csr_array((X.data, X.indices, ends), shape=(X.shape[0] + 1, X.shape[1]))


def check_once(block: Block, seed: int, progress: Progress) -> Check:
    """Attack one release of a table, some of whose users disclose their value."""
    new = block.items[lookup(block.items, block.data.items) < 0]
    items = union(block.data.items, new) if new.size else None
    return ReleaseChecker(block.data, seed, items).check(block, progress)
