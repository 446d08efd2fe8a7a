"""Guard: what was learnt, with the parameters that it is used with; it plans for users.

It stands apart from the estimator, since whoever only protects users with a guard's file needs nothing of scikit-learn,
which takes longer to load than a small table takes to protect.
"""

from __future__ import annotations

import os
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attriguard._keys import check_key
from attriguard._parameters import Parameters
from attriguard._seen import SeenUsers
from attriguard.classifiers.base import Classifier
from attriguard.classifiers.ensemble import MEMBERS, Ensemble
from attriguard.data.habits import Habits
from attriguard.errors import ParameterError
from attriguard.goals import Goal, Learnt, Settings
from attriguard.goals import get as get_goal
from attriguard.goals.base import Planner
from attriguard.goals.price import Price
from attriguard.mechanism.targets import make_target
from attriguard.noise.base import NoiseSearch
from attriguard.storage import GuardState, fitting, read_key_file, read_state, write_state


class Guard(Parameters):
    """A guard that has learnt, or will: `AttriGuard` says what its parameters mean."""

    # What fit learns.
    learnt_: Learnt
    classes_: NDArray[Any]
    values_: tuple[str, ...]  # the names of the classes
    items_: NDArray[Any] | None  # the ids of the columns, where they were given
    metadata_: dict[str, Any]  # what is kept with the guard in its file, besides itself
    price_: Price | None  # of a change under a budget of everyone, where it has been settled
    habits_: Habits | None  # how items are rated, where the scale is known
    n_features_in_: int  # the number of items
    seen_: SeenUsers | None  # whom the guard learnt from, where it was told their ids

    def __init__(
        self,
        classifier: Any = "lr",
        *,
        search: str | NoiseSearch = "margin",
        policy: str = "modify_add",
        target: Any = "train",
        budget: float = 4.0,
        step: float = 1.0,
        scale: Any = None,
        maxiter: int | None = None,
        confidence: float | str | None = None,
        cost: str = "l0",
        locked: Any = None,
        additions: Any = None,
        goal: str = "mislead",
        members: int = MEMBERS,
        split: float | None = None,
        budget_over: str = "user",
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.classifier = classifier
        self.search = search
        self.policy = policy
        self.target = target
        self.budget = budget
        self.step = step
        self.scale = scale
        self.maxiter = maxiter
        self.confidence = confidence
        self.cost = cost
        self.locked = locked
        self.additions = additions
        self.goal = goal
        self.members = members
        self.split = split
        self.budget_over = budget_over
        self.random_state = random_state

    @property
    def goal_(self) -> str:
        """The goal that the guard was learnt for; one learnt for "both" serves all three."""
        return self.learnt_.goal

    @property
    def classifier_(self) -> Classifier:
        """The defender's classifier C; of a guard that conceals, the ensemble."""
        models = self.learnt_.models
        return models.get("classifier", next(iter(models.values())))

    @property
    def ensemble_(self) -> Ensemble | None:
        """The ensemble that looks for what tells most; None for a guard that only misleads."""
        ensemble = self.learnt_.models.get("ensemble")
        return ensemble if isinstance(ensemble, Ensemble) else None

    @property
    def split_(self) -> float:
        """The share of the budget that removes ratings."""
        return self.learnt_.split

    @property
    def counts_(self) -> NDArray[np.int64]:
        """How many users of each value the guard has learnt from."""
        return self.learnt_.counts

    def has_learnt_from(self, users: ArrayLike) -> NDArray[np.bool_]:
        """Which of these users, by id, the guard has learnt from; nobody where it was not told any ids."""
        ids = np.asarray(users)
        return np.zeros(ids.shape, dtype=np.bool_) if self.seen_ is None else self.seen_.among(ids)

    @property
    def target_(self) -> NDArray[np.float64]:
        """The target distribution p over the m values."""
        return make_target(self.target, self.counts_)

    def _settings(self, goal: Goal, n_items: int, items: NDArray[Any] | None) -> Settings:
        """The parameters, checked."""
        settings = Settings.of(self.get_params(deep=False), n_items, items, getattr(self, "price_", None))
        goal.check(settings)
        if settings.shared and not goal.shares_budget:
            raise ParameterError(f"the goal {goal.name!r} has no budget of everyone; set budget_over='user'")
        return settings

    def planner(self) -> Planner:
        """The guard with its parameters as they are now, checked once: it plans for any number of blocks of users.

        Parameters other than the classifier may be set after ``fit``: another policy or target needs no new learning.
        """
        self._check_fitted()
        goal = get_goal(self.goal)
        goal.check_learnt(self.learnt_)
        make_target(self.target, self.counts_)
        return Planner(goal, self._settings(goal, self.n_features_in_, self.items_), self.learnt_)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        metadata: dict[str, Any] | None = None,
        key: bytes | str | os.PathLike[str] | None = None,
    ) -> None:
        """Write the fitted guard to one file (safetensors with a JSON header; never pickle), which only you can read.

        ``metadata`` is kept with it, as JSON: the attribute's name, where it was learnt, and so on. ``key``: a secret
        (bytes or text), or the path of a file that holds it. It signs the guard, so that `load_guard` with the same key
        tells it from any other. A digest that tells damage is there in any case.
        """
        self.planner()  # refuses what was set since fit and could not be read again
        state = GuardState(
            parameters=self.get_params(deep=False),
            learnt=self.learnt_,
            classes=self.classes_,
            values=self.values_,
            items=self.items_,
            n_items=self.n_features_in_,
            price=self.price_,
            habits=self.habits_,
            seen=self.seen_,
            metadata=self.metadata_ | (metadata or {}),
        )
        write_state(state, path, secret_of(key))

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            from attriguard._fitted import EstimatorNotFittedError  # scikit-learn's, too

            raise EstimatorNotFittedError("this guard has not been fitted yet: call fit(X, y) first")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learnt_")


AnyGuard = TypeVar("AnyGuard", bound=Guard)


def read_guard(
    kind: type[AnyGuard], path: str | os.PathLike[str], key: bytes | str | os.PathLike[str] | None = None
) -> AnyGuard:
    """Read a guard that ``save`` wrote, as `load_guard` says."""
    state = read_state(path, secret_of(key))
    with fitting(path):
        guard = kind(**state.parameters)
        guard.learnt_, guard.classes_, guard.values_ = state.learnt, state.classes, state.values
        guard.items_, guard.n_features_in_, guard.metadata_ = state.items, state.n_items, state.metadata
        guard.price_, guard.habits_, guard.seen_ = state.price, state.habits, state.seen
        guard.planner()  # refuses parameters that do not go with what was learnt
    return guard


def secret_of(key: bytes | str | os.PathLike[str] | None) -> bytes | None:
    """The key itself, or what the file that a path names holds; one that can be guessed is refused."""
    if key is None:
        return None
    return check_key(read_key_file(key) if isinstance(key, os.PathLike) else key)
