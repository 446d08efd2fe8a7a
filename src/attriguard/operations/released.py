"""What `ag.protect` gives: a protected table, what was done to it, what attackers infer from it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa

from attriguard._text import facts_text
from attriguard.data.public_data import PublicData
from attriguard.data.releases.changes import ReleaseSummary
from attriguard.errors import ParameterError, ReleaseRefusedError
from attriguard.evaluation.check import Check
from attriguard.guard.core import Guard
from attriguard.operations.memory import Entry
from attriguard.operations.protector import Block
from attriguard.operations.results import Result
from attriguard.plan import Plan
from attriguard.report.check import check_record, check_rows, check_section, check_tables, check_warnings, told, verdict
from attriguard.report.page import Page, Section, Table
from attriguard.report.plan_table import write_plan


@dataclass(frozen=True, eq=False, repr=False)
class Released(Result):
    """A protected table, what was done to it, and what its publisher must know."""

    block: Block
    goal: str
    guard: Guard  # of several, the first
    check: Check | None = None  # None: it was not checked
    notes: tuple[str, ...] = ()  # how the release was made, where that was not plain from what was asked for
    even_if_worse: bool = False  # the publisher wants it, whatever the check says
    entry: Entry | None = None  # of the ledger: made when the release is saved

    @property
    def table(self) -> pa.Table:
        """The table to publish: the columns and types of the one that came."""
        return self.block.release.table

    @property
    def data(self) -> PublicData:
        """The table as it was read."""
        return self.block.data

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
        return self.block.warnings + (() if self.check is None else check_warnings(self.check))

    def record(self) -> dict[str, Any]:
        """The counts, as JSON knows them; nothing about a single user."""
        plan, summary, n_planned = self.plan, self.summary, int(self.plan.X.shape[0])
        drawn_by_value = plan.target is not None
        short = int((plan.expected_cost < plan.budget).sum())
        return {
            "goal": self.goal,
            "users": self.data.n_users,
            "changed": summary.changed,
            "removed": summary.removed,
            "added": summary.added,
            "kept": summary.kept,
            "budget": float(np.mean(plan.budget)) if n_planned else 0.0,
            "expected_cost": float(plan.expected_cost.mean()) if n_planned else 0.0,
            "users_beyond_policy": int((plan.extended & (plan.probabilities > 0)).any(axis=1).sum()),
            "values_out_of_reach": int((~plan.success).sum()) if drawn_by_value else 0,
            "users_with_too_few_ratings": 0 if drawn_by_value or plan.mechanism.shared else short,
            "unknown_items": self.block.unknown_items,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "ledger": None if self.entry is None else self.entry.about,
            "check": None if self.check is None else check_record(self.check),
        }

    def rows(self) -> list[dict[str, Any]]:
        """One row a count; and one row a figure of each attacker, with its interval."""
        counts = [{"figure": name, "value": value} for name, value in self._counts().items()]
        return counts + ([] if self.check is None else check_rows(self.check))

    def _counts(self) -> dict[str, float]:
        return {name: float(value) for name, value in self.record().items() if isinstance(value, (int, float))}

    def tables(self) -> list[Table]:
        """What attackers infer before and after, where the release was checked; else the counts."""
        return [self._counts_table()] if self.check is None else check_tables(self.check)

    def _counts_table(self) -> Table:
        rows = [[name.replace("_", " "), f"{value:,.10g}"] for name, value in self._counts().items()]
        return Table(["figure", "value"], rows, numeric=(1,))

    def page(self) -> Page:
        """What attackers infer, and the counts, as a page that can be sent around."""
        sections = [Section("What was changed", text=list(self.remarks), parts=[self._counts_table()])]
        if self.check is not None:
            sections.insert(0, check_section(self.check, self.data.values))
        if self.warnings:
            sections.insert(0, Section("Before you publish", points=list(self.warnings), warning=True))
        return Page(title="A protected release", lead=self.headline, sections=sections)

    @property
    def headline(self) -> str:
        """What attackers infer, where that was checked; how many ratings changed, in all and a user."""
        found = self.record()
        said = [] if self.check is None else [verdict(self.check), told(self.check)]
        checked = "".join(f"{line}\n" for line in said if line)
        return (
            f"{checked}released {found['users']:,} users: {found['added']:,} ratings added, {found['removed']:,} "
            f"removed, {found['changed']:,} changed, {found['kept']:,} as they were\n"
            f"expected changes a user: {found['expected_cost']:.2f} (budget {found['budget']:g})"
        )

    @property
    def _shared(self) -> list[str]:
        """How a budget of everyone is spread over users."""
        plan = self.block.plan
        if not plan.mechanism.shared or not plan.budget.size:
            return []
        low, high, top = np.quantile(plan.expected_cost, [0.25, 0.75, 1.0])
        return [
            f"the budget is an average over users: half of them expect {low:.1f} to {high:.1f} changes, and nobody "
            f"more than {top:.1f}"
        ]

    @property
    def remarks(self) -> Sequence[str]:
        """For whom the policy was extended, and who could not be given the whole budget."""
        noted = [*self.notes, *([] if self.entry is None else [self.entry.words])]
        found, lines = self.record(), [*noted, *self._shared, *filter(None, [self.block.release.order_note])]
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
        told = {"warnings": f"{len(self.warnings)}; see .warnings" if self.warnings else "", "refused": self.refused}
        return facts_text("Released", {"found": self.headline} | {name: text for name, text in told.items() if text})

    def _repr_html_(self) -> str:
        warned = "".join(f"<p><b>Warning:</b> {escape(text)}</p>" for text in self.warnings)
        return warned + super()._repr_html_()

    @property
    def refused(self) -> str | None:
        """Why this release must not be written; None where nothing speaks against it."""
        if not self.table.num_rows:
            return (
                f"this release is empty: none of the {self.data.n_users:,} users has a rating left, so it was not "
                "written; give a smaller --budget, or --most"
            )
        if self.check is None or not self.check.worse or self.even_if_worse:
            return None
        advice = "--goal conceal" if self.goal != "conceal" else "another --budget"
        return (
            f"an attacker infers more from this release than from the original (AUC {self.check.change().value:+.3f}), "
            f"so it was not written; try {advice}; --even-if-worse writes it all the same"
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the released table (.csv, .csv.gz, .tsv, .parquet), or the counts (.html, .json).

        A table from which an attacker infers more than from the original is refused.
        """
        target = Path(path)
        if target.suffix.lower() in (".html", ".json"):
            return super().save(target)
        self._refuse()
        if self.entry is None:
            self.block.release.write(target)
        else:
            self.entry.write(lambda whole: self.block.release.write(target, whole), target)
        return target

    def write_csv(self, file: IO[bytes]) -> None:
        """Write the released table as CSV into an open file, such as standard output."""
        self._refuse()
        if self.entry is None:
            self.block.release.write_csv(file)
        else:
            self.entry.write(lambda _: self.block.release.write_csv(file))

    def enter(self) -> None:
        """Enter the release into its ledger, for a table that you publish in another way than with ``save``."""
        self._refuse()
        if self.entry is None:
            raise ParameterError("this release has no ledger: name its folder when you protect, with ledger=")
        self.entry.write(lambda _: None)

    def _refuse(self) -> None:
        if self.refused:
            raise ReleaseRefusedError(self.refused)

    def save_plan(self, path: str | os.PathLike[str]) -> Path:
        """Write every candidate edit and its probability (.parquet). Keep the file to yourself."""
        data = self.data
        names = data.item_names
        titles = None if names is None else dict(zip(data.items.tolist(), names.tolist(), strict=True))
        write_plan(self.plan, self.guard, Path(path), titles)
        return Path(path)
