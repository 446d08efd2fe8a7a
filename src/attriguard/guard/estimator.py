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
from attriguard._seen import SeenUsers
from attriguard.classifiers.maths import softmax
from attriguard.data.habits import Habits
from attriguard.data.scale import check_scale
from attriguard.errors import DataError, ParameterError
from attriguard.goals import get as get_goal
from attriguard.goals.base import Training
from attriguard.goals.price import EVERYONE
from attriguard.guard.core import Guard, read_guard
from attriguard.mechanism.targets import make_target
from attriguard.plan import Most, Plan
from attriguard.progress import Progress, ProgressLike


class AttriGuard(TransformerMixin, BaseEstimator, Guard):
    """The paper's defense: change few entries of a user's data so that a classifier infers what p says.

    Parameters
    ----------
    classifier
        What the guard learns to find telling entries: "lr" (multinomial logistic regression, LR-D), "lr-ova"
        (one-vs-all, as printed in the paper), a linear classifier of scikit-learn, "nn" (the paper's NN-D), a
        ``NetworkClassifier`` with options of your own, or a trained ``torch.nn.Module`` (``fit`` only checks it).
    search
        Phase I: "margin", "probability", "panda" (the paper's), "exact", or a rival: "fgsm", "jsma", "cw".
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
        How many small networks look for what tells most, beside a naive Bayes.
    split
        For "both": the share of the budget that removes ratings. None: ``fit`` tries out three shares on its own users.
    random_state
        Seeds ``transform``, and the learning of networks without a seed of their own; None: the operating system's
        entropy.
    """

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

    def plan(
        self,
        X: csr_array,
        *,
        budget: ArrayLike | None = None,
        locked: csr_array | None = None,
        most: Most | None = None,
        own: csr_array | None = None,
        users: ArrayLike | None = None,
        progress: ProgressLike = None,
    ) -> Plan:
        """Both phases, nothing drawn yet. It is not told any user's attribute.

        ``budget``: another one than the guard's, or one a user. ``locked``: a sparse pattern of X's shape, the items
        that must not change, user by user. ``most``: no user gets more changes than that, one number or one a user.
        ``own``: users' own ratings, where earlier releases have changed what X holds. ``users``: ids for keyed draws
        (row numbers if not given).
        """
        planner, rows = self.planner(), check_features(self, X)
        if own is not None and (own := check_features(self, own)).shape != rows.shape:
            raise DataError(f"own has a row for each of the {rows.shape[0]:,} users of X, got {own.shape[0]:,}")
        how: dict[str, Any] = {"budget": budget, "locked": locked, "most": most, "own": own, "users": users}
        plan = planner.plan(rows, **how, progress=progress)
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
    return read_guard(AttriGuard, path, key)


def _names_of(classes: NDArray[Any], values: Any) -> tuple[str, ...]:
    if values is None:
        return tuple(str(value) for value in classes)
    names = [str(value) for value in values]
    if classes.dtype.kind not in "iu" or classes.max() >= len(names) or classes.min() < 0:
        raise DataError("values must name every code that y holds")
    return tuple(names[code] for code in classes)
