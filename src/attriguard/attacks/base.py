"""The base of all attacks: it checks what comes in; an attack writes `_fit` and `_predict_proba`."""

from __future__ import annotations

import inspect
import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import UNDISCLOSED, check_labels, check_matrix
from attriguard._progress import Progress
from attriguard.errors import NotFittedError, ParameterError


class Attack(ABC):
    """A classifier that infers the private attribute from public data."""

    name: str  # as in the paper
    summary: ClassVar[str]  # for tables: what it is, in a few words
    needs_guard: ClassVar[bool] = False  # then its constructor takes the guard it adapts to
    follows_budget: ClassVar[bool] = False  # then it learns anew for every budget: see `with_budget`
    revision: ClassVar[int] = 1  # raise it when the predictions change: stored ones are then not used any more

    def fit(
        self,
        X: csr_array,
        y: ArrayLike,
        *,
        work: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> Attack:
        """Learn from users who disclose the attribute (-1: they do not, and are left out).

        ``work``: a folder where long training keeps checkpoints, to go on from after an interruption. ``progress`` is
        called with what is going on.
        """
        X = check_matrix(X)
        classes, codes = check_labels(y, X.shape[0])
        disclosed = codes != UNDISCLOSED
        self.classes_: NDArray[Any] = classes
        self.n_items_ = X.shape[1]
        self._work = None if work is None else Path(work)
        self._report: Progress = progress or (lambda what, steps: None)
        self._fit(X[disclosed], codes[disclosed])
        return self

    def predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        """(n, m): how sure the attack is of each of ``classes_``."""
        if not hasattr(self, "classes_"):
            raise NotFittedError(f"{self.name} has not been trained yet: call fit(X, y) first")
        sure = np.asarray(self._predict_proba(check_matrix(X, n_items=self.n_items_)), dtype=np.float64)
        return sure / sure.sum(axis=1, keepdims=True)

    def predict(self, X: csr_array) -> NDArray[Any]:
        """The value the attack infers for every user."""
        sure = self.predict_proba(X)
        return self.classes_[np.argmax(sure, axis=1)]

    def get_params(self) -> dict[str, Any]:
        """The options it was made with."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def untrained(self, **changes: Any) -> Attack:
        """A new attack with the same options, but for those given."""
        return type(self)(**(self.get_params() | changes))

    def with_budget(self, budget: float) -> Attack:
        """A new, untrained attack that expects this budget; the same one where it does not care."""
        return self.untrained()

    @abstractmethod
    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        """Learn from codes 0 … m - 1, each of which occurs."""

    @abstractmethod
    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        """(n, m) probabilities, up to a factor a row."""


def check_guard(guard: Any, name: str) -> Any:
    """The guard that an attack adapts to."""
    if guard is None:
        raise ParameterError(f"{name} adapts to the guard and needs it: pass guard=, a fitted AttriGuard")
    if not (hasattr(guard, "plan") and hasattr(guard, "classifier_")):
        raise ParameterError(
            f"{name} needs a fitted guard (with plan and classifier_), got {type(guard).__name__}; call its fit first"
        )
    return guard
