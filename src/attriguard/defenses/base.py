"""The base of all defenses: it checks what comes in and what goes out; a defense writes `_fit` and `_release`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.metaestimators import available_if

from attriguard._checks import UNDISCLOSED, check_features, check_fit, check_matrix, check_number, check_rng
from attriguard._fingerprint import fingerprint
from attriguard._fitted import EstimatorNotFittedError
from attriguard.data.scale import RatingScale, check_scale
from attriguard.errors import DataError, ParameterError
from attriguard.plan import Plan
from attriguard.progress import Progress, ProgressLike


def _knows_enough(defense: Defense) -> bool:
    """Whether the defense can protect users whose values it is not told."""
    return not defense.needs_truth


# Without the keyword scikit-learn would wrap `transform`, and every defense would seem to have it.
class Defense(TransformerMixin, BaseEstimator, ABC, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """A scikit-learn estimator that releases a noisy version of public data.

    One number, its strength, trades privacy against utility. A subclass stores its options unchanged in ``__init__``
    and checks them in ``_fit``, so that ``clone`` and ``set_params`` work with it.

    Parameters
    ----------
    scale
        The rating scale; released entries then stay on its grid. A RatingScale, (lowest, highest, step), or None.

    Attributes
    ----------
    classes_
        The values of the attribute that occurred in ``y``.
    n_features_in_
        The number of items (columns) in ``fit``.
    """

    name: ClassVar[str]  # as in the paper
    plain_name: ClassVar[str] = ""  # for readers who do not know the paper's names; "": use the name
    summary: ClassVar[str]  # for tables: what it is, in a few words
    strength: ClassVar[str]  # what the one number is called: budget, k, epsilon …
    ladder: ClassVar[tuple[float, ...]]  # eight strengths, from the least noise to the most
    needs: ClassVar[tuple[str, ...]] = ()  # "truth": every protected user's true value; "scale": the option scale
    few_items_only: ClassVar[bool] = False  # it refuses data of more than a few items
    has_plan: ClassVar[bool] = False  # `plan` gives the probability of everything it may release
    is_random: ClassVar[bool] = True  # another draw gives another release
    own_options: ClassVar[tuple[str, ...]] = ()  # options that a lineup must not set
    revision: ClassVar[int] = 1  # raise it when the releases change: stored figures are then no longer used

    def __init__(self, *, scale: RatingScale | tuple[float, ...] | None = None) -> None:
        self.scale = scale

    def fit(self, X: Any, y: ArrayLike, *, progress: ProgressLike = None) -> Self:
        """Learn from users who disclose the attribute.

        Parameters
        ----------
        X
            Users × items, sparse or dense, entries in [0, 1].
        y
            The users' values; users with the value -1 do not disclose it and are left out.
        progress
            Where the learning reports how far it is.
        """
        rows, classes, codes = check_fit(self, X, y, name=self.name)
        disclosed = codes != UNDISCLOSED
        self.classes_: NDArray[Any] = classes
        self.learnt_from_ = fingerprint(rows, codes)
        self._progress = Progress.of(progress)
        try:
            self._fit(rows[disclosed], codes[disclosed])
        finally:
            # The caller's bar may be closed by the next time the defense is used, and it cannot be pickled.
            self._progress = Progress()
        return self

    def release_for(
        self,
        X: Any,
        strength: float,
        random_state: int | np.random.Generator | None = None,
        *,
        truth: ArrayLike | None = None,
    ) -> csr_array:
        """One release of everyone's data.

        Parameters
        ----------
        X
            Users × items, with the columns of ``fit``.
        strength
            How strongly to protect; what the number means depends on the defense (``strength``, ``ladder``).
        random_state
            Seeds the draws; None: the operating system's entropy.
        truth
            The users' values, for a defense that must be told them.
        """
        rows = self._rows(X)
        release = self._release(rows, self.check_strength(strength), check_rng(random_state), self._codes(truth, rows))
        return check_matrix(release, name="the release", n_items=self.n_features_in_)

    def plan(self, X: Any, budget: float, *, progress: ProgressLike = None) -> Plan:
        """Of a defense that has one (``has_plan``), for budgets up to this one: then its evaluation is exact."""
        raise ParameterError(f"{self.name} has no plan: it only draws, with release_for")

    @available_if(_knows_enough)
    def transform(self, X: Any) -> csr_array:
        """One release at the default strength, so that a defense can be a step of a pipeline.

        A defense that must be told its users' values has no ``transform``.
        """
        rows = self._rows(X)
        return self.release_for(rows, self.default_strength(rows.shape[1]), getattr(self, "random_state", None))

    @available_if(_knows_enough)
    def fit_transform(self, X: Any, y: ArrayLike, *, progress: ProgressLike = None) -> csr_array:
        """``fit``, and one release of the same users at the default strength."""
        release: csr_array = self.fit(X, y, progress=progress).transform(X)
        return release

    def default_strength(self, n_items: int) -> float:
        """The strength of ``transform``: the middle of the ladder for so many items."""
        ladder = self.ladder_for(n_items)
        return ladder[len(ladder) // 2] if ladder else 0.0

    @property
    def needs_truth(self) -> bool:
        """Whether the defense must be told the true value of every user it protects."""
        return "truth" in self.needs

    def check_strength(self, strength: float) -> float:
        """The strength as a number; refused where it makes no sense for this defense."""
        return check_number(strength, name=self.strength, low=0.0)

    def nearest(self, strength: float) -> float:
        """The valid strength nearest to a calculated one."""
        return float(strength)

    def ladder_for(self, n_items: int) -> tuple[float, ...]:
        """The ladder without the strengths that need more items."""
        return self.ladder

    @property
    def levels(self) -> int:
        """How many ratings the scale has; 0 without a scale: an entry may be any number in [0, 1]."""
        return 0 if self.scale is None else check_scale(self.scale).levels

    def on_grid(self, entries: ArrayLike) -> NDArray[np.float32]:
        """The nearest entries that stand for a rating, or for none."""
        values = np.clip(np.asarray(entries, dtype=np.float64), 0.0, 1.0)
        return (np.rint(values * self.levels) / self.levels if self.levels else values).astype(np.float32)

    def unfitted(self) -> Self:
        """A new defense with the same options."""
        copy: Self = clone(self)
        return copy

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        tags.non_deterministic = self.is_random
        return tags

    def _rows(self, X: Any) -> csr_array:
        """X, checked against the columns of ``fit``."""
        if not hasattr(self, "classes_"):
            raise EstimatorNotFittedError(f"{self.name} has not been fitted yet: call fit(X, y) first")
        return check_features(self, X)

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
