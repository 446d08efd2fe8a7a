"""What `ag.about_me` gives: what a person's ratings say about the person, in words and figures for their own eyes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attriguard._text import count_of
from attriguard.goals import Goal
from attriguard.operations.results import Result
from attriguard.report.page import Page, Section, Table

# Lines of a table that a person reads; the record has all.
SHOWN = 10


class Telling(NamedTuple):
    """A rating, how much less would be told without it (nats), and how sure the classifier would be then."""

    title: str
    rating: float | None
    told: float
    without: float


class Change(NamedTuple):
    """A rating to remove, to change or to add, and what that does to the value that was inferred."""

    title: str
    before: float | None
    after: float | None
    effect: float

    @property
    def action(self) -> str:
        """What to do on the site."""
        return "remove" if self.after is None else "add" if self.before is None else "change"


class Unknown(NamedTuple):
    """A title that the guard does not know, and those that come nearest."""

    title: str
    near: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class AboutMe(Result):
    """What a classifier infers about one person, what tells it, and what to change; for that person's eyes."""

    attribute: str
    values: tuple[str, ...]
    prior: NDArray[np.float64]  # what anyone would guess
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    telling: tuple[Telling, ...]
    changes: tuple[Change, ...]
    goal: Goal
    points_to: str | None  # the value that the changes point to, where they do
    keyed: bool  # another run gives the same changes
    format: str
    titles: int
    known: int
    unknown: tuple[Unknown, ...]
    notes: tuple[str, ...] = ()

    @property
    def inferred(self) -> int:
        """The value that is inferred from the ratings as they are."""
        return int(self.before.argmax())

    @property
    def headline(self) -> str:
        """What is inferred, against what anyone would guess, and what the changes do to it."""
        value, guess, then = self.inferred, int(self.prior.argmax()), int(self.after.argmax())
        first = (
            f"From {count_of(self.known, 'rating')} of yours a classifier infers: {self.attribute} = "
            f"{self.values[value]}, {_percent(self.before[value])} sure. Without them anyone would guess "
            f"{self.values[guess]} ({_percent(self.prior[guess])})"
        )
        first += "." if guess == value else f", and {self.values[value]} with {_percent(self.prior[value])}."
        if not self.changes:
            drawn = "The draw was to change nothing, which must be possible: else the changes would tell the truth."
            return f"{first} {drawn if self.points_to else 'There is nothing to change within this budget.'}"
        left = f", and {self.values[value]} with {_percent(self.after[value])}" if then != value else ""
        still = "still " if then == value else ""
        return (
            f"{first} After {count_of(len(self.changes), 'change')} it {still}infers {self.values[then]}, "
            f"{_percent(self.after[then])} sure{left}."
        )

    @property
    def remarks(self) -> Sequence[str]:
        """How the export was read, and what the changes do not protect against."""
        told = [f"{self.format}: {self.known:,} of {count_of(self.titles, 'title')} are known to the guard and rated"]
        told += self.notes
        if not self.keyed:
            told.append("the changes were drawn by chance, and another run may draw others; a key keeps them: --key")
        return (*told, "", "What this does not protect against:", *(f"- {line}" for line in self.limits))

    @property
    def limits(self) -> tuple[str, ...]:
        """What the changes do not protect against."""
        return (
            f"An attacker who protects other people with this guard and trains on those, {self.goal.regained}",
            f"The guard is about {self.attribute} alone: your ratings say other things about you, too.",
            "Whoever has seen your list before can compare. A site may keep what you remove from it.",
            "How sure the classifier is was learnt from other people: it can be wrong about you, and so can this list.",
        )

    def rows(self) -> list[dict[str, Any]]:
        """One row a figure: each value before, guessed and after; each rating's "told"; each change's "effect"."""
        shares = {"before": self.before, "prior": self.prior, "after": self.after}
        return [
            *(
                {"figure": figure, "of": value, "value": float(share)}
                for figure, array in shares.items()
                for value, share in zip(self.values, array, strict=True)
            ),
            *({"figure": "told", "of": each.title, "value": each.told} for each in self.telling),
            *({"figure": "effect", "of": each.title, "value": each.effect} for each in self.changes),
        ]

    def record(self) -> dict[str, Any]:
        """Everything, as JSON knows it."""
        plain = ("attribute", "points_to", "format", "titles", "known")
        return {
            **{name: getattr(self, name) for name in plain},
            "goal": self.goal.name,
            "inferred": self.values[self.inferred],
            "values": {
                value: {"before": float(self.before[k]), "prior": float(self.prior[k]), "after": float(self.after[k])}
                for k, value in enumerate(self.values)
            },
            "telling": [each._asdict() for each in self.telling],
            "changes": [{"action": each.action, **each._asdict()} for each in self.changes],
            "unknown": [{"title": each.title, "near": list(each.near)} for each in self.unknown],
            "notes": list(self.notes),
            "limits": list(self.limits),
        }

    def tables(self) -> list[Table]:
        """What is inferred, what tells it, what to change, and the titles that were not found."""
        found = [self._values_table(), self._telling_table(), self._changes_table(), self._unknown_table()]
        return [table for table in found if table.rows]

    def _values_table(self) -> Table:
        order = np.argsort(-np.maximum(self.before, self.after), kind="stable")[:SHOWN]
        rows = [
            [self.values[k], _percent(self.before[k]), _percent(self.prior[k]), _percent(self.after[k])] for k in order
        ]
        head = [self.attribute, "from your ratings", "anyone's guess", "after the changes"]
        return Table(head, rows, numeric=(1, 2, 3), caption="How sure a classifier is")

    def _telling_table(self) -> Table:
        most = [each for each in self.telling if each.told > 0][:SHOWN]
        rows = [[each.title, _stars(each.rating), _percent(each.without)] for each in most]
        value = self.values[self.inferred]
        return Table(["title", "you", f"{value} without it"], rows, numeric=(1, 2), caption="What tells most")

    def _changes_table(self) -> Table:
        rows = [
            [each.action, each.title, _stars(each.before), _stars(each.after), f"{100 * each.effect:+.1f}"]
            for each in self.changes
        ]
        aim = f", which point to {self.points_to}" if self.points_to else ""
        head = ["do", "title", "from", "to", f"{self.values[self.inferred]}, in points"]
        return Table(head, rows, numeric=(2, 3, 4), caption=f"What to change: {self.goal.plain_name}{aim}")

    def _unknown_table(self) -> Table:
        rows = [[each.title, "; ".join(each.near)] for each in self.unknown[:SHOWN]]
        more = len(self.unknown) - len(rows)
        caption = "Titles that the guard does not know" + (f", and {more:,} more" if more else "")
        return Table(["title", "did you mean"], rows, caption=caption)

    def page(self) -> Page:
        """The same as a page; it is about one person, so keep it to yourself."""
        sections = [
            Section("What it says, and what to change", parts=self.tables()),
            Section("What this does not protect against", points=self.limits, warning=True),
        ]
        facts = [("export", self.format), ("titles", f"{self.titles:,}"), ("known to the guard", f"{self.known:,}")]
        facts += [("note", note) for note in self.notes]
        return Page(f"What my ratings say about my {self.attribute}", self.headline, sections, facts)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"


def _stars(rating: float | None) -> str:
    return "–" if rating is None else f"{rating:g}"
