"""A guard made ready to release tables: one block of complete users at a time, each as if it were the whole table."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._fingerprint import fingerprint
from attriguard.data.habits import Habits
from attriguard.data.public_data import PublicData
from attriguard.data.ratings import read_ratings
from attriguard.data.releases.added_ratings import draw_ratings
from attriguard.data.releases.chance import Chance
from attriguard.data.releases.orders import Level
from attriguard.data.releases.private import refuse_attribute
from attriguard.data.releases.release import Release, align_items, make_release, survey_data
from attriguard.data.releases.survey import Survey
from attriguard.data.scale import RatingScale, check_scale
from attriguard.data.tables.ids import count_distinct
from attriguard.data.tables.source import plain_source
from attriguard.data.tables.table import InputTable
from attriguard.errors import DataError, GuardFileError, ParameterError
from attriguard.goals.base import Planner, Truth
from attriguard.goals.crossfit import CrossFitted
from attriguard.guard.core import Guard
from attriguard.ledger.met import Met
from attriguard.operations.memory import Entry, Memory, Told
from attriguard.operations.wishes import Wishes, first_few
from attriguard.plan import Most, Plan
from attriguard.progress import Progress

# The share of a table's ratings whose items the guard must know.
FEWEST_KNOWN = 0.1


@dataclass(frozen=True, eq=False)
class Block:
    """What was released of one block of users."""

    data: PublicData = field(repr=False)
    release: Release = field(repr=False)
    plan: Plan
    items: NDArray[Any] = field(repr=False)  # of the plan's columns
    warnings: tuple[str, ...]
    unknown_items: int
    emptied: int  # users who have no row left
    told: Told | None = field(default=None, repr=False)  # what goes into the ledger


@dataclass(frozen=True, eq=False)
class Prepared:
    """A block of users, read and checked, on the guard's columns."""

    data: PublicData
    X: csr_array
    unknown: NDArray[Any]  # items that the guard does not know
    locked: csr_array | None
    missed: tuple[tuple[str, str], ...]  # locked pairs that are not there
    met: Met | None = None  # with a ledger

    def whole(self, part: csr_array) -> csr_array:
        """Everybody's rows on the guard's columns, given those of the users who were planned for."""
        return part if self.met is None else self.met.released(part)[:, : self.met.n_known]


@dataclass(frozen=True, eq=False, kw_only=True)
class Protector:
    """A guard with the publisher's wishes. Nothing in it changes from block to block."""

    guard: Guard  # of several, the first: they know the same items and values
    planner: Planner | CrossFitted
    name: str  # of the guard, for messages
    wishes: Wishes = field(default_factory=Wishes)
    reading: Mapping[str, Any] = field(default_factory=dict)  # options of `read_ratings`
    whole: bool = True  # a table is the whole table, so that too few known ratings mean a guard for other data
    survey: Survey | None = None  # of all blocks; None: a table is surveyed itself
    memory: Memory | None = None  # of earlier releases

    def protect(self, given: InputTable | PublicData, chance: np.random.Generator | None, progress: Progress) -> Block:
        """Both phases and one draw for the users of a table; ``chance`` draws where there is no key."""
        block = self.prepare(given)
        return self.release(block, self.plan(block, progress), chance)

    def for_blocks(self) -> Protector:
        """The same for blocks of one table: what a block does not show must be settled before."""
        if self.guard.scale is None:
            raise ParameterError(
                "a block of users does not show the whole rating scale, and the guard knows none; make the guard with "
                "ag.learn, or with AttriGuard(scale=...)"
            )
        settings, goal = self.guard.planner().settings, self.planner.goal.name
        if settings.shared and settings.for_budget(None, goal).price is None:
            raise ParameterError(
                "a budget of everyone has no settled price for this goal and budget, so that a user's release would "
                "depend on the block; settle it with guard.settle(X) on users the guard has not learnt from, and save "
                "the guard"
            )
        return replace(self, whole=False)

    def settled(self, sample: Prepared, users: str = "together") -> Protector:
        """The same for blocks: what a table's other columns are is judged once, by a sample of its rows.

        ``users`` says how the rows of a block are ordered by user: "together" as they come, or by "numbers"; below
        that, by item.
        """
        data = sample.data
        source = (data.source or plain_source(data)).compact()
        survey = survey_data(data) if source.other_columns else Survey({}, data.items[:0])
        numbered = [source.table.column_names[k] for k, kind in survey.columns.items() if kind.kind == "number"]
        if numbered:
            raise DataError(
                f"column {numbered[0]!r} numbers the rows, and the number of a new row would depend on all rows before "
                "it; leave the column out with --drop-columns"
            )
        order = (Level(source.user, users), Level(source.item, "numbers"))
        return replace(self, survey=replace(survey, order=order, complete=True))

    def prepare(self, given: InputTable | PublicData) -> Prepared:
        """The users of a table, read and checked."""
        data = self._checked(given) if isinstance(given, PublicData) else self._read(given)
        if data.source is not None:
            source = data.source.without(self.wishes.drop_columns)
            data = replace(data, source=source)
            refuse_attribute(data, source, self.attribute)
        items = np.asarray(self.guard.items_)
        X, unknown = align_items(data, items)
        if self.whole:
            self._refuse_foreign(data, int(X.nnz))
        locked, missed = self.wishes.locked.pattern(data.users, items)
        if self.memory is None:
            return Prepared(data, X, unknown, locked, missed)
        return Prepared(data, X, unknown, locked, missed, self.memory.meet(data, items))

    def plan(
        self, block: Prepared, progress: Progress, budget: float | None = None, truth: Truth | None = None
    ) -> Plan:
        """Both phases, nothing drawn yet; with a ledger, for the users with something new."""
        X, locked, users, planner = block.X, block.locked, block.data.users, self.planner
        most: Most | None = self.wishes.most
        own = None
        if block.met is not None and self.memory is not None:
            met, news = block.met, block.met.news
            planner = planner.priced(X, self.memory.sample(X.shape[0]), budget, truth).take(news)
            X, locked, own, users = met.known, met.locked(locked), met.own, users[news]
            truth, most = truth and truth.take(news), self.memory.most(met, self.wishes.most)
        how: dict[str, Any] = {"budget": budget, "locked": locked, "most": most, "truth": truth, "own": own}
        plan = planner.plan(X, **how, users=users, progress=progress)
        return replace(plan, attribute=self.attribute)

    def release(self, block: Prepared, plan: Plan, chance: np.random.Generator | None) -> Block:
        """One draw for every user, in the table that the users came in."""
        data, items, met = block.data, np.asarray(self.guard.items_), block.met
        # The value that a user's noise points to stays the same; how many ratings go is drawn anew for new ones.
        turn = self.memory.turn if self.memory is not None and plan.target is None else 0
        choice = plan.draw(key=self.wishes.key, turn=turn) if chance is None else plan.draw(chance)
        released, planned = plan.edits.apply(plan.X, choice), data if met is None else data.take(met.news)
        key = self.wishes.key_for(self.attribute, "places")
        habits = habits_for(self.guard, self.wishes)
        if habits is not None:
            released = draw_ratings(planned, plan.X, released, items, Chance.of(chance, key), habits)
        earlier = None
        if met is not None:
            released, items, earlier = met.released(released), met.items, met.earlier()
        release = make_release(
            data, released, items=items, random_state=chance, key=key, survey=self.survey, order=self.wishes.order,
            earlier=earlier,
        )  # fmt: skip
        told = None
        if met is not None and self.memory is not None:
            told = self.memory.told(data, met, released, plan, choice, release)
        gone = _emptied(data, release)
        first_missed = f"; the first is about item {block.missed[0][1]}" if block.missed else ""
        warnings = [
            *seen_warning(self.seen(planned.users) if self.whole else 0, data.n_users),
            *unknown_warning(block.unknown.tolist()),
            *missed_warning(len(block.missed), len(self.wishes.locked.pairs), first_missed),
            *column_warning(release.telltale),
            *emptied_warning(*gone),
        ]
        return Block(data, release, plan, items, tuple(warnings), int(block.unknown.size), gone[0], told)

    def entry(self, block: Block) -> Entry | None:
        """What saving the block's release enters into the ledger."""
        return None if block.told is None else self.entry_of([block.told])

    def entry_of(self, told: Sequence[Told]) -> Entry | None:
        """The same for the blocks of one table."""
        if self.memory is None:
            return None
        whole = told[0] if len(told) == 1 else Told.joined(told)
        about = self.about(whole.budget / max(1, whole.planned))
        return Entry(self.memory, whole.scale, whole.counts, about, whole.files)

    def about(self, budget: float) -> dict[str, Any]:
        """What a ledger says of a release besides its counts; ``budget`` is the mean of those who were planned for."""
        goal, guard = self.planner.goal.name, fingerprint(self.guard.learnt_)
        return {"goal": goal, "policy": self.guard.policy, "budget": budget, "guard": guard}

    @property
    def attribute(self) -> str:
        """The name of the attribute that the guard hides."""
        return str(self.guard.metadata_.get("attribute", ""))

    def _refuse_foreign(self, data: PublicData, known: int) -> None:
        """A guard that knows hardly any rating protects nobody, and writes items of other data into the table."""
        if known < FEWEST_KNOWN * data.X.nnz:
            raise DataError(
                f"{self.name} knows {known:,} of the table's {data.X.nnz:,} ratings: it was learnt from other items, "
                "or their ids are written in another way; learn a guard from data with these items"
            )

    def seen(self, users: NDArray[Any]) -> int:
        """How many users the guard has learnt from, where the goal's noise would mark such users."""
        if isinstance(self.planner, CrossFitted) or not self.planner.goal.marks_seen_users:
            return 0
        return int(self.guard.has_learnt_from(users).sum())

    def _read(self, table: InputTable) -> PublicData:
        """The ratings on the guard's scale; a table that is of another kind than the guard's is refused."""
        scale, rated = self._scale, self.guard.metadata_.get("rated") or self.reading.get("rating") is not None
        like = scale is not None and scale.is_likes and not rated
        data = read_ratings(table, scale=scale, like=like, **self.reading)
        if data.scale.is_likes and scale is not None and not scale.is_likes:
            raise DataError(
                f"{table.name} has no column of ratings, but {self.name} was learnt from ratings, {scale}; name the "
                "column with --rating, or learn a guard from likes with: attriguard fit --like"
            )
        return data

    def _checked(self, data: PublicData) -> PublicData:
        """Data that has been read already, which must be on the guard's scale."""
        if self.reading:
            raise ParameterError(
                f"{', '.join(sorted(self.reading))}: options for reading a table, but the data has been read already"
            )
        if self._scale not in (None, data.scale):
            raise DataError(f"the ratings are {data.scale}, but {self.name} was learnt from ratings, {self._scale}")
        return data

    @property
    def _scale(self) -> RatingScale | None:
        return None if self.guard.scale is None else check_scale(self.guard.scale)


def habits_for(guard: Guard, wishes: Wishes) -> Habits | None:
    """How items are rated, where the ratings of new rows are drawn."""
    named = isinstance(guard.additions, Mapping)
    return guard.habits_ if wishes.added_ratings == "drawn" and not named else None


def planner_for(guard: Guard, wishes: Wishes) -> Planner:
    """The guard's planner; where ratings are drawn, its search does not count on the top of the scale."""
    planner, habits = guard.planner(), habits_for(guard, wishes)
    return planner if habits is None else planner.adding(habits.counted)


def make_protector(
    guard: Guard, name: str, changes: Mapping[str, Any], wishes: Wishes, reading: Mapping[str, Any]
) -> Protector:
    """A copy of the guard with other parameters, all of them checked before any work is done."""
    own = copy.copy(guard)
    given = {key: value for key, value in {**changes, "additions": wishes.additions}.items() if value is not None}
    own.set_params(**given)
    if wishes.locked.items:
        own.set_params(locked=[*(own.locked or []), *wishes.locked.items])
    planner = planner_for(own, wishes)
    if own.items_ is None:
        raise GuardFileError(
            f"{name} does not name its items, so they cannot be found in a table; make it with: attriguard fit"
        )
    memory = Memory.of(wishes, str(own.metadata_.get("attribute", "")))
    return Protector(guard=own, planner=planner, name=name, wishes=wishes, reading=reading, memory=memory)


def seen_warning(seen: int, n_users: int) -> list[str]:
    """Noise that points away from what a guard has memorised marks the truth."""
    if not seen:
        return []
    return [
        f"{seen:,} of {n_users:,} users are among those the guard learnt from, and their noise can tell an attacker "
        "who retrains more than no noise: protect such users with a guard learnt from others, or with the goal conceal"
    ]


def unknown_warning(unknown: Sequence[Any]) -> list[str]:
    """Items that the guard does not know."""
    return [f"{len(unknown):,} items are unknown to the guard and stay untouched: {first_few(unknown)}"] * bool(unknown)


def missed_warning(missed: int, asked: int, first: str = "") -> list[str]:
    """A record of the release holds its warnings, so this one names no user."""
    return [f"{missed:,} of {asked:,} locked pairs name a user or an item that is not there{first}"] * bool(missed)


def _emptied(data: PublicData, release: Release) -> tuple[int, int]:
    """How many users of the table have no row left, and how many it had."""
    source = data.source or plain_source(data)
    before = int(np.count_nonzero(np.bincount(source.user_of_row, minlength=data.n_users)))
    return max(0, before - count_distinct(release.table.column(source.user))), before


def emptied_warning(gone: int, before: int) -> list[str]:
    """Whoever has no rating left is missing from the table, which an earlier release or another table may show."""
    if not gone:
        return []
    return [
        f"{gone:,} of {before:,} users have no rating left, so that the release does not name them; give them fewer "
        "changes with --budget or --most, or leave users with few ratings out of the table"
    ]


def column_warning(told: Sequence[str]) -> list[str]:
    """Columns that are empty in new rows."""
    if not told:
        return []
    return [
        f"{', '.join(told)} {'is' if len(told) == 1 else 'are'} empty in added rows, which tells them from the others; "
        "drop such columns with --drop-columns"
    ]
