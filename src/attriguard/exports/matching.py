"""Titles as people and sites write them, matched to the items of a guard: by id, by title and year, by title.

"Piano, The (1993)", "The Piano" of 1993 and "the piano" are one film. Where two items may be meant, none is taken: what
did not match is given back with the nearest titles.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from attriguard.exports.base import Row

BY_ID, BY_TITLE_AND_YEAR, BY_TITLE = "id", "title and year", "title"
# A site may name the year in which a film was shown first, another one the year after.
YEARS_APART = 1
# A short number is an id in every catalogue: it counts only where the titles agree.
SHORT_NUMBER = re.compile(r"\d{1,8}", re.ASCII)
# The nearest titles are looked up for the first rows that did not match, and must share this much.
NEAR_ROWS, NEAREST, LEAST_SHARED = 200, 3, 0.3
# More letters than this are no title.
LONGEST_TITLE = 300

_ARTICLES = "the|a|an|le|la|les|l'|un|une|der|die|das|ein|eine|el|los|las|una|il|lo|gli|i|de|het|o|os|as|den|det|en|ett"
_BEHIND = re.compile(rf"(.*\S),\s+({_ARTICLES})\s*", re.IGNORECASE)
_IN_FRONT = re.compile(r"(?:the|an|a) (.+)")
_YEAR = re.compile(r"(.*\S)\s*[(\[](\d{4})(?:[-–/]\d{0,4})?[)\]]\s*", re.DOTALL | re.ASCII)
_BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]")
_OTHER_NAME = re.compile(r"\S\s*[(\[](?:a\.?k\.?a\.?\s+)?([^()\[\]#]*[^\W\d_][^()\[\]#]*)[)\]]", re.IGNORECASE)
_SUBTITLE = re.compile(r"(.*?\S)\s*(?::|\s[-–—]\s).+", re.DOTALL)
_LETTERS = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i",
                          "ς": "σ"})  # fmt: skip


class Item(NamedTuple):
    """An item of a guard; its title is its id where it has none."""

    id: str
    title: str
    year: int | None = None


class Match(NamedTuple):
    """A row of an export and the item that it is, by their places."""

    row: int
    item: int
    how: str


class Unmatched(NamedTuple):
    """A row that is no item, or may be several, and the items that come nearest."""

    row: int
    near: tuple[int, ...]


class Forms(NamedTuple):
    """What a title may be written as, strictest first; and what it is without its subtitle."""

    whole: tuple[str, ...]
    short: tuple[str, ...]
    core: str  # without article and brackets
    year: int | None


def plain(text: str) -> str:
    """A title without accents, case and punctuation; a title of nothing else stays as it is."""
    bare = re.sub("['’‘ʼ`´]", "", text).replace("&", " and ")
    letters = (letter for letter in unicodedata.normalize("NFKD", bare) if unicodedata.category(letter)[0] != "M")
    words = re.sub(r"[\W_]+", " ", "".join(letters).lower().translate(_LETTERS)).strip()
    return words or text.strip().lower()


def split_year(title: str) -> tuple[str, int | None]:
    """A title without the year in brackets at its end, and that year."""
    found = _YEAR.fullmatch(title)
    return (found.group(1), int(found.group(2))) if found else (title.strip(), None)


def forms(title: str, year: int | None = None) -> Forms:
    """Everything that a title may be written as; ``year`` counts more than one in brackets."""
    name, own = split_year(title[:LONGEST_TITLE])
    outside = _BRACKETS.sub(" ", name).strip() or name
    strict = [plain(_article_in_front(part)) for part in (name, outside, *_OTHER_NAME.findall(name))]
    subtitled = _SUBTITLE.fullmatch(outside)
    short = [plain(_article_in_front(subtitled.group(1)))] if subtitled else []
    return Forms(
        whole=_distinct([*strict, *map(_without_article, strict)]),
        short=_distinct([*short, *map(_without_article, short)]),
        core=_without_article(strict[1]),
        year=own if year is None else year,
    )


def _without_article(form: str) -> str:
    found = _IN_FRONT.fullmatch(form)
    return found.group(1) if found else form


def _article_in_front(name: str) -> str:
    """ "Piano, The" as "The Piano"."""
    found = _BEHIND.fullmatch(name)
    return f"{found.group(2)} {found.group(1)}" if found else name


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


@dataclass(frozen=True, eq=False)
class Index:
    """The items of a guard by id and by every form of their titles."""

    items: Sequence[Item]
    forms: Sequence[Forms]
    ids: dict[str, int] = field(default_factory=dict)
    whole: dict[str, list[int]] = field(default_factory=dict)
    short: dict[str, list[int]] = field(default_factory=dict)

    @cached_property
    def _triples(self) -> tuple[dict[str, list[int]], list[int]]:
        """The items that have each three letters in a row, and how many such each item has."""
        postings: dict[str, list[int]] = {}
        sizes = []
        for item, found in enumerate(self.forms):
            triples = _triples(found)
            sizes.append(len(triples))
            for triple in triples:
                postings.setdefault(triple, []).append(item)
        return postings, sizes

    def near(self, row: Row, limit: int = NEAREST) -> tuple[int, ...]:
        """The items whose titles share most with a row's."""
        postings, sizes = self._triples
        wanted, shared = _triples(forms(row.title, row.year)), dict[int, int]()
        for triple in wanted:
            for item in postings.get(triple, ()):
                shared[item] = shared.get(item, 0) + 1
        score = {item: 2 * n / (len(wanted) + sizes[item]) for item, n in shared.items()}
        close = [item for item in score if score[item] >= LEAST_SHARED]
        return tuple(sorted(close, key=lambda item: (-score[item], item))[:limit])


def _triples(found: Forms) -> set[str]:
    text = f" {found.core} "
    return {text[k : k + 3] for k in range(len(text) - 2)}


def make_index(items: Sequence[Item]) -> Index:
    """The items of a guard, to be looked up."""
    index = Index(items, [forms(item.title, item.year) for item in items])
    for place, (item, found) in enumerate(zip(items, index.forms, strict=True)):
        index.ids.setdefault(item.id, place)
        for form in found.whole:
            index.whole.setdefault(form, []).append(place)
        for form in found.short:
            index.short.setdefault(form, []).append(place)
    return index


def match_rows(index: Index, rows: Sequence[Row]) -> tuple[list[Match], list[Unmatched]]:
    """Which item each row is, and the rows that are none, with the nearest titles."""
    matched: list[Match] = []
    missed: list[Unmatched] = []
    for place, row in enumerate(rows):
        item, how, meant = _match(index, row)
        if item is not None:
            matched.append(Match(place, item, how))
        else:
            near = meant or (index.near(row) if len(missed) < NEAR_ROWS else ())
            missed.append(Unmatched(place, near))
    return matched, missed


def _match(index: Index, row: Row) -> tuple[int | None, str, tuple[int, ...]]:
    """The item, by what it was found, and those that may be meant where it is none."""
    found = forms(row.title, row.year)
    for identity in (row.id, *row.also):
        item = index.ids.get(identity or "")
        if item is not None and _is_same(index, item, identity or "", found):
            return item, BY_ID, ()
    for form in found.whole:
        named = {item: index.forms[item].whole.index(form) for item in index.whole.get(form, ())}
        item, meant = _one_of(index, named, found.year)
        if item is not None or meant:
            return item, _how(index, item, found.year), meant
    # Only one of the two may lack its subtitle, and then the years must not leave any doubt.
    loose = [item for form in found.whole for item in index.short.get(form, ())]
    loose += [item for form in found.short for item in index.whole.get(form, ())]
    sure = {item: 0 for item in loose if (index.forms[item].year is None) == (found.year is None)}
    item, meant = _one_of(index, sure, found.year)
    return item, _how(index, item, found.year), meant


def _is_same(index: Index, item: int, identity: str, found: Forms) -> bool:
    known = index.items[item]
    if not SHORT_NUMBER.fullmatch(identity) or known.title == known.id:
        return True
    return not set(found.whole).isdisjoint(index.forms[item].whole)


def _one_of(index: Index, named: Mapping[int, int], year: int | None) -> tuple[int | None, tuple[int, ...]]:
    """The one item that is meant: of the nearest year, then named most strictly; several where that leaves a doubt.

    ``named`` says how loosely each item has the name that was looked up.
    """
    rank = {item: (_apart(index.forms[item].year, year), loosely) for item, loosely in named.items()}
    close = [item for item in rank if rank[item][0] <= YEARS_APART]
    best = [item for item in close if rank[item] == min(rank[one] for one in close)]
    if len({(index.forms[item].whole[0], index.forms[item].year) for item in best}) > 1:
        return None, tuple(best[:NEAREST])
    return (best[0] if best else None), ()


def _apart(one: int | None, two: int | None) -> float:
    """How many years lie between; half a year where one of them is not known."""
    return 0.5 if one is None or two is None else abs(one - two)


def _how(index: Index, item: int | None, year: int | None) -> str:
    return BY_TITLE if year is None or item is None or index.forms[item].year is None else BY_TITLE_AND_YEAR
