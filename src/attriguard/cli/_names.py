"""Names that options take: a wrong one is told at once, and the shell completes them; neither loads anything heavy.

The names here are those of the package's own tables, which load more than they name; tests/cli/test_names.py compares
them. What comes as MODULE:CLASS is loaded and checked by the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from attriguard.errors import ParameterError

ALL = "all"


@dataclass(frozen=True)
class Names:
    """The names that an option takes: one of them, or several with commas between."""

    kind: str  # what errors call one of them
    known: Callable[[], Sequence[str]]
    several: bool = False
    ways: Callable[[], Sequence[str]] = tuple  # "self-trained", for self-trained(MLP-A)

    def check(self, given: str | Sequence[str] | None) -> None:
        """Refuse a name that is unknown; nothing, and "all" where several may be given, is left to the command."""
        text = given.split(",") if isinstance(given, str) and self.several else given
        names = [text] if isinstance(text, str) else text or ()
        strange = [
            name for name in map(self._made_from, names) if name and ":" not in name and name not in self.known()
        ]
        if not strange or (self.several and strange == [ALL]):
            return
        close = get_close_matches(strange[0], self.known(), 1)
        meant = f"; did you mean {close[0]}?" if close else ""
        raise ParameterError(f"unknown {self.kind} {strange[0]!r}; known: {', '.join(self.known())}{meant}")

    def _made_from(self, name: str) -> str:
        """The name in the parentheses, where it stands in some behind a way; else the name."""
        way, opened, inner = name.strip().partition("(")
        made = opened and inner.endswith(")") and way.strip() in self.ways()
        return self._made_from(inner[:-1]) if made else name.strip()

    def complete(self, incomplete: str) -> list[str]:
        """What the shell offers for the beginning of a name; names that were given before it stay."""
        before, comma, start = incomplete.rpartition(",") if self.several else ("", "", incomplete)
        return [f"{before}{comma}{name}" for name in self.known() if name.startswith(start)]


def _attacks() -> Sequence[str]:
    import attriguard as ag

    return ag.attacks.names()


def _ways() -> Sequence[str]:
    import attriguard as ag

    return list(ag.attacks.WAYS)


def _defenses() -> Sequence[str]:
    import attriguard as ag

    return list(ag.defenses.DEFENSES)


def _datasets() -> Sequence[str]:
    import attriguard as ag

    return ag.dataset_names()


def _experiments() -> Sequence[str]:
    import attriguard as ag

    return ag.experiments.names()


def _fixed(*names: str) -> Callable[[], Sequence[str]]:
    return lambda: names


GOALS = _fixed("mislead", "conceal", "both")
PARTS = _fixed(
    "startup",
    "reading",
    "phase1",
    "phase2",
    "million",
    "everyone",
    "bulk",
    "releases",
    "heavy",
    "exact",
    "network",
    "conceal",
    "searches",
)
# By the name of the option, which means the same in every command.
NAMES: dict[str, Names] = {
    "attacks": Names("attack", _attacks, several=True, ways=_ways),
    "classifier": Names("classifier", _fixed("lr", "lr-ova", "nn")),
    "dataset": Names("data set", _datasets),
    "defenses": Names("defense", _defenses, several=True),
    "duplicates": Names("duplicates", _fixed("error", "last", "mean")),
    "experiments": Names("experiment", _experiments),
    "goal": Names("goal", GOALS),
    "goals": Names("goal", GOALS, several=True),
    "inversion": Names("attack", _attacks, several=True, ways=_ways),
    "only": Names("part", PARTS, several=True),
    "policy": Names("policy", _fixed("modify_exist", "add_new", "modify_add")),
    "profile": Names("profile", _fixed("quick", "paper", "strict")),
    "recommender": Names("recommender", _fixed("SVD", "ALS", "PureSVD")),
    "retrained": Names("attack", _attacks, several=True, ways=_ways),
    "search": Names("search", _fixed("probability", "margin", "panda", "exact", "fgsm", "jsma", "cw")),
    "target": Names("target", _fixed("train", "uniform")),
    "unmatched": Names("unmatched", _fixed("error", "keep", "drop")),
}


def check_names(given: dict[str, Any]) -> None:
    """Refuse the first option whose name is unknown."""
    for option, value in given.items():
        if option in NAMES:
            NAMES[option].check(value)
