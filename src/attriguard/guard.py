"""AttriGuard: a goal, a classifier, a noise search and a mechanism, as a scikit-learn estimator."""

from __future__ import annotations

import os
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin

from attriguard._checks import UNDISCLOSED, check_features, check_fit, check_ids
from attriguard._fitted import EstimatorNotFittedError
from attriguard._keys import check_key
from attriguard._seen import SeenUsers
from attriguard.classifiers.base import Classifier
from attriguard.classifiers.ensemble import MEMBERS, Ensemble
from attriguard.classifiers.maths import softmax
from attriguard.data.habits import Habits
from attriguard.data.scale import check_scale
from attriguard.errors import DataError, ParameterError
from attriguard.goals import Goal, Learnt, Settings
from attriguard.goals import get as get_goal
from attriguard.goals.base import Planner, Training
from attriguard.goals.price import EVERYONE, Price
from attriguard.mechanism.targets import make_target
from attriguard.noise.base import NoiseSearch
from attriguard.plan import Most, Plan
from attriguard.progress import Progress, ProgressLike
from attriguard.storage import GuardState, fitting, read_key_file, read_state, write_state


class AttriGuard(TransformerMixin, BaseEstimator):
    """The paper's defense: change few entries of a user's data so that a classifier infers what p says.

    Parameters
    ----------
    classifier
        What the guard learns to find telling entries: "lr" (multinomial logistic regression, LR-D), "lr-ova"
        (one-vs-all, as printed in the paper), a linear classifier of scikit-learn, "nn" (the paper's NN-D), a
        ``NetworkClassifier`` with options of your own, or a trained ``torch.nn.Module`` (``fit`` only checks it).
    search
        Phase I: "probability", "margin", "panda" (the paper's), "exact", or a rival: "fgsm", "jsma", "cw".
    policy
        What may be changed: "modify_exist", "add_new" or "modify_add".
    target
        The distribution p that attackers shall be left with: "train", "uniform", or m numbers.
    budget
        The expected cost β a user accepts: a number (or, in ``plan``, one a user).
    budget_over
        "user": every user's expected cost stays within the budget, as in the paper. "everyone": the budget is an
        average over users, and each change goes where it helps most; some users get more changes, some none.
    step
        τ: how far one step moves an entry, in (0, 1].
    scale
        The rating scale; entries then stay on its grid. A RatingScale, (lowest, highest, step), or None.
    maxiter
        The limit on Algorithm 1's iterations; None: until nothing more can be gained (on a network: 100).
    confidence
        κ: go on until the value leads by κ; "auto" spends what the budget leaves over on it, user by user. None: 0,
        and for the goal "both" "auto".
    cost
        "l0" (how many entries change) or "l2" (by how much).
    locked
        Items that must never change, for everybody: ids if ``fit`` was given ``items``, else column numbers.
    additions
        Items that may be added: a list (they get the top of the scale) or a mapping item → raw rating (entry in
        [0, 1] without a scale). None: every item, at the top of the scale, as in the paper.
    goal
        "mislead" (the paper's): an attacker who does not know the guard infers another value. "conceal": what tells
        most is removed, so that even an attacker who knows the guard and retrains infers less. "both": part of the
        changes does the one, the rest the other. ``classifier``, ``search``, ``target``, ``step``, ``confidence`` and
        ``maxiter`` are for misleading, ``members`` is for concealing.
    members
        How many small networks look for what tells most.
    split
        For "both": the share of the budget that removes ratings. None: ``fit`` tries out three shares on its own users.
    random_state
        Seeds ``transform``, and the learning of networks without a seed of their own; None: the operating system's
        entropy.
    """

    # What fit learns.
    learnt_: Learnt
    classes_: NDArray[Any]
    values_: tuple[str, ...]  # the names of the classes
    items_: NDArray[Any] | None  # the ids of the columns, where they were given
    metadata_: dict[str, Any]  # what is kept with the guard in its file, besides itself
    price_: Price | None  # of a change under a budget of everyone, where it has been settled
    habits_: Habits | None  # how items are rated, where the scale is known
    seen_: SeenUsers | None  # whom the guard learnt from, where it was told their ids

    def __init__(
        self,
        classifier: Any = "lr",
        *,
        search: str | NoiseSearch = "probability",
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

    def fit(
        self,
        X: csr_array,
        y: ArrayLike,
        *,
        items: ArrayLike | None = None,
        values: Any = None,
        users: ArrayLike | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: ProgressLike = None,
    ) -> AttriGuard:
        """Learn from users who disclose the attribute: ``y`` holds their values, -1 for those who do not.

        ``items`` (ids of the columns) and ``values`` (names of the values, where y holds codes) are kept with the
        guard and saved with it. ``users`` (ids of the rows): the guard remembers, as salted hashes, whom it learnt
        from. ``checkpoint``: a file where the training of a network stands after each epoch; a fit
        with the same file goes on from there. ``progress``: a `Progress`, or a function that is called with what is
        going on and the share of the work that is done.
        """
        fitted = copy(self)  # a fit that fails leaves this guard as it was
        X, classes, codes = check_fit(fitted, X, y, name="AttriGuard")
        ids = None if items is None else np.asarray(items)
        if ids is not None and ids.shape != (X.shape[1],):
            raise DataError(f"items must name the {X.shape[1]:,} columns of X, got {ids.size:,}")
        goal = get_goal(self.goal)
        settings = self._settings(goal, X.shape[1], ids)
        disclosed = codes != UNDISCLOSED
        training = Training(X[disclosed], codes[disclosed], checkpoint)
        make_target(self.target, training.counts)
        names = _names_of(classes, values)
        learnt = goal.learn(settings, training, Progress.of(progress))
        scale = None if self.scale is None else check_scale(self.scale)
        fitted.price_ = None
        fitted.habits_ = None if scale is None else Habits.of(training.X, scale.levels)
        fitted.learnt_, fitted.classes_, fitted.values_, fitted.items_ = learnt, classes, names, ids
        if users is None:
            fitted.seen_ = None
        else:
            seed = int(self.random_state) if isinstance(self.random_state, (int, np.integer)) else None
            fitted.seen_ = SeenUsers.of(check_ids(users, X.shape[0])[disclosed], seed)
        fitted.metadata_ = {}
        self.__dict__ = fitted.__dict__
        return self

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

    def plan(
        self,
        X: csr_array,
        *,
        budget: ArrayLike | None = None,
        locked: csr_array | None = None,
        most: Most | None = None,
        users: ArrayLike | None = None,
        progress: ProgressLike = None,
    ) -> Plan:
        """Both phases, nothing drawn yet. It is not told any user's attribute.

        ``budget``: another one than the guard's, or one a user. ``locked``: a sparse pattern of X's shape, the items
        that must not change, user by user. ``most``: no user gets more changes than that, one number or one a user.
        ``users``: ids for keyed draws (row numbers if not given).
        """
        planner = self.planner()
        rows = check_features(self, X)
        plan = planner.plan(rows, budget=budget, locked=locked, most=most, users=users, progress=progress)
        return replace(plan, attribute=str(self.metadata_.get("attribute", "")))

    def settle(self, X: csr_array, *, progress: ProgressLike = None) -> AttriGuard:
        """Settle the price of a change under a budget of everyone, on users that the guard has not learnt from.

        From then on a user's release does not depend on who else is protected: blocks of users, and releases at other
        times, have the same price. The guard keeps it, and its file does. Another budget, goal, or learning anew needs
        another price.
        """
        if self.budget_over != EVERYONE:
            raise ParameterError("only a budget of everyone has a price: set budget_over='everyone'")
        self.price_ = self.planner().settle(check_features(self, X), progress)
        return self

    def posterior(self, X: csr_array) -> NDArray[np.float64]:
        """(n, m): how sure the guard's classifier is of each value; the ensemble, where there is one."""
        self._check_fitted()
        model = self.ensemble_ or self.classifier_
        scores = model.decision_function(check_features(self, X))
        if model.is_linear and self.classifier == "lr-ova":  # a logistic regression of its own for each value
            sure = 1.0 / (1.0 + np.exp(-scores))
            return np.asarray(sure / sure.sum(axis=1, keepdims=True))
        # For two values C_1 = -C_2, so that half the lead is the log-odds.
        return softmax(scores / 2 if model.is_linear and model.m == 2 else scores)

    def transform(self, X: csr_array) -> csr_array:
        """``plan(X).release()``: a protected version of everyone's data."""
        return self.plan(X).release(self.random_state)

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
        write_state(state, path, _secret(key))

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise EstimatorNotFittedError("this guard has not been fitted yet: call fit(X, y) first")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learnt_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True  # and at most 1
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        tags.non_deterministic = self.random_state is None  # a release is drawn
        return tags


def load_guard(path: str | os.PathLike[str], *, key: bytes | str | os.PathLike[str] | None = None) -> AttriGuard:
    """Read a guard that ``save`` wrote; anything else is refused.

    Parameters
    ----------
    path
        The guard file.
    key
        The secret that it was signed with (bytes, text, or the path of a file): a guard without a signature, or with
        one under another key, is refused. None: any guard that is not damaged is read, but a class of your own that it
        names as MODULE:CLASS is found only where you have imported the module.

    Returns
    -------
    AttriGuard
        A fitted guard; ``metadata_`` holds what was saved beside it.
    """
    state = read_state(path, _secret(key))
    with fitting(path):
        guard = AttriGuard(**state.parameters)
        guard.learnt_, guard.classes_, guard.values_ = state.learnt, state.classes, state.values
        guard.items_, guard.n_features_in_, guard.metadata_ = state.items, state.n_items, state.metadata
        guard.price_, guard.habits_, guard.seen_ = state.price, state.habits, state.seen
        guard.planner()  # refuses parameters that do not go with what was learnt
    return guard


def _secret(key: bytes | str | os.PathLike[str] | None) -> bytes | None:
    """The key itself, or what the file that a path names holds; one that can be guessed is refused."""
    if key is None:
        return None
    return check_key(read_key_file(key) if isinstance(key, os.PathLike) else key)


def _names_of(classes: NDArray[Any], values: Any) -> tuple[str, ...]:
    if values is None:
        return tuple(str(value) for value in classes)
    names = [str(value) for value in values]
    if classes.dtype.kind not in "iu" or classes.max() >= len(names) or classes.min() < 0:
        raise DataError("values must name every code that y holds")
    return tuple(names[code] for code in classes)
