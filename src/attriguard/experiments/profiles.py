"""How large an experiment is, and what it decides where the paper leaves a choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from attriguard.classifiers.network import ATTACKER_UNITS, AUTHORS, DEFENDER_UNITS, OWN, RECIPES
from attriguard.classifiers.readings import OUTPUTS, PROBABILITY

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
STRICT_USERS: Mapping[str, int | None] = {
    "fgsm LR-D": None, "fgsm NN-D": 100, "jsma LR-D": 200, "jsma NN-D": 32, "cw LR-D": 100, "cw NN-D": 4,
    "panda LR-D": None, "panda NN-D": None, "margin LR-D": None, "margin NN-D": 64, "exact LR-D": 0,
}  # fmt: skip


@dataclass(frozen=True)
class Choices:
    """What the paper leaves open or this package does otherwise; part of the key of every result."""

    linear: str = "lr"  # LR-D: multinomial ("lr") or one-vs-all ("lr-ova")
    strength: float | None = None  # LR-D's C, the inverse of its regularisation; None: the default of its kind
    reading: str = OUTPUTS  # what C_i is on LR-D
    network_reading: str = PROBABILITY  # what C_i is on NN-D
    recipe: str = OWN  # how networks of both sides learn
    maxiter: int = 50  # steps of greedy searches on networks
    cw_lead: float = 0.5  # how far a value must lead before CW's noise is rounded
    jsma_pairs: bool = False  # JSMA moves two entries in each step
    noisy_matrix: bool = False  # LRA-A factorises the rows it attacks with those it learns from, and learns anew
    lra_units: int | None = None  # hidden units of LRA-A; None: the attacker's
    precision_units: int | None = None  # figure 10 with NN-D of so many units, which brings NN-A to 0.1; None: LR-D


# The paper's own, wherever its text or the authors' published code says what they are. Table 2 decides between the two
# readings of NN-D: PANDA reaches every value on the probability, and not on the outputs before the softmax.
PAPERS_CHOICES = Choices(
    linear="lr-ova", recipe=AUTHORS, maxiter=100, cw_lead=0.0, jsma_pairs=True, noisy_matrix=True, lra_units=2000,
    precision_units=5000,
)  # fmt: skip


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
    trial_units: int = 300  # hidden units of both sides where every choice is tried
    trial_users: int = 300  # test users there
    trial_strengths: tuple[float, ...] = (0.5,)  # LR-D's C there
    trial_seeds: tuple[int, ...] = (0,)  # each with test users of its own
    choices: Choices = field(default_factory=Choices)
    papers_only: bool = False  # nothing but the paper's own tables and figures

    @property
    def papers_size(self) -> bool:
        """Are the networks as large as in the paper?"""
        return (self.attacker_units, self.defender_units) == (ATTACKER_UNITS, DEFENDER_UNITS)


PROFILES = {
    "quick": Profile("quick", 1000, 1000, 12, 400, 100),
    "paper": Profile(
        "paper", ATTACKER_UNITS, DEFENDER_UNITS, 12, None, 500,
        search_users=MANY, exact_seconds=10.0, overlaps=tuple(k / 10 for k in range(11)), draws=5,
        aware_users=None, aware_budgets=(2.0, 4.0, 8.0), recommenders=("SVD", "ALS", "PureSVD"), game_items=8,
        holdouts=5, goal_split=None,
        inversion=("LR-A", "MLP-A"), trial_strengths=(0.05, 0.1, 0.5, 2.0), trial_seeds=(0, 1, 2), trial_users=600,
    ),
    "strict": Profile(
        "strict", ATTACKER_UNITS, DEFENDER_UNITS, RECIPES[AUTHORS]["epochs"], None, 500,
        search_users=STRICT_USERS, overlaps=tuple(k / 10 for k in range(11)), draws=5, holdouts=3,
        recommenders=("SVD", "ALS"), game_items=8, choices=PAPERS_CHOICES, papers_only=True,
    ),
}  # fmt: skip
# As in figure 4; budget 0 is the untouched data.
BUDGETS = (0.3, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
