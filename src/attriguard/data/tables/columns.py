"""Which column is the user, the item, the rating: named by options, else guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from attriguard._text import bare_name
from attriguard.data.tables.table import HEADERLESS, InputTable
from attriguard.errors import DataError

_USER_WORDS = (
    "customer",
    "cust",
    "member",
    "reviewer",
    "rater",
    "person",
    "account",
    "visitor",
    "client",
    "player",
)
_ITEM_WORDS = (
    "movie", "film", "book", "app", "product", "song", "track", "artist", "album", "page", "business", "game",
    "anime", "article", "recipe", "beer", "place", "venue", "restaurant", "hotel", "course", "show", "video",
)  # fmt: skip

# Names without case, blanks and marks; a column of an earlier set wins, two columns of one set are ambiguous.
USER_NAMES = (
    frozenset({"userid", "uid"}),
    frozenset({"user", "username"}),
    frozenset(f"{word}id" for word in _USER_WORDS),
    frozenset(_USER_WORDS),
)
ITEM_NAMES = (
    frozenset({"itemid", "iid"}),
    frozenset({"item"}),
    frozenset({*(f"{word}id" for word in _ITEM_WORDS), "asin", "isbn", "sku"}),
    frozenset({*_ITEM_WORDS, "parentasin", "packagename"}),
)
RATING_NAMES = (
    frozenset({"rating"}),
    frozenset({"ratings", "score", "stars", "star", "value", "overall", "rate", "grade", "vote"}),
    frozenset({"bookrating", "userrating", "starrating", "reviewscore", "reviewrating", "movierating"}),
)
# In a table of items, the id and what people call the item.
ITEM_ID_NAMES = (*ITEM_NAMES[:3], frozenset({"id"}), ITEM_NAMES[3])
TITLE_NAMES = (
    frozenset({"title", *(f"{word}{end}" for word in ("item", *_ITEM_WORDS) for end in ("title", "name"))}),
    frozenset({"name", "label", "caption"}),
)
ROLES = {
    "user": USER_NAMES,
    "item": ITEM_NAMES,
    "rating": RATING_NAMES,
    "item_id": ITEM_ID_NAMES,
    "title": TITLE_NAMES,
}
# Row numbers that a program wrote beside the data: never a user, an item or a rating.
ROW_NUMBERS = re.compile(r"(|index|rownames|unnamed: \d+|__index_level_\d+__)")


class Roles(NamedTuple):
    """The positions of the columns; no rating column means that every row is a like."""

    user: int
    item: int
    rating: int | None


def named_column(table: InputTable, name: str, option: str) -> int:
    """The position of the column that an option names."""
    found = [k for k, column in enumerate(table.column_names) if column == name]
    if len(found) == 1:
        return found[0]
    problem = "no column" if not found else f"{len(found)} columns"
    raise DataError(
        f"{table.name} has {problem} named {name!r} (the option {option}); its columns are {table.shown_columns}"
    )


def usable_columns(table: InputTable) -> list[int]:
    """The columns that are not mere row numbers."""
    return [k for k, name in enumerate(table.column_names) if not ROW_NUMBERS.fullmatch(name.strip().casefold())]


def find_column(names: Iterable[str], role: str) -> str | None:
    """The first column whose name is one of those known for a role of ``ROLES``, or None."""
    columns = list(names)
    for known in ROLES[role]:
        for name in columns:
            if bare_name(name) in known:
                return name
    return None


def guess_column(table: InputTable, free: Iterable[int], names: Iterable[frozenset[str]], option: str) -> int | None:
    """The one column among ``free`` that has one of the known names, or None."""
    columns = list(free)
    for known in names:
        found = [k for k in columns if bare_name(table.column_names[k]) in known]
        if len(found) > 1:
            both = " and ".join(repr(table.column_names[k]) for k in found)
            raise DataError(
                f"{table.name} has more than one column that may be the {option}: {both}; "
                f"say which with the option {option}"
            )
        if found:
            return found[0]
    return None


def find_roles(table: InputTable, *, user: str | None, item: str | None, rating: str | None, like: bool) -> Roles:
    """The user, item and rating columns of a long table."""
    wanted = {"user": user, "item": item} if like else {"user": user, "item": item, "rating": rating}
    found = {option: named_column(table, name, option) for option, name in wanted.items() if name is not None}
    for option in wanted:
        if option not in found:
            free = [k for k in usable_columns(table) if k not in found.values()]
            guess = guess_column(table, free, ROLES[option], option)
            if guess is not None:
                found[option] = guess
    free = [k for k in usable_columns(table) if k not in found.values()]
    missing = [option for option in ("user", "item") if option not in found]
    if not found and len(free) in (2, 3):
        found = dict(zip(wanted, free, strict=False))
        refuse_headerless(table, "user or item")
    elif len(missing) == 1 and len(free) == 1:
        found[missing[0]] = free[0]
    elif missing:
        raise DataError(
            f"{table.name}: which column is the {' and which the '.join(missing)}? Its columns are "
            f"{table.shown_columns}; say which with the option {' and the option '.join(missing)}"
            + (_UNSPLIT if table.csv and len(table.column_names) == 1 else "")
            + (_OWN_LIST if "user" in missing and find_column(table.column_names, "title") else "")
        )
    roles = Roles(found["user"], found["item"], found.get("rating"))
    if len(set(roles)) < len(roles):
        raise DataError(f"{table.name}: user, item and rating must be three columns, got one of them twice")
    return roles


_OWN_LIST = "; a list of your own is read by: attriguard me"
_UNSPLIT = "; columns are split by a comma, a semicolon, a tab or a bar"


def refuse_headerless(table: InputTable, what: str) -> None:
    """Refuse a first line that looks like data: read as a header, it would be lost, and published as it stands."""
    if table.looks_headerless:
        raise DataError(f"{table.name} has no column named {what}{HEADERLESS}")
