"""What a classifier C offers: its decision functions, and the views of them that searches work on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.classifiers.engines import Engine, PlainEngine
from attriguard.classifiers.outputs import LinearOutputs, Outputs
from attriguard.errors import ParameterError


class Classifier(ABC):
    """A trained classifier: decision functions C_1 … C_m, the inferred value is their arg max (section 3.3).

    A classifier of your own writes `m`, `n_items`, `decision_function` and `outputs`; then every search but ``exact``
    works on it. With ``is_linear = True`` and the weights ``coef_`` (m, items) and ``intercept_`` (m,) it need not
    write `outputs`, and every search works on it.
    """

    is_linear: bool = False
    # Names the class in guard files; empty where a file cannot hold it.
    kind: ClassVar[str] = ""

    @property
    @abstractmethod
    def m(self) -> int:
        """The number of values of the attribute."""

    @property
    @abstractmethod
    def n_items(self) -> int:
        """The number of items, the columns of the data."""

    @abstractmethod
    def decision_function(self, X: csr_array) -> NDArray[np.float64]:
        """(n, m): C_i(x) for every user and value."""

    def outputs(self) -> Outputs:
        """The outputs with their derivatives, for searches that follow gradients; refused where there are none."""
        if self.is_linear:
            return LinearOutputs(self)
        raise ParameterError(
            "this search needs a linear classifier, a network, a torch.nn.Module or a Classifier with outputs(), got "
            f"{type(self).__name__}"
        )

    def pair_engine(self) -> Engine:
        """How Algorithm 1 gets gradients and scores step by step; a class may offer a faster one than the default."""
        return PlainEngine(self.outputs())

    def tensors(self) -> dict[str, NDArray[Any]]:
        """What a guard file keeps of the classifier, by name; refused where that is not weights alone."""
        raise ParameterError(
            f"a guard with a classifier of your own ({type(self).__name__}) cannot be saved: a file holds weights, not "
            "code; fit the guard again with the classifier"
        )

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, NDArray[Any]]) -> Self:
        """The classifier that `tensors` were taken from; other tensors in the mapping are left alone."""
        raise ParameterError(f"a guard file cannot hold a {cls.__name__}")


def infer(classifier: Classifier, X: csr_array) -> NDArray[np.int64]:
    """C(x): the index of the value each user's data points to."""
    return np.argmax(classifier.decision_function(X), axis=1).astype(np.int64)


def linear_parts(classifier: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights (items × m) and intercepts (m) of a linear classifier."""
    if not classifier.is_linear:
        raise ParameterError(
            f"this search needs a linear classifier, {type(classifier).__name__} is not; use classifier='lr'"
        )
    return (
        np.ascontiguousarray(np.asarray(classifier.coef_, dtype=np.float64).T),
        np.asarray(classifier.intercept_, dtype=np.float64),
    )
