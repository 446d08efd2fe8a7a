"""The base of all attacks: it checks what comes in; an attack writes `_fit` and `_predict_proba`."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from attriguard._checks import UNDISCLOSED, check_features, check_fit
from attriguard._fitted import EstimatorNotFittedError
from attriguard.progress import Progress, ProgressLike


class Attack(ClassifierMixin, BaseEstimator, ABC):
    """A scikit-learn classifier that infers the private attribute from public data.

    A subclass stores its options unchanged in ``__init__`` and checks them in ``check_options``, so that ``clone``,
    ``set_params`` and ``GridSearchCV`` work with it.

    Attributes
    ----------
    classes_
        The values of the attribute that occurred in ``y``.
    n_features_in_
        The number of items (columns) in ``fit``.
    """

    name: ClassVar[str]  # as in the paper
    plain_name: ClassVar[str] = ""  # what the attacker uses, for readers who do not know the paper; "": use the name
    summary: ClassVar[str]  # one sentence
    needs: ClassVar[tuple[str, ...]] = ()  # "guard": the fitted guard it adapts to; "nn": the extra of that name
    is_baseline: ClassVar[bool] = False  # it guesses without looking at the data
    own_options: ClassVar[tuple[str, ...]] = ()  # options that a lineup must not set
    follows_budget: ClassVar[bool] = False  # it learns anew for every budget: see `with_budget`
    revision: ClassVar[int] = 1  # raise it when the predictions change: stored predictions are then no longer used

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        work: str | os.PathLike[str] | None = None,
        progress: ProgressLike = None,
    ) -> Self:
        """Learn from users who disclose the attribute.

        Parameters
        ----------
        X
            Users × items, sparse or dense, entries in [0, 1].
        y
            The users' values; users with the value -1 do not disclose it and are left out.
        work
            A folder where long training keeps checkpoints, so that an interrupted training can go on.
        progress
            Where the training reports how far it is.
        """
        self.check_options()
        rows, classes, codes = check_fit(self, X, y, name=self.name)
        disclosed = codes != UNDISCLOSED
        self.classes_: NDArray[Any] = classes
        self._work = None if work is None else Path(work)
        self._progress = Progress.of(progress)
        try:
            self._fit(rows[disclosed], codes[disclosed])
        finally:
            # The caller's bar may be closed by the next time the attack is used, and it cannot be pickled.
            self._progress, self._work = Progress(), None
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """(n, m): how sure the attack is of each of ``classes_``."""
        if not hasattr(self, "classes_"):
            raise EstimatorNotFittedError(f"{self.name} has not been trained yet: call fit(X, y) first")
        sure = np.asarray(self._predict_proba(check_features(self, X)), dtype=np.float64)
        return sure / sure.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> NDArray[Any]:
        """The value that the attack infers for every user."""
        sure = self.predict_proba(X)
        return self.classes_[np.argmax(sure, axis=1)]

    def check_options(self) -> None:
        """Refuse options that ``fit`` cannot work with; callers use it before long work that precedes ``fit``."""

    def untrained(self, **changes: Any) -> Self:
        """A new, untrained attack with the same options, except for those given."""
        copy: Self = clone(self)
        return copy.set_params(**changes)

    def with_budget(self, budget: float) -> Attack:
        """A new, untrained attack that expects this budget; most attacks expect none and ignore it."""
        return self.untrained()

    @property
    def learns_from_batch(self) -> bool:
        """Whether what is inferred of a row depends on the rows attacked with it: of this attack, or of one inside."""
        inside = self.get_params(deep=False).values()
        return any(isinstance(part, Attack) and part.learns_from_batch for part in inside)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = self.is_baseline
        return tags

    @abstractmethod
    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        """Learn from codes 0 … m - 1, each of which occurs."""

    @abstractmethod
    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        """(n, m) probabilities, up to a factor a row."""
