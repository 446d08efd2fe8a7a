"""The base of all defenses: it checks what comes in and what goes out; a defense writes `_fit` and `_release`."""

from __future__ import annotations

import hashlib
import inspect
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import UNDISCLOSED, check_labels, check_matrix, check_number, check_rng
from attriguard._progress import Progress
from attriguard.data.scale import RatingScale, check_scale
from attriguard.errors import DataError, NotFittedError, ParameterError
from attriguard.plan import Plan


class Defense(ABC):
    """Releases a noisy version of public data; one number, its strength, trades privacy against utility."""

    name: ClassVar[str]  # as in the paper
    summary: ClassVar[str]  # for tables: what it is, in a few words
    strength: ClassVar[str]  # what the one number is called: budget, k, epsilon …
    ladder: ClassVar[tuple[float, ...]]  # eight strengths, from the least noise to the most
    needs_truth: ClassVar[bool] = False  # it must be told the true value of every user it protects
    has_plan: ClassVar[bool] = False  # `plan` says what it would do with what probability
    is_random: ClassVar[bool] = True  # another draw gives another release
    revision: ClassVar[int] = 1  # raise it when the releases change: stored figures are then not used any more

    def __init__(self, *, scale: RatingScale | tuple[float, ...] | None = None) -> None:
        self.scale = scale

    def fit(self, X: csr_array, y: ArrayLike, *, progress: Progress | None = None) -> Defense:
        """Learn from users who disclose the attribute (-1: they do not, and are left out)."""
        X = check_matrix(X)
        classes, codes = check_labels(y, X.shape[0])
        disclosed = codes != UNDISCLOSED
        self.classes_: NDArray[Any] = classes
        self.n_items_ = X.shape[1]
        self.learnt_from_ = fingerprint(X, codes)
        self._report: Progress = progress or (lambda what, steps: None)
        self._fit(X[disclosed], codes[disclosed])
        return self

    def release_for(
        self,
        X: csr_array,
        strength: float,
        random_state: int | np.random.Generator | None = None,
        *,
        truth: ArrayLike | None = None,
    ) -> csr_array:
        """One release of everyone's data. ``truth``: the users' values, for a defense that must be told them."""
        if not hasattr(self, "classes_"):
            raise NotFittedError(f"{self.name} has not been fitted yet: call fit(X, y) first")
        X = check_matrix(X, n_items=self.n_items_)
        release = self._release(X, self.check_strength(strength), check_rng(random_state), self._codes(truth, X))
        return check_matrix(release, name="the release", n_items=self.n_items_)

    def plan(self, X: csr_array, budget: float) -> Plan:
        """Of a defense that has one (``has_plan``), for budgets up to this one: then its evaluation is exact."""
        raise ParameterError(f"{self.name} has no plan: it only draws, with release_for")

    def check_strength(self, strength: float) -> float:
        """The number, refused where it makes no sense."""
        return check_number(strength, name=self.strength, low=0.0)

    def nearest(self, strength: float) -> float:
        """The strength nearest to a number that was found by calculation."""
        return float(strength)

    def ladder_for(self, n_items: int) -> tuple[float, ...]:
        """The ladder, without what so few items are too few for."""
        return self.ladder

    @property
    def levels(self) -> int:
        """Of the rating scale; 0: any entry in [0, 1]."""
        return 0 if self.scale is None else check_scale(self.scale).levels

    def on_grid(self, entries: ArrayLike) -> NDArray[np.float32]:
        """The nearest entries that stand for a rating, or for none."""
        values = np.clip(np.asarray(entries, dtype=np.float64), 0.0, 1.0)
        return (np.rint(values * self.levels) / self.levels if self.levels else values).astype(np.float32)

    def unfitted(self) -> Defense:
        """A new defense with the same options."""
        return type(self)(**self.get_params())

    def get_params(self) -> dict[str, Any]:
        """The options it was made with."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def _codes(self, truth: ArrayLike | None, X: csr_array) -> NDArray[np.int64] | None:
        if not self.needs_truth:
            return None
        if truth is None:
            raise DataError(f"{self.name} must be told the true value of every user it protects: pass truth=")
        values = np.asarray(truth)
        if values.shape != (X.shape[0],):
            raise DataError(f"truth must have one value a user, {X.shape[0]:,}, got shape {values.shape}")
        code_of = {value: code for code, value in enumerate(self.classes_.tolist())}
        codes = np.array([code_of.get(value, UNDISCLOSED) for value in values.tolist()], dtype=np.int64)
        unknown = int((codes == UNDISCLOSED).sum())
        if unknown:
            raise DataError(
                f"{self.name} must be told the true value of every user, one that it saw in fit; "
                f"{unknown:,} of {values.size:,} users have none"
            )
        return codes

    @abstractmethod
    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        """Learn from codes 0 … m - 1, each of which occurs."""

    @abstractmethod
    def _release(
        self, X: csr_array, strength: float, chance: np.random.Generator, truth: NDArray[np.int64] | None
    ) -> csr_array:
        """The release, on the grid; ``truth`` holds codes where the defense needs them, and is None otherwise."""


def fingerprint(X: csr_array, codes: NDArray[np.int64]) -> str:
    """Of what a defense has learnt from, so that stored figures are only used for the same."""
    digest = hashlib.blake2b(digest_size=16)
    for part in (np.array(X.shape), X.indptr.astype(np.int64), X.indices, X.data, codes):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
