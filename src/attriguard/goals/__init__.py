"""What a guard is for: to mislead an attacker, to conceal what tells, or both.

A new goal is one file, and one line here.
"""

from __future__ import annotations

from typing import Any

from attriguard._registry import Registry
from attriguard.goals.base import Goal, Learnt, Settings

GOALS: Registry[Goal] = Registry(
    "goal",
    "attriguard.goals.base:Goal",
    {
        "mislead": "attriguard.goals.mislead:Mislead",
        "conceal": "attriguard.goals.conceal:Conceal",
        "both": "attriguard.goals.both:Both",
    },
)


def get(name: Any) -> Goal:
    """The goal of that name."""
    return GOALS.make(name)


def names() -> list[str]:
    """All goals, by name."""
    return list(GOALS)


__all__ = ["GOALS", "Goal", "Learnt", "Settings", "get", "names"]


def __dir__() -> list[str]:
    return sorted(__all__)
