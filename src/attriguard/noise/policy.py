"""The user's policy: what kind of noise may be added (section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attriguard._checks import check_choice


@dataclass(frozen=True, slots=True)
class Policy:
    """One of the paper's three kinds of noise."""

    name: str
    modify: bool  # existing entries may change
    add: bool  # new entries may be added
    meaning: str


POLICIES = {
    policy.name: policy
    for policy in (
        Policy("modify_exist", True, False, "change or remove existing ratings only"),
        Policy("add_new", False, True, "add new ratings only"),
        Policy("modify_add", True, True, "change, remove or add ratings"),
    )
}


def check_policy(policy: Any) -> Policy:
    """The policy of this name; an unknown name is refused."""
    return POLICIES[check_choice(policy, POLICIES, name="policy")]
