"""Where long work stands: parts within parts, each a share of the bar of what it is a part of.

Whoever does the work says how it divides, in the order in which it is done; nobody counts steps in advance::

    learning, attacking = progress.parts(3, 1)  # learning takes about three times as long
    guard.fit(X, y, progress=learning)
    for attack, inner in attacking.each(attacks, lambda attack: attack.name):
        attack.fit(X, y, progress=inner)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from itertools import accumulate, pairwise
from typing import TypeVar

Thing = TypeVar("Thing")
# Called with what is going on and the share of all work that is done, from 0 to 1.
Sink = Callable[[str, float], None]
# Labels of nested parts that are shown together; more would not fit on a line.
SHOWN_LABELS = 2


class Progress:
    """One piece of work, from ``low`` to ``high`` on the bar of all work."""

    def __init__(
        self, sink: Sink | None = None, *, low: float = 0.0, high: float = 1.0, labels: tuple[str, ...] = ()
    ) -> None:
        self._sink, self._low, self._high, self._labels = sink, low, high, labels
        self.quiet = sink is None  # nobody looks: what is told is lost

    @classmethod
    def of(cls, given: Progress | Sink | None) -> Progress:
        """What a caller gave: a progress, a function to call, or nothing, which shows nothing."""
        return given if isinstance(given, Progress) else cls(given)

    def tell(self, what: str, done: float = 0.0) -> None:
        """Show what is going on, and which share of this work is done."""
        if self._sink is not None:
            shown = [label for label in (*self._labels, what) if label]
            self._sink(": ".join(shown[-SHOWN_LABELS:]), self._low + done * (self._high - self._low))

    def parts(self, *weights: float) -> tuple[Progress, ...]:
        """The pieces of this work, done one after another; ``weights`` say about how long each takes."""
        total = sum(weights)
        ends = accumulate(weights, initial=0.0)
        return tuple(self._between(low / total, high / total) for low, high in pairwise(ends))

    def each(
        self, things: Collection[Thing], name: Callable[[Thing], str] = lambda _: ""
    ) -> Iterator[tuple[Thing, Progress]]:
        """Go through things that take about equally long; each comes with the progress of its own part."""
        for k, thing in enumerate(things):
            part = self._between(k / len(things), (k + 1) / len(things), name(thing))
            part.tell("")
            yield thing, part

    def counter(self, total: int, what: str) -> Callable[[int], None]:
        """A function to call with how many more of ``total`` equal steps are done."""
        done = 0

        def count(steps: int = 1) -> None:
            nonlocal done
            done += steps
            self.tell(what, min(1.0, done / max(1, total)))

        return count

    def named(self, label: str) -> Progress:
        """The same work under a label, which stands before what is going on inside it."""
        return self._between(0.0, 1.0, label)

    def _between(self, start: float, end: float, label: str = "") -> Progress:
        width = self._high - self._low
        labels = (*self._labels, label) if label else self._labels
        return Progress(self._sink, low=self._low + start * width, high=self._low + end * width, labels=labels)


ProgressLike = Progress | Sink | None

# Who is told that a kernel is being compiled. That happens once a machine, anywhere in the work, and takes seconds.
_told: list[Callable[[], None]] = []


@contextmanager
def when_compiling(tell: Callable[[], None]) -> Iterator[None]:
    """While the context lasts, ``tell`` is called whenever a kernel begins to be compiled."""
    _told.append(tell)
    try:
        yield
    finally:
        _told.remove(tell)


def tell_compiling() -> None:
    """A kernel begins to be compiled."""
    for tell in _told:
        tell()
