"""The base of all goals: what a goal learns, what it searches, how candidates get their probabilities, what it says."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_budget, check_count, check_number
from attriguard.classifiers.base import Classifier, infer
from attriguard.data.scale import check_scale
from attriguard.errors import ParameterError
from attriguard.goals.price import EVERYONE, Price, check_budget_over
from attriguard.mechanism.strategies import Mechanism
from attriguard.noise.base import NoiseSearch
from attriguard.noise.constraints import Constraints
from attriguard.noise.costs import get_cost
from attriguard.noise.items import ItemNames, constraints_for
from attriguard.noise.policy import Policy
from attriguard.noise.registry import get as get_search
from attriguard.plan import Finder, Most, Plan, make_plan
from attriguard.progress import Progress, ProgressLike


@dataclass(frozen=True, eq=False, kw_only=True)
class Settings:
    """A guard's parameters, checked, for data of a known number of items."""

    classifier: Any  # what to learn, or a trained module
    search: NoiseSearch
    constraints: Constraints
    target: Any  # of p: "train", "uniform", or m numbers
    budget: float
    budget_over: str  # "user": each user's; "everyone": an average over users
    price: Price | None  # of a change under a budget of everyone; None: found for the users at hand
    confidence: float | str | None
    cost: str
    members: int
    split: float | None
    random_state: Any

    @classmethod
    def of(
        cls, parameters: Mapping[str, Any], n_items: int, items: NDArray[Any] | None, price: Price | None = None
    ) -> Settings:
        """The parameters of ``AttriGuard``: everything that can be wrong with them is found before any work is done."""
        given = dict(parameters)
        scale = None if given["scale"] is None else check_scale(given["scale"])
        if np.ndim(given["budget"]):
            raise ParameterError("the guard's budget is one number; budgets user by user go to plan(X, budget=...)")
        get_cost(given["cost"])
        kept = ("classifier", "target", "confidence", "cost", "members", "random_state")
        return cls(
            **{name: given[name] for name in kept},
            search=get_search(given["search"]),
            constraints=constraints_for(
                ItemNames(n_items, items),
                scale,
                **{name: given[name] for name in ("policy", "step", "maxiter", "locked", "additions")},
            ),
            budget=float(check_budget(given["budget"], 1)[0]),
            budget_over=check_budget_over(given["budget_over"]),
            price=price,
            split=None if given["split"] is None else check_number(given["split"], name="split", low=0.0, high=1.0),
        )

    @property
    def shared(self) -> bool:
        """Whether the budget is an average over users."""
        return self.budget_over == EVERYONE

    def for_budget(self, budget: ArrayLike | None, goal: str) -> Settings:
        """The same without a price that was settled for another goal or budget."""
        asked, price = self.budget if budget is None else budget, self.price
        if price is not None and self.shared and price.goal == goal and bool(np.all(np.asarray(asked) == price.budget)):
            return self
        return replace(self, price=None)


@dataclass(frozen=True, eq=False)
class Learnt:
    """What a guard keeps of the users it learnt from: models by name, and how many users had each value."""

    goal: str
    models: Mapping[str, Classifier]
    counts: NDArray[np.int64]
    split: float  # the share of the budget that removes ratings


@dataclass(frozen=True, eq=False)
class Training:
    """The users to learn from: all of them disclose the attribute, and each of the codes 0 … m - 1 occurs."""

    X: csr_array
    codes: NDArray[np.int64]
    checkpoint: str | os.PathLike[str] | None = None  # where the training of a network stands after each epoch

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many users have each value."""
        return np.bincount(self.codes)


@dataclass(frozen=True, eq=False)
class Truth:
    """What a publisher knows of the users he protects, and how far their ratings are moved away from it.

    Of a user's own value his ratings shall say no more than ``share`` times its prior: at 1 that is what is known of
    users without ratings.
    """

    codes: NDArray[np.int64]  # -1 for a user whose value is not known
    share: float

    def take(self, rows: NDArray[np.int64]) -> Truth:
        """The same for some of the users."""
        return Truth(self.codes[rows], self.share)


class Goal(ABC):
    """What a guard is for. It keeps nothing: everything it works on is passed in."""

    name: ClassVar[str]
    plain_name: ClassVar[str]  # for readers who do not know the paper's names
    summary: ClassVar[str]  # one sentence that a person understands
    needs: ClassVar[tuple[str, ...]]  # the models that it works with
    options: ClassVar[tuple[str, ...]]  # the guard's parameters that belong to this goal's own work
    learns_by_chance: ClassVar[bool] = True  # another seed learns something else
    marks_seen_users: ClassVar[bool] = True  # its noise can give away the values of users that the guard learnt from
    shares_budget: ClassVar[bool] = False  # it can spend a budget of everyone
    uses_truth: ClassVar[bool] = False  # it protects better where the values of the users are known
    how: ClassVar[str]  # what the guard does to a user's ratings, for a reader of a report
    regained: ClassVar[str]  # what an attacker who retrains gets back: completes "… trains on those, "

    @abstractmethod
    def check(self, settings: Settings) -> None:
        """Refuse settings that this goal cannot work with, before any work is done."""

    @abstractmethod
    def learn(self, settings: Settings, users: Training, progress: Progress) -> Learnt:
        """Learn the models that the goal needs."""

    @abstractmethod
    def finder(self, settings: Settings, learnt: Learnt, locked: csr_array | None = None) -> Finder:
        """Phase I: what finds the candidates for a release; ``locked`` marks items user by user."""

    def informed_finder(
        self, settings: Settings, learnt: Learnt, truth: Truth, locked: csr_array | None = None
    ) -> Finder:
        """The same for users whose values are known, of a goal that ``uses_truth``."""
        return self.finder(settings, learnt, locked)

    def remembering(self, finder: Finder, own: csr_array) -> Finder:
        """The same for rows that earlier releases have changed; ``own`` is what they would be if none had been."""
        return finder

    @abstractmethod
    def mechanism(self, settings: Settings, learnt: Learnt) -> Mechanism:
        """Phase II: what turns candidates and a budget into probabilities."""

    def settle(
        self, settings: Settings, learnt: Learnt, X: csr_array, progress: Progress, truth: Truth | None = None
    ) -> Price:
        """The price of a change at which these users spend the budget on average, of a goal that ``shares_budget``."""
        raise NotImplementedError

    @abstractmethod
    def model(self, learnt: Learnt) -> Classifier:
        """The classifier whose inference on the data as it is a plan tells."""

    def changes(self, policy: Policy) -> str:
        """What may happen to ratings under a policy, in words."""
        return policy.meaning

    def learn_from_release(
        self, learnt: Learnt, released: csr_array, codes: NDArray[np.int64], chance: np.random.Generator
    ) -> Learnt:
        """What is known once a release has been planned, too: what its rows tell; of a goal that ``uses_truth``."""
        return learnt

    def check_learnt(self, learnt: Learnt) -> None:
        """A guard can serve every goal whose models it has learnt."""
        if not set(self.needs) <= set(learnt.models):
            raise ParameterError(
                f"this guard was learnt with goal={learnt.goal!r}; fit it again with goal={self.name!r}"
            )


@dataclass(frozen=True, eq=False)
class Planner:
    """A goal with checked settings and what was learnt: makes plans for any number of blocks of users."""

    goal: Goal
    settings: Settings
    learnt: Learnt

    def plan(
        self,
        X: csr_array,
        *,
        budget: ArrayLike | None = None,
        locked: csr_array | None = None,
        most: Most | None = None,
        truth: Truth | None = None,
        own: csr_array | None = None,
        users: ArrayLike | None = None,
        progress: ProgressLike = None,
    ) -> Plan:
        """Both phases for checked data: candidates, and the probability of each within the budget.

        ``most``: no user gets more changes than that, whatever is drawn; one number, or one a user. ``truth``: where
        the users' values are known. ``own``: users' own ratings, where earlier releases have changed what X holds.
        """
        goal, learnt = self.goal, self.learnt
        budgets = check_budget(self.settings.budget if budget is None else budget, X.shape[0])
        settings = self.settings.for_budget(budget, goal.name)
        if truth is None:
            finder = goal.finder(settings, learnt, locked)
        else:
            finder = goal.informed_finder(settings, learnt, truth, locked)
        if own is not None:
            finder = goal.remembering(finder, own)
        if most is not None:
            if self.settings.cost != "l0":
                raise ParameterError("most counts changed ratings: the guard's cost must be 'l0'")
            finder = finder.limited(np.asarray(most) if np.ndim(most) else check_count(most, name="most"))
        edits = finder.find(X, budgets, Progress.of(progress))
        mechanism, inferring = goal.mechanism(settings, learnt), partial(infer, goal.model(learnt))
        return make_plan(X, edits, mechanism, budget=budgets, infer=inferring, users=users, finder=finder)

    def settle(self, X: csr_array, progress: ProgressLike = None, truth: Truth | None = None) -> Price:
        """The price of a change for the settings' budget, on users like those that will be protected."""
        settings = replace(self.settings, price=None)
        return self.goal.settle(settings, self.learnt, X, Progress.of(progress), truth)

    def learning_from(self, released: csr_array, codes: NDArray[np.int64], chance: np.random.Generator) -> Planner:
        """The same that has seen what released rows of users with these codes tell."""
        return replace(self, learnt=self.goal.learn_from_release(self.learnt, released, codes, chance))

    def take(self, rows: NDArray[np.int64]) -> Planner:
        """The same for some rows of a table: all of them have the same planner."""
        return self

    def priced(
        self, X: csr_array, rows: NDArray[np.int64], budget: float | None = None, truth: Truth | None = None
    ) -> Planner:
        """The same with a price that was settled on some rows, where a budget of everyone has none yet."""
        asked = self.settings.budget if budget is None else budget
        settings = replace(self.settings.for_budget(asked, self.goal.name), budget=asked)
        if not settings.shared or settings.price is not None or not rows.size:
            return self
        price = replace(self, settings=settings).settle(X[rows], truth=truth and truth.take(rows))
        return replace(self, settings=replace(settings, price=price))

    def adding(self, entries: NDArray[np.float64]) -> Planner:
        """The same with other entries for items that may be added; a search that cannot keep to them is left as is."""
        settings = replace(self.settings, constraints=self.settings.constraints.adding(entries))
        try:
            self.goal.check(settings)
        except ParameterError:
            return self
        return replace(self, settings=settings)
