"""A classifier's outputs at dense rows, and their derivatives: the view of it that gradient searches work on.

The outputs of a linear classifier or a module are C_1 … C_m; those of a network are what its softmax is taken of. The
inferred value and the leads are the same for both. Many rows at a time, and plain matrix products.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.classifiers.maths import softmax

Ints = NDArray[np.int64]
Rows = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Point:
    """Where rows stand: their outputs (rows, m), and ``slope(mix)``, the gradients of Σ_v mix_v · output_v."""

    scores: NDArray[Any]
    slope: Callable[[NDArray[Any]], NDArray[Any]]


# Of x (rows, columns) and the numbers of these rows: where the rows stand, slopes in these columns alone.
Local = Callable[[Rows, Ints], Point]


class Outputs(ABC):
    """What a classifier computes before it decides, with derivatives. A classifier of your own writes `at`.

    Attributes
    ----------
    m
        The number of outputs, one a value.
    softmax
        Whether C_i is the logarithm of the outputs' softmax. Otherwise C_i is the output itself.
    heavy
        Whether a step reads so many weights that it costs little more for many rows than for one.
    jacobian
        (m, items): the derivatives, where they are the same at all rows; None where they are not.
    """

    m: int
    softmax: bool = False
    heavy: bool = False
    jacobian: NDArray[Any] | None = None

    @abstractmethod
    def at(self, rows: Rows) -> Point:
        """Where these rows stand; they are dense (rows, items), and mostly 0."""

    def among(self, rows: Rows, columns: Ints) -> Local:
        """``among(rows, columns)(x, which)``: the rows ``which``, as a function of what they have in these columns."""

        def at(x: Rows, which: Ints) -> Point:
            whole = rows[which]
            whole[:, columns] = x
            point = self.at(whole)
            return Point(point.scores, lambda mix: point.slope(mix)[:, columns])

        return at

    def towards(self, scores: NDArray[Any], values: Ints) -> NDArray[Any]:
        """(rows, m): the mix of outputs whose gradient is that of C_i, for each row's value i."""
        own = np.eye(self.m)[values]
        return own - softmax(scores) if self.softmax else own


def without_columns(rows: Rows, columns: Ints) -> csr_array:
    """The rows with 0 in these columns."""
    rest = rows.copy()
    rest[:, columns] = 0.0
    return csr_array(rest)


class LinearOutputs(Outputs):
    """The outputs of a linear classifier: its weights are their derivatives everywhere."""

    def __init__(self, classifier: Any) -> None:
        self.classifier, self.m = classifier, classifier.m
        self.jacobian = np.asarray(classifier.coef_)

    def at(self, rows: Rows) -> Point:
        """All columns: a sparse product, since the rows are mostly 0."""
        return Point(self.classifier.decision_function(csr_array(rows)), lambda mix: np.dot(mix, self.classifier.coef_))

    def among(self, rows: Rows, columns: Ints) -> Local:
        """Few columns: what the others add up to is computed once."""
        base = self.classifier.decision_function(without_columns(rows, columns)).astype(np.float32)
        coef = self.classifier.coef_[:, columns].astype(np.float32)
        # Not @, which may warn of invalid values that BLAS computes in unused lanes of its registers.
        return lambda x, which: Point(base[which] + np.dot(x, coef.T), lambda mix: np.dot(mix, coef))
