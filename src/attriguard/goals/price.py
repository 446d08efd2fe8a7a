"""The price of a change under a budget of everyone: so many changes a user on average, each where it helps most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from attriguard._checks import check_choice, check_number

USER, EVERYONE = "user", "everyone"


def check_budget_over(over: Any) -> str:
    """Whose budget it is: each user's, or that of all users together."""
    return check_choice(over, (USER, EVERYONE), name="budget_over")


@dataclass(frozen=True)
class Price:
    """What one more change must gain under a budget of everyone.

    A price that is settled once, on users like those that will be protected, makes the release of a user independent of
    who else is protected at the same time.
    """

    goal: str
    budget: float
    removal: float = 0.0  # nats of leakage, for a removed rating
    noise: float = 0.0  # nats of divergence, for a unit of cost
    left: float = 0.0  # what removals leave of the budget

    @classmethod
    def of(cls, record: Any) -> Self | None:
        """A price as JSON holds it; earlier guards count the leakage otherwise, so their price of a removal is none."""
        if record is None or record.get("change"):
            return None
        numbers = {name: record.get(name, 0.0) for name in ("budget", "removal", "noise", "left")}
        return cls(str(record["goal"]), **{name: check_number(n, name=name, low=0.0) for name, n in numbers.items()})
