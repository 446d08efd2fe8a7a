"""Things by name: attacks, defenses, searches, goals; each is a class that says of itself what it is and needs.

A registry names classes and loads them on first use. What the package does not have comes in two ways, without a change
to its source: as "module:Class", or from installed packages through an entry-point group.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar, cast

from attriguard.errors import ParameterError

Thing = TypeVar("Thing")


class Registry(Mapping[str, type[Thing]], Generic[Thing]):
    """Name → class, in the order of the table; ``kind`` is what errors call one of them."""

    def __init__(self, kind: str, base: str, table: Mapping[str, str], *, group: str | None = None) -> None:
        self.kind, self._base, self._table, self._group = kind, base, dict(table), group

    def __getitem__(self, name: str) -> type[Thing]:
        """The class behind a name, or behind "module:Class"."""
        if not isinstance(name, str):
            raise ParameterError(f"unknown {self.kind} {name!r}; known: {', '.join(self)}")
        if name in self._table:
            return self._load(name, self._table[name])
        if ":" in name:
            return self._load(name, name)
        plugged = self._plugged()
        if name in plugged:
            return self._load(name, plugged[name])
        raise ParameterError(f"unknown {self.kind} {name!r}; known: {', '.join(self)}")

    def __iter__(self) -> Iterator[str]:
        yield from self._table
        yield from self._plugged()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._table or name in self._plugged())

    def _plugged(self) -> dict[str, str]:
        """What installed packages add."""
        if self._group is None:
            return {}
        found = entry_points(group=self._group)
        return {entry.name: entry.value for entry in found if entry.name not in self._table}

    def make(self, name: str, **options: Any) -> Thing:
        """A new one with these options; an option that it does not have is refused."""
        cls = self[name]
        known = options_of(cls)
        strange = [option for option in options if option not in known]
        if strange:
            has = f"its options are {', '.join(known)}" if known else "it has no options"
            raise ParameterError(f"{name} has no option {strange[0]!r}; {has}")
        return cls(**options)

    def lineup(self, names: Iterable[str], **options: Any) -> list[Thing]:
        """Several by name; each takes those of the options that it knows and does not keep for itself.

        An option that is None counts as not given.
        """
        made = []
        for name in names:
            cls = self[name.strip()]
            known = set(options_of(cls)) - set(getattr(cls, "own_options", ()))
            made.append(cls(**{k: value for k, value in options.items() if k in known and value is not None}))
        return made

    def _load(self, name: str, place: str) -> type[Thing]:
        module, _, attribute = place.partition(":")
        try:
            found = getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError, ValueError) as error:
            if place in self._table.values():
                raise
            raise ParameterError(f"the {self.kind} {name!r} cannot be loaded: {error}") from error
        base = _load_base(self._base)
        if not (isinstance(found, type) and issubclass(found, base)):
            raise ParameterError(f"{name} is no {self.kind}: it must be a class derived from {base.__name__}")
        if inspect.isabstract(found):
            lacking = ", ".join(sorted(found.__abstractmethods__))  # type: ignore[attr-defined]
            raise ParameterError(f"{name} is not complete: a class derived from {base.__name__} must define {lacking}")
        return cast("type[Thing]", found)


def _load_base(place: str) -> type:
    module, _, attribute = place.partition(":")
    base: type = getattr(importlib.import_module(module), attribute)
    return base


def options_of(cls: type) -> list[str]:
    """The names of a class's options: the parameters of its constructor."""
    if cls.__init__ is object.__init__:  # type: ignore[misc]
        return []
    return list(inspect.signature(cls).parameters)
