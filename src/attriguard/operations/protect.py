"""``ag.protect``: ratings and a guard in, released ratings out; ``ag.protect_batches``: the same, block by block."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa

from attriguard._checks import check_rng
from attriguard._text import facts_text
from attriguard.data.blocks import complete_users
from attriguard.data.public_data import PublicData
from attriguard.data.releases.changes import ReleaseSummary
from attriguard.data.tables.columns import find_roles
from attriguard.data.tables.table import InputTable, read_table
from attriguard.errors import ParameterError
from attriguard.guard import AttriGuard, load_guard
from attriguard.operations.inputs import DataLike
from attriguard.operations.protector import Block, Protector, make_protector
from attriguard.operations.results import Result
from attriguard.operations.wishes import KeyLike, read_additions, read_key, read_locked
from attriguard.plan import Plan
from attriguard.progress import Progress, ProgressLike
from attriguard.report.page import Page, Section, Table
from attriguard.report.plan_table import write_plan

GuardLike = AttriGuard | str | os.PathLike[str]
# How a table is read; its scale, and whether its rows are likes, are the guard's.
READING = ("user", "item", "rating", "duplicates")
# The guard's parameters that may still be set when protecting.
CHANGES = ("goal", "policy", "budget", "target", "confidence")


@dataclass(frozen=True, eq=False, repr=False)
class Released(Result):
    """A protected table, what was done to it, and what its publisher must know."""

    block: Block
    goal: str
    guard: AttriGuard

    @property
    def table(self) -> pa.Table:
        """The table to publish: the columns and types of the one that came."""
        return self.block.release.table

    @property
    def plan(self) -> Plan:
        """Every candidate and its probability. It is for the publisher, not for the public."""
        return self.block.plan

    @property
    def summary(self) -> ReleaseSummary:
        """How many rows were kept, changed, removed and added."""
        return self.block.release.summary

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may give the release away, or was not done."""
        return self.block.warnings

    def record(self) -> dict[str, Any]:
        """The counts, as JSON knows them; nothing about a single user."""
        plan, summary, n_users = self.plan, self.summary, int(self.plan.X.shape[0])
        drawn_by_value = plan.target is not None
        return {
            "goal": self.goal,
            "users": n_users,
            "changed": summary.changed,
            "removed": summary.removed,
            "added": summary.added,
            "kept": summary.kept,
            "budget": float(np.mean(plan.budget)) if n_users else 0.0,
            "expected_cost": float(plan.expected_cost.mean()) if n_users else 0.0,
            "users_beyond_policy": int((plan.extended & (plan.probabilities > 0)).any(axis=1).sum()),
            "values_out_of_reach": int((~plan.success).sum()) if drawn_by_value else 0,
            "users_with_too_few_ratings": 0 if drawn_by_value else int((plan.expected_cost < plan.budget).sum()),
            "unknown_items": self.block.unknown_items,
            "warnings": list(self.warnings),
        }

    def rows(self) -> list[dict[str, Any]]:
        """One row a count."""
        return [
            {"figure": name, "value": float(value)}
            for name, value in self.record().items()
            if isinstance(value, (int, float))
        ]

    def tables(self) -> list[Table]:
        """The counts."""
        rows = [[row["figure"].replace("_", " "), f"{row['value']:,.10g}"] for row in self.rows()]
        return [Table(["figure", "value"], rows, numeric=(1,))]

    def page(self) -> Page:
        """The counts as a page that can be sent around."""
        sections = [Section("What was changed", text=list(self.remarks), parts=self.tables())]
        if self.warnings:
            sections.insert(0, Section("Before you publish", points=list(self.warnings), warning=True))
        return Page(title="A protected release", lead=self.headline, sections=sections)

    @property
    def headline(self) -> str:
        """How many ratings changed, in all and a user."""
        found = self.record()
        return (
            f"released {found['users']:,} users: {found['added']:,} ratings added, {found['removed']:,} removed, "
            f"{found['changed']:,} changed, {found['kept']:,} as they were\n"
            f"expected changes a user: {found['expected_cost']:.2f} (budget {found['budget']:g})"
        )

    @property
    def remarks(self) -> Sequence[str]:
        """For whom the policy was extended, and who could not be given the whole budget."""
        found, lines = self.record(), []
        if found["users_beyond_policy"]:
            lines.append(
                f"{found['users_beyond_policy']:,} users have a value that the policy cannot reach; for these the "
                "policy was extended to modify_add"
            )
        if found["values_out_of_reach"]:
            lines.append(
                f"{found['values_out_of_reach']:,} (user, value) pairs could not be reached and are never drawn"
            )
        if found["users_with_too_few_ratings"]:
            lines.append(f"{found['users_with_too_few_ratings']:,} users have fewer ratings to remove than the budget")
        return lines

    def __repr__(self) -> str:
        warned = {"warnings": f"{len(self.warnings)}; see .warnings"} if self.warnings else {}
        return facts_text("Released", {"found": self.headline, **warned})

    def _repr_html_(self) -> str:
        warned = "".join(f"<p><b>Warning:</b> {escape(text)}</p>" for text in self.warnings)
        return warned + super()._repr_html_()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the released table (.csv, .csv.gz, .tsv, .parquet), or the counts (.html, .json)."""
        target = Path(path)
        if target.suffix.lower() in (".html", ".json"):
            return super().save(target)
        self.block.release.write(target)
        return target

    def write_csv(self, file: IO[bytes]) -> None:
        """Write the released table as CSV into an open file, such as standard output."""
        self.block.release.write_csv(file)

    def save_plan(self, path: str | os.PathLike[str]) -> Path:
        """Write every candidate edit and its probability (.parquet). Keep the file to yourself."""
        write_plan(self.plan, self.guard, Path(path))
        return Path(path)


def protect(
    ratings: DataLike,
    guard: GuardLike,
    *,
    key: KeyLike = None,
    locked: Any = None,
    additions: Any = None,
    random_state: Any = None,
    progress: ProgressLike = None,
    **options: Any,
) -> Released:
    """Release a protected version of a table of ratings. No user's attribute is needed or asked for.

    Parameters
    ----------
    ratings
        ``PublicData``, or a path, an Arrow table or a frame (pandas, polars): a row a rating.
    guard
        A fitted guard, or the file that one was saved to. It is not changed.
    key
        A secret (bytes or text), or the path of a file that holds it: it fixes every user's draw, so that repeated
        releases do not average the noise away. None: every release is drawn anew.
    locked
        Items that must not change: a list, or a table with an item column and, user by user, a user column.
    additions
        Items that may be added: a list, a mapping item → rating, or a table with an item and a rating column.
    random_state
        Seeds the draws where there is no key; None: the operating system's entropy.
    progress
        Where to report progress (see `Progress`).
    **options
        ``user``, ``item``, ``rating`` (column names) and ``duplicates``, as in `read_ratings`; ``goal``, ``policy``,
        ``budget``, ``target`` and ``confidence`` other than the guard's.

    Examples
    --------
    >>> import attriguard as ag
    >>> data = ag.load_dataset("twin", n_users=300, n_items=50, n_values=2)
    >>> guard = ag.learn(data)
    >>> released = ag.protect(data.to_arrow(), guard, key=b"0123456789abcdef")
    >>> released.table.column_names
    ['user', 'item', 'rating']
    """
    protector = _protector(guard, key, locked, additions, options)
    chance = _chance(protector, random_state)
    given = ratings if isinstance(ratings, PublicData) else read_table(ratings, "the ratings table")
    block = protector.protect(given, chance, Progress.of(progress))
    return Released(block, protector.guard.goal, protector.guard)


def protect_batches(
    batches: Iterable[pa.RecordBatch],
    guard: GuardLike,
    *,
    key: KeyLike = None,
    locked: Any = None,
    additions: Any = None,
    random_state: Any = None,
    **options: Any,
) -> Iterator[pa.RecordBatch]:
    """`protect` for Arrow record batches whose rows are grouped by user, block by block.

    A user who is cut by a batch's end is carried over. So memory holds one batch, the largest user, and a number for
    every user, by which a user who comes back is found. Under a key a user's release depends on the user, the key and
    the guard alone, not on how the rows were divided; the guard must know the scale, which a batch does not show.
    Parameters are checked at once, before the first batch is asked for.
    """
    protector = _protector(guard, key, locked, additions, options)
    if protector.guard.scale is None:
        raise ParameterError(
            "a batch does not show the whole rating scale, and the guard knows none; make the guard with ag.learn, or "
            "with AttriGuard(scale=...)"
        )
    return _released(batches, replace(protector, whole=False), _chance(protector, random_state))


def _released(
    batches: Iterable[pa.RecordBatch], protector: Protector, chance: np.random.Generator | None
) -> Iterator[pa.RecordBatch]:
    for block in _blocks(batches, protector):
        yield from protector.protect(InputTable(block, "the batch"), chance, Progress()).release.table.to_batches()


def _blocks(batches: Iterable[pa.RecordBatch], protector: Protector) -> Iterator[pa.Table]:
    """Tables of complete users; the first batch says which column is the user's."""
    rest = iter(batches)
    first = next(rest, None)
    if first is None:
        return
    named = {name: protector.reading.get(name) for name in ("user", "item", "rating")}
    roles = find_roles(InputTable(pa.Table.from_batches([first]), "the first batch"), **named, like=False)

    def everything() -> Iterator[pa.RecordBatch]:
        yield first
        yield from rest

    yield from complete_users(everything(), roles.user)


def _protector(guard: GuardLike, key: KeyLike, locked: Any, additions: Any, options: dict[str, Any]) -> Protector:
    strange = [name for name in options if name not in (*READING, *CHANGES)]
    if strange:
        raise ParameterError(f"unknown option {strange[0]!r}; known: {', '.join((*READING, *CHANGES))}")
    secret = read_key(key)
    loaded = guard if isinstance(guard, AttriGuard) else load_guard(guard)
    return make_protector(
        loaded,
        "the guard" if isinstance(guard, AttriGuard) else str(guard),
        {name: value for name, value in options.items() if name in CHANGES},
        locked=read_locked(locked),
        additions=read_additions(additions),
        key=secret,
        reading={name: value for name, value in options.items() if name in READING},
    )


def _chance(protector: Protector, random_state: Any) -> np.random.Generator | None:
    """What draws: nothing but the key, where there is one."""
    if protector.key is None:
        return check_rng(random_state)
    if random_state is not None:
        raise ParameterError("give either a key or a random_state: a keyed draw leaves nothing to chance")
    return None
