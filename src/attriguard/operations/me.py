"""``ag.about_me``: one person's export and a guard in; what it says about the person, and what to change, out."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_number
from attriguard._text import count_of
from attriguard.data.scale import check_scale
from attriguard.data.tables.person import PERSON, read_export
from attriguard.errors import DataError, GuardFileError, ParameterError
from attriguard.exports.base import Export, Row
from attriguard.exports.matching import Index, Item, make_index, match_rows
from attriguard.exports.scales import Scale, entry_of, scale_note
from attriguard.goals import get as get_goal
from attriguard.guard import AttriGuard, load_guard
from attriguard.operations.about import AboutMe, Change, Telling, Unknown
from attriguard.operations.inputs import SAFEST
from attriguard.operations.keys import KeyLike, read_key
from attriguard.plan import Plan

Titles = Sequence[str]


def about_me(
    export: Export | str | os.PathLike[str],
    guard: AttriGuard | str | os.PathLike[str],
    *,
    goal: str | None = None,
    budget: float | None = None,
    locked: Titles = (),
    never: Titles = (),
    key: KeyLike = None,
    random_state: Any = None,
) -> AboutMe:
    """What a person's ratings say about the person, which of them say it, and which few to change.

    Parameters
    ----------
    export
        What the person downloaded from a site: a file (see `read_export`), or an `Export`.
    guard
        A fitted guard, or the file that one was saved to: learnt from other people's ratings of the same things.
    goal, budget
        What the changes are for, "conceal" where the guard serves it; and how many there may be.
    locked, never
        Titles whose ratings must not change; and titles that must not be added.
    key
        A secret that fixes the draw, so that another run gives the same changes.
    random_state
        Draws where there is no key; None: the operating system's entropy.

    Examples
    --------
    >>> import attriguard as ag, pathlib, tempfile
    >>> data = ag.load_dataset("twin", n_users=300, n_items=50, n_values=2)
    >>> mine = pathlib.Path(tempfile.mkdtemp(), "mine.csv")
    >>> _ = mine.write_text("\\n".join(["title", *data.item_names[:5]]))
    >>> about = ag.about_me(mine, ag.learn(data, goal="mislead"), budget=2)
    >>> about.known, about.attribute
    (5, 'city')
    """
    loaded = guard if isinstance(guard, AttriGuard) else load_guard(guard)
    person = _Person.of(export if isinstance(export, Export) else read_export(export), loaded)
    own = copy.copy(loaded).set_params(goal=goal or _usual_goal(loaded))
    most = check_number(loaded.budget if budget is None else budget, name="budget", low=0.0)
    fixed = [*person.columns(locked, "locked"), *np.setdiff1d(person.columns(never, "never"), person.X.indices)]
    pattern = csr_array((np.ones(len(fixed), np.float32), ([0] * len(fixed), fixed)), shape=person.X.shape)
    plan = own.plan(
        person.X, budget=most, most=max(1, math.floor(most)), locked=csr_array(pattern > 0, dtype=np.float32),
        users=[PERSON],
    )  # fmt: skip
    drawn = int(plan.draw(random_state, key=read_key(key))[0])
    return person.about(own, plan, drawn, keyed=key is not None or random_state is not None)


def _usual_goal(guard: AttriGuard) -> str:
    """The one that leaves least to attackers who know the guard, where the guard has learnt for it."""
    return SAFEST["goal"] if guard.ensemble_ is not None else guard.goal


@dataclass(frozen=True, eq=False)
class _Person:
    """One person's ratings on the columns of a guard."""

    export: Export
    guard: AttriGuard
    index: Index
    X: csr_array
    unknown: tuple[Unknown, ...]
    scale: Scale | None = field(repr=False)

    @classmethod
    def of(cls, export: Export, guard: AttriGuard) -> _Person:
        """The titles that the guard knows, with their ratings on its scale."""
        index = make_index(guard_items(guard))
        matched, missed = match_rows(index, export.rows)
        raw = None if guard.scale is None else check_scale(guard.scale)
        scale = None if raw is None else Scale(raw.lowest, raw.highest, raw.step)
        entries = [(match.item, entry_of(export.rows[match.row].rating, export.scale, scale)) for match in matched]
        rated = {item: entry for item, entry in entries if entry is not None}  # of two rows the last one that is rated
        if not rated:
            raise DataError(
                f"none of the {count_of(len(export.rows), 'title')} is known to the guard and rated; was the guard "
                "learnt from other things, or from titles in another language?"
            )
        X = csr_array(
            (np.array(list(rated.values()), np.float32), ([0] * len(rated), list(rated))), shape=(1, len(index.items))
        )
        unknown = tuple(
            Unknown(export.rows[miss.row].title, tuple(index.items[item].title for item in miss.near))
            for miss in missed
        )
        return cls(export, guard, index, X, unknown, scale)

    def columns(self, titles: Titles, name: str) -> NDArray[np.int64]:
        """The columns of titles as a person writes them."""
        matched, missed = match_rows(self.index, [Row(title, title) for title in titles])
        if missed:
            near = [self.index.items[item].title for item in missed[0].near]
            raise ParameterError(
                f"{name}: the guard knows no title {titles[missed[0].row]!r}"
                + (f"; did you mean {' or '.join(map(repr, near))}?" if near else "; write it as the guard does")
            )
        return np.array(sorted(match.item for match in matched), dtype=np.int64)

    def about(self, guard: AttriGuard, plan: Plan, drawn: int, *, keyed: bool) -> AboutMe:
        """Everything that there is to say."""
        counts = self.guard.counts_
        before = self.guard.posterior(self.X)[0]
        changes, after = self._changes(plan, drawn, int(before.argmax()))
        by_value = plan.target is not None
        note = scale_note(self.export.scale, self.scale)
        return AboutMe(
            attribute=str(self.guard.metadata_.get("attribute") or "attribute"),
            values=self.guard.values_,
            prior=counts / counts.sum(),
            before=before,
            after=after,
            telling=self._telling(before),
            changes=changes,
            goal=get_goal(guard.goal),
            points_to=self.guard.values_[drawn] if by_value else None,
            keyed=keyed or not by_value,
            format=self.export.format,
            titles=len(self.export.rows),
            known=self.X.nnz,
            unknown=self.unknown,
            notes=(*self.export.notes, *([note] if note else [])),
        )

    def _telling(self, before: NDArray[np.float64]) -> tuple[Telling, ...]:
        """Every rating with what the classifier would be told less without it, most telling first."""
        items, counts = self.X.indices, self.guard.counts_
        prior, value = counts / counts.sum(), int(before.argmax())
        without = self.guard.posterior(_rows_with(self.X, [{int(item): 0.0} for item in items]))
        told = _leakage(before[None], prior)[0] - _leakage(without, prior)
        order = np.argsort(-told, kind="stable")
        return tuple(
            Telling(self._title(items[k]), self._rating(self.X.data[k]), float(told[k]), float(without[k, value]))
            for k in order
        )

    def _changes(self, plan: Plan, drawn: int, value: int) -> tuple[tuple[Change, ...], NDArray[np.float64]]:
        """The changes in the order in which they are made, with their effects, and what is inferred after them."""
        new = dict(zip(*(part.tolist() for part in plan.edits.of(0, drawn)), strict=True))
        order = list(new)
        if plan.target is None:  # candidate k has one item more than candidate k - 1
            sets = [set(plan.edits.of(0, k)[0].tolist()) for k in range(drawn + 1)]
            order = [(more - fewer).pop() for fewer, more in pairwise(sets)]
        elif order:  # what lowers most comes first
            alone = self.guard.posterior(_rows_with(self.X, [{item: new[item]} for item in order]))[:, value]
            order = [order[k] for k in np.argsort(alone, kind="stable")]
        steps = [{item: new[item] for item in order[:k]} for k in range(len(order) + 1)]
        sure = self.guard.posterior(_rows_with(self.X, steps))
        old = dict(zip(self.X.indices.tolist(), self.X.data.tolist(), strict=True))
        found = tuple(
            Change(
                self._title(item),
                self._rating(old.get(item, 0.0)),
                self._rating(new[item]),
                float(sure[k + 1, value] - sure[k, value]),
            )
            for k, item in enumerate(order)
        )
        return found, sure[-1]

    def _title(self, item: int) -> str:
        return self.index.items[item].title

    def _rating(self, entry: float) -> float | None:
        """An entry as a rating on the guard's scale; None where it is not rated."""
        if not entry:
            return None
        return float(entry) if self.guard.scale is None else float(check_scale(self.guard.scale).from_unit(entry))


def guard_items(guard: AttriGuard) -> list[Item]:
    """The items of a guard with their titles, which are their ids where it knows no others."""
    if guard.items_ is None:
        raise GuardFileError(
            "the guard does not name its items, so no title can be found; make it with: attriguard fit"
        )
    ids = [str(item) for item in guard.items_.tolist()]
    titles = guard.metadata_.get("titles") or ids
    if len(titles) != len(ids):
        raise GuardFileError("the guard has another number of titles than of items; make it again with: attriguard fit")
    return [Item(item, str(title)) for item, title in zip(ids, titles, strict=True)]


def _rows_with(X: csr_array, changes: Sequence[dict[int, float]]) -> csr_array:
    """The one row of X again and again, each time with some entries changed."""
    base = dict(zip(X.indices.tolist(), X.data.tolist(), strict=True))
    rows = [{item: entry for item, entry in (base | change).items() if entry} for change in changes]
    places = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    items = [item for row in rows for item in row]
    entries = np.array([entry for row in rows for entry in row.values()], np.float32)
    return csr_array((entries, (places, items)), shape=(len(rows), X.shape[1]))


def _leakage(posterior: NDArray[np.float64], prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a posterior tells beyond the prior: KL(posterior ‖ prior) in nats."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(posterior > 0, posterior * np.log(posterior / prior), 0.0)
    return np.asarray(terms.sum(axis=1))
