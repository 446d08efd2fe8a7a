"""``ag.write_page``: a guard as one HTML file for people, which searches inside the browser and sends nothing."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attriguard._text import bare_name
from attriguard.data.files import written_beside
from attriguard.data.named.registry import DATASETS
from attriguard.data.public_data import PublicData
from attriguard.data.tables.columns import find_column
from attriguard.data.tables.item_names import ItemNames, name_items, read_item_names
from attriguard.data.tables.table import InputTable, read_table
from attriguard.errors import ParameterError
from attriguard.guard import AttriGuard, load_guard
from attriguard.operations.learn import learn
from attriguard.page.build import page_html
from attriguard.page.pack import MEMBERS, Packed, pack, rounded, title_and_year
from attriguard.progress import Progress, ProgressLike
from attriguard.report.origin import made_at

Titles = ItemNames | Sequence[str] | NDArray[Any]


@dataclass(frozen=True)
class WrittenPage:
    """What a page, or an extension, holds, and where it is."""

    path: Path
    size: int  # in bytes
    attribute: str
    values: tuple[str, ...]
    items: int
    titled: int  # items that have a title besides their id
    goals: tuple[str, ...]
    sha256: str  # of the guard in it

    @property
    def warnings(self) -> tuple[str, ...]:
        """What its publisher should know."""
        if self.titled:
            return ()
        return ("the page knows items by their ids alone, and people do not: name a table of titles",)

    def record(self) -> dict[str, Any]:
        """Everything, as JSON knows it."""
        return {**vars(self), "path": str(self.path), "warnings": list(self.warnings)}


def write_page(
    source: AttriGuard | PublicData | str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    titles: Titles | None = None,
    random_state: Any = None,
    progress: ProgressLike = None,
    **options: Any,
) -> WrittenPage:
    """Write a page for people: what their ratings say about them, and what to change.

    Parameters
    ----------
    source
        A fitted guard or its file. Or data: then a guard for the goal "both" is learnt from its training users, and
        tried out on the others.
    path
        The HTML file to write. It needs no server and no network: the guard and its search are in it.
    titles
        What people call the items: a table or a mapping of id and title, or a title for each of the guard's items in
        their order. A title may end with "(year)", or a table have a column "year". None: the names that the data
        comes with, or the ids.
    random_state
        Seeds the learning; None: the operating system's entropy.
    progress
        Where to report progress (see `Progress`).
    **options
        Options of `AttriGuard` for a guard that is to be learnt (``policy``, ``budget``, ``split`` …).

    Examples
    --------
    >>> import attriguard as ag, tempfile, pathlib
    >>> data = ag.load_dataset("twin", n_users=300, n_items=50, n_values=2)
    >>> page = ag.write_page(ag.learn(data), pathlib.Path(tempfile.mkdtemp(), "city.html"), titles=data.item_names)
    >>> page.goals, page.items
    (('mislead',), 50)
    """
    if isinstance(source, PublicData):
        guard = _learnt(source, options, random_state, Progress.of(progress))
        titles = source.item_names if titles is None else titles
    elif options:
        raise ParameterError(f"{next(iter(options))}: an option of learning, but this guard is learnt already")
    else:
        guard = source if isinstance(source, AttriGuard) else load_guard(source)
    packed, titled = packed_with(guard, titles)
    content = page_html(packed).encode()
    with written_beside(Path(path)) as file:
        file.write(content)
    return written(Path(path), len(content), packed.card, titled)


def packed_with(guard: AttriGuard, titles: Titles | None) -> tuple[Packed, int]:
    """The guard packed with the titles of its items, and how many have one."""
    names, titled = _names(guard, titles)
    return pack(guard, titles=names), titled


def written(path: Path, size: int, card: Mapping[str, Any], titled: int) -> WrittenPage:
    """What was written there."""
    return WrittenPage(
        path=path,
        size=size,
        attribute=card["attribute"],
        values=tuple(card["values"]),
        items=len(card["items"]["ids"]),
        titled=titled,
        goals=tuple(card["goals"]),
        sha256=card["about"]["sha256"],
    )


def _names(guard: AttriGuard, titles: Titles | None) -> tuple[list[str] | None, int]:
    """A title for every item, and how many have one."""
    if titles is None:
        return None, 0
    if isinstance(titles, (Sequence, np.ndarray)) and not isinstance(titles, str):
        return [str(title) for title in titles], len(titles)
    ids = np.arange(guard.n_features_in_) if guard.items_ is None else guard.items_
    names, known = name_items(ids, _titles(titles))
    return names.tolist(), known


def _titles(given: ItemNames) -> dict[str, str]:
    """Titles by item id; what a column "year" holds stands in brackets behind a title that has no year."""
    if isinstance(given, Mapping):
        return read_item_names(given)
    table = read_table(given, "the table of titles")
    names, title = read_item_names(table), find_column(table.column_names, "title")
    year = next((name for name in table.column_names if bare_name(name) == "year"), None)
    if year is None or title is None:
        return names
    rest = table.table.drop_columns([title]).rename_columns({year: title})
    years = {item: found[:4] for item, found in read_item_names(InputTable(rest, table.name)).items()}
    return {
        item: f"{name} ({years[item]})" if title_and_year(name)[1] is None and years.get(item, "").isdigit() else name
        for item, name in names.items()
    }


def _learnt(data: PublicData, options: dict[str, Any], random_state: Any, progress: Progress) -> AttriGuard:
    """A guard for all goals, which says what it was learnt from and what it did to users it did not learn from."""
    if not data.m:
        raise ParameterError("a page is about an attribute, and this data has none; name one with attribute=")
    train, test = data.split() if data.test_mask is not None else data.split(random_state=random_state)
    wanted = {"goal": "both", "members": MEMBERS, **options}
    guard = learn(train, random_state=random_state, progress=progress, **wanted)
    known = DATASETS.get(data.name)
    guard.metadata_.update(
        users=rounded(int(guard.counts_.sum())),
        date=made_at()[:10],
        measured=_measured(guard, test.take(test.disclosed)),
    )
    if known is not None:  # a table's own name is its publisher's matter
        guard.metadata_.update(data=known.title, licence=known.licence)
    return guard


def _measured(guard: AttriGuard, users: PublicData) -> dict[str, Any]:
    """How often the guard's own classifier is right about users that it did not learn from, before and after."""
    planner = copy.copy(guard).set_params(goal="conceal").planner()
    changed = planner.plan(users.X).release(0)
    return {
        "users": users.n_users,
        "changes": planner.settings.budget,
        "guess": float((users.y == guard.counts_.argmax()).mean()),
        "before": float((guard.posterior(users.X).argmax(axis=1) == users.y).mean()),
        "after": float((guard.posterior(changed).argmax(axis=1) == users.y).mean()),
    }
