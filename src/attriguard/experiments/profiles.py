"""How large an experiment is: as in the paper, or small enough for a coffee break."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from attriguard.classifiers.network import ATTACKER_UNITS, DEFENDER_UNITS

# Test users that a search is measured on, by search and defender; None: all, 0: it is left out. Slow searches are
# measured on few users: CW on a network of the paper's size takes minutes a user (in the paper, twelve days).
FEW: Mapping[str, int | None] = {
    "fgsm LR-D": 100, "fgsm NN-D": 40, "jsma LR-D": None, "jsma NN-D": 40, "cw LR-D": 8, "cw NN-D": 2,
    "panda LR-D": None, "panda NN-D": None, "margin LR-D": None, "margin NN-D": 40, "exact LR-D": 12,
}  # fmt: skip
MANY: Mapping[str, int | None] = {
    "fgsm LR-D": None, "fgsm NN-D": 200, "jsma LR-D": None, "jsma NN-D": 64, "cw LR-D": 200, "cw NN-D": 16,
    "panda LR-D": None, "panda NN-D": None, "margin LR-D": None, "margin NN-D": 200, "exact LR-D": 40,
}  # fmt: skip


@dataclass(frozen=True)
class Profile:
    """Everything that a profile decides; part of the key of every result."""

    name: str
    attacker_units: int
    defender_units: int
    epochs: int
    users: int | None  # test users that are attacked; None: all
    rank: int  # of LRA-A
    search_users: Mapping[str, int | None] = field(default_factory=lambda: FEW)
    exact_seconds: float = 2.0  # for one user and value
    overlaps: tuple[float, ...] = (0.0, 0.5, 1.0)
    draws: int = 2  # of a defense that is sampled
    aware_users: int | None = 400  # test users for attackers who undo the guard; None: all
    aware_budgets: tuple[float, ...] = (4.0,)
    goal_budgets: tuple[float, ...] = (2.0, 4.0, 8.0)
    cost_budgets: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0)  # of what goals cost a recommender
    goal_split: float | None = 0.5  # how the goal "both" shares the budget; None: tried out
    inversion: tuple[str, ...] = ("LR-A",)
    holdouts: int = 2  # draws of the items that a recommender is tested on
    recommenders: tuple[str, ...] = ("PureSVD",)
    game_items: int = 7


PROFILES = {
    "quick": Profile("quick", 1000, 1000, 12, 400, 100),
    "paper": Profile(
        "paper", ATTACKER_UNITS, DEFENDER_UNITS, 12, None, 500,
        search_users=MANY, exact_seconds=10.0, overlaps=tuple(k / 10 for k in range(11)), draws=5,
        aware_users=None, aware_budgets=(2.0, 4.0, 8.0), recommenders=("SVD", "ALS", "PureSVD"), game_items=8,
        holdouts=5, goal_split=None,
        inversion=("LR-A", "MLP-A"),
    ),
}  # fmt: skip
# As in figure 4; budget 0 is the untouched data.
BUDGETS = (0.3, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
