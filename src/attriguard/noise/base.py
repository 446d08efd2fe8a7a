"""The base of all noise searches: it checks what comes in and what goes out; a search writes one method."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_matrix
from attriguard._registry import options_of
from attriguard.classifiers.base import Classifier
from attriguard.errors import ParameterError
from attriguard.kernels.rows import Rows, rows_of
from attriguard.noise.constraints import NO_LIMIT, Constraints, check_locked
from attriguard.noise.costs import Cost, get_cost
from attriguard.noise.edits import Edits
from attriguard.progress import Progress, ProgressLike

# What a search may need.
LINEAR = "linear"


@dataclass(frozen=True, eq=False)
class SearchTask:
    """What a search is asked for, checked: users' data, and what their noise must keep to."""

    X: csr_array  # canonical, users × items
    constraints: Constraints
    confidence: NDArray[np.float64]  # (n,): κ, by how much C_i must lead
    locked: csr_array  # a pattern of X's shape: entries that must not change
    rows: Rows  # of X, as the kernels take them
    locked_rows: Rows

    @property
    def n_users(self) -> int:
        """The number of users."""
        return int(self.X.shape[0])

    def of_users(self, users: slice) -> SearchTask:
        """The same task for some of the users."""
        return make_task(self.X[users], self.constraints, self.confidence[users], self.locked[users])


def make_task(X: csr_array, constraints: Constraints, kappa: NDArray[np.float64], locked: csr_array) -> SearchTask:
    """A task from parts that are checked already."""
    return SearchTask(X, constraints, kappa, locked, rows_of(X), rows_of(locked))


def check_kappa(confidence: ArrayLike, n_users: int) -> NDArray[np.float64]:
    """(n,): κ of every user, finite and not negative."""
    kappa = np.asarray(confidence, dtype=np.float64)
    if not np.isfinite(kappa).all() or (kappa < 0).any():
        raise ParameterError("confidence must be a finite number, 0 or more")
    return np.array(np.broadcast_to(kappa, (n_users,)))


class NoiseSearch(ABC):
    """Finds, for every user and every value i, noise r_i with C(x + r_i) = i (equation 2).

    A new search is a class with a name, a summary and the method `_find`, and a line in `noise.registry`. It keeps
    every option of its constructor in an attribute of the same name, so that searches can be compared and saved.
    """

    name: ClassVar[str]
    plain_name: ClassVar[str]  # for readers who do not know the paper's names
    summary: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()  # LINEAR: a linear classifier
    revision: ClassVar[int] = 1  # raise it when the search finds other noise, so that results kept on disk are not used
    takes_steps: ClassVar[bool] = True  # has a use for Algorithm 1's step and maxiter

    def check_constraints(self, constraints: Constraints) -> None:
        """Refuse constraints that this search cannot keep; a guard asks before it learns."""
        if not self.takes_steps and (constraints.step != 1.0 or constraints.max_steps != NO_LIMIT):
            raise ParameterError(f"the search {self.name!r} has no use for step and maxiter; leave them at 1 and None")

    def find(
        self,
        classifier: Classifier,
        X: csr_array,
        constraints: Constraints,
        *,
        confidence: ArrayLike = 0.0,
        cost: str | Cost = "l0",
        locked: Any = None,
        progress: ProgressLike = None,
    ) -> Edits:
        """Search for noise for all users and all values.

        Parameters
        ----------
        classifier
            What the noise must mislead.
        X
            The users' data, a sparse matrix with entries in [0, 1].
        constraints
            What the noise may look like.
        confidence
            κ, by how much C_i must lead the other decision functions: one number, or one for each user.
        cost
            The norm that the noise is measured in: "l0" or "l2".
        locked
            A sparse matrix of X's shape; where it is not 0, the entry must not change.
        progress
            Shows how many users are done.
        """
        measure, task = get_cost(cost), self.prepare(classifier, X, constraints, locked=locked)
        return self.run(classifier, task, confidence, measure, Progress.of(progress))

    def prepare(self, classifier: Classifier, X: csr_array, constraints: Constraints, *, locked: Any) -> SearchTask:
        """A checked task without a lead; `run` can be called for it with several confidences."""
        self.check_constraints(constraints)
        if not isinstance(classifier, Classifier):
            raise ParameterError(
                f"a search needs a trained attriguard.classifiers.base.Classifier, got {type(classifier).__name__}"
            )
        X = check_matrix(X, n_items=constraints.n_items)
        return make_task(X, constraints, np.zeros(X.shape[0]), check_locked(locked, X))

    def run(
        self, classifier: Classifier, task: SearchTask, confidence: ArrayLike, cost: Cost, progress: Progress
    ) -> Edits:
        """The noise for a task that `prepare` made, with a lead of κ: one number, or one for each user."""
        led = replace(task, confidence=check_kappa(confidence, task.n_users))
        return self._find(classifier, led, progress).with_cost(cost, task.X)

    @abstractmethod
    def _find(self, classifier: Classifier, task: SearchTask, progress: Progress) -> Edits:
        """The edits, sorted by item, with their L0 cost."""

    def options(self) -> dict[str, Any]:
        """The options that this search was made with."""
        return {name: getattr(self, name) for name in options_of(type(self))}

    def __repr__(self) -> str:
        parameters = inspect.signature(type(self)).parameters
        shown = [f"{k}={value!r}" for k, value in self.options().items() if value != parameters[k].default]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NoiseSearch):
            return NotImplemented
        return type(self) is type(other) and self.options() == other.options()

    def __hash__(self) -> int:
        return hash((type(self), *self.options().items()))
