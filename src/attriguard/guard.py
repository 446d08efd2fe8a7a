"""AttriGuard: a classifier, a noise search and a mechanism, as a scikit-learn estimator."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from attriguard._checks import UNDISCLOSED, check_budget, check_choice, check_labels, check_matrix
from attriguard._progress import Progress
from attriguard.classifiers.base import Classifier, infer
from attriguard.classifiers.ensemble import MEMBERS, Ensemble
from attriguard.data.scale import RatingScale, check_scale
from attriguard.errors import DataError, NotFittedError, ParameterError
from attriguard.goals import CONCEAL, MISLEAD, check_goal, check_learnt, check_split, confidence_of, learn, phase_one
from attriguard.mechanism.targets import make_target
from attriguard.noise.base import NoiseSearch
from attriguard.noise.constraints import Constraints, make_constraints
from attriguard.noise.costs import COSTS
from attriguard.noise.items import additions_array, locked_columns
from attriguard.noise.policy import check_policy
from attriguard.noise.registry import get_search
from attriguard.plan import Plan, make_plan


class GuardNotFittedError(NotFittedError, SklearnNotFittedError):
    """Known to both families: attriguard's and scikit-learn's."""


class AttriGuard(TransformerMixin, BaseEstimator):
    """The paper's defense: change few entries of a user's data so that a classifier infers what p says.

    Parameters
    ----------
    classifier
        What the guard learns to find telling entries: "lr" (multinomial logistic regression, LR-D), "lr-ova"
        (one-vs-all, as printed in the paper), a linear classifier of scikit-learn, "nn" (the paper's NN-D), a
        ``NetworkClassifier`` with options of your own, or a trained ``torch.nn.Module`` (``fit`` only checks it).
    search
        Phase I: "margin", "panda" (the paper's), "exact", or a rival: "fgsm", "jsma", "cw".
    policy
        What may be changed: "modify_exist", "add_new" or "modify_add".
    target
        The distribution p that attackers shall be left with: "train", "uniform", or m numbers.
    budget
        The expected cost β a user accepts: a number (or, in ``plan``, one a user).
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
        "mislead" (the paper's): an attacker who does not know the guard infers something else. "conceal": what tells
        most is taken away, so that even an attacker who knows the guard infers less. "both": part of the changes does
        the one, the rest the other. ``classifier``, ``search``, ``target``, ``step``, ``confidence`` and ``maxiter``
        are for misleading, ``members`` is for concealing.
    members
        How many small networks look for what tells most.
    split
        For "both": the share of the budget that takes away. None: ``fit`` finds it, on users of its own.
    random_state
        Seeds ``transform``, and the learning of networks without a seed of their own; None: the operating system's
        entropy.
    """

    # What fit learns; which of these, depends on the goal.
    classifier_: Classifier
    ensemble_: Ensemble | None  # looks for what tells most; None: to mislead only
    split_: float  # the share of the budget that takes away
    goal_: str

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
        goal: str = MISLEAD,
        members: int = MEMBERS,
        split: float | None = None,
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
        self.random_state = random_state

    def fit(
        self,
        X: csr_array,
        y: ArrayLike,
        *,
        items: ArrayLike | None = None,
        values: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> AttriGuard:
        """Learn from users who disclose the attribute: ``y`` holds their values, -1 for those who do not.

        ``items`` (ids of the columns) and ``values`` (names of the values, where y holds codes) are kept with the
        guard and saved with it. ``checkpoint``: a file where the training of a network stands after each epoch; a fit
        with the same file goes on from there. ``progress`` is called with what is going on and the steps done.
        """
        X = check_matrix(X)
        ids = None if items is None else np.asarray(items)
        if ids is not None and ids.shape != (X.shape[1],):
            raise DataError(f"items must name the {X.shape[1]:,} columns of X, got {ids.size:,}")
        self._make_rules(X.shape[1], ids)
        classes, codes = check_labels(y, X.shape[0])
        disclosed = codes != UNDISCLOSED
        counts = np.bincount(codes[disclosed], minlength=classes.size)
        make_target(self.target, counts)
        names = _names_of(classes, values)
        learnt = learn(self, X[disclosed], codes[disclosed], items=ids, checkpoint=checkpoint, progress=progress)
        self.classifier_, self.ensemble_, self.split_, self.goal_ = learnt
        self.classes_ = classes
        self.counts_ = counts
        self.values_ = names
        self.items_ = ids
        self.n_features_in_ = X.shape[1]
        return self

    @property
    def target_(self) -> NDArray[np.float64]:
        """The target distribution p over the m values."""
        return make_target(self.target, self.counts_)

    def _make_rules(self, n_items: int, items: NDArray[Any] | None) -> Constraints:
        """Everything about the parameters that can be wrong, found before any work is done."""
        policy = check_policy(self.policy)
        search = get_search(self.search)
        check_choice(self.cost, COSTS, name="cost")
        confidence_of(self)
        if np.ndim(self.budget):
            raise ParameterError("the guard's budget is one number; budgets user by user go to plan(X, budget=...)")
        check_budget(self.budget, 1)
        check_split(self.split)
        if check_goal(self.goal) != MISLEAD and self.cost != "l0":
            raise ParameterError(f"the goal {self.goal!r} counts ratings: its cost is 'l0'")
        scale = self._scale()
        rules = make_constraints(
            policy,
            n_items,
            step=self.step,
            levels=0 if scale is None else scale.levels,
            maxiter=self.maxiter,
            locked=locked_columns(self.locked, n_items, items),
            additions=additions_array(self.additions, n_items, items, scale),
        )
        if self.goal != CONCEAL:  # which has a search of its own
            search.check_constraints(rules)
        return rules

    def _scale(self) -> RatingScale | None:
        return None if self.scale is None else check_scale(self.scale)

    def check_parameters(self) -> None:
        """Refuse parameters that a fitted guard cannot work with; ``plan`` does the same."""
        check_learnt(self)
        self._make_rules(self.n_features_in_, self.items_)
        make_target(self.target, self.counts_)

    def plan(
        self,
        X: csr_array,
        *,
        budget: ArrayLike | None = None,
        locked: csr_array | None = None,
        users: ArrayLike | None = None,
        progress: Progress | None = None,
    ) -> Plan:
        """Both phases, nothing drawn yet. It is not told any user's attribute.

        ``budget``: another one than the guard's, or one a user. ``locked``: a sparse pattern of X's shape, the items
        that must not change, user by user. ``users``: ids for keyed draws (row numbers if not given). ``progress`` is
        called with what is going on and how many more users are done, where that takes long.
        """
        self._check_fitted()
        X = check_matrix(X, n_items=self.n_features_in_)
        budgets = check_budget(self.budget if budget is None else budget, X.shape[0])
        ids = np.arange(X.shape[0]) if users is None else np.asarray(users)
        if ids.shape != (X.shape[0],):
            raise DataError(f"users must have one id a row of X, {X.shape[0]:,}, got {ids.size:,}")

        # Parameters other than the classifier and the goal may be set after fit: another policy or target needs no new
        # learning.
        check_learnt(self)
        rules = self._make_rules(self.n_features_in_, self.items_)
        edits, mechanism = phase_one(self, X, rules, budgets, locked=locked, progress=progress)
        model = self.ensemble_ if self.goal == CONCEAL and self.ensemble_ is not None else self.classifier_
        return make_plan(X=X, edits=edits, inferred=infer(model, X), mechanism=mechanism, budget=budgets, users=ids)

    def transform(self, X: csr_array) -> csr_array:
        """``plan(X).release()``: a protected version of everyone's data."""
        return self.plan(X).release(self.random_state)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted guard to one file (safetensors with a JSON header; never pickle)."""
        self._check_fitted()
        from attriguard.storage import save_guard

        save_guard(self, path)

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise GuardNotFittedError("this guard has not been fitted yet: call fit(X, y) first")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classifier_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _names_of(classes: NDArray[Any], values: Any) -> tuple[str, ...]:
    if values is None:
        return tuple(str(value) for value in classes)
    names = [str(value) for value in values]
    if classes.dtype.kind not in "iu" or classes.max() >= len(names) or classes.min() < 0:
        raise DataError("values must name every code that y holds")
    return tuple(names[code] for code in classes)
