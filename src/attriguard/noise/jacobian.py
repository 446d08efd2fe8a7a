"""A classifier's outputs at dense rows, and their derivatives: what searches need that follow no single entry.

The outputs of a linear classifier or a module are C_1 … C_m; those of a network are what its softmax is taken of. The
inferred value and the leads are the same for both. Many rows at a time, and plain matrix products.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.classifiers.base import Classifier
from attriguard.classifiers.module import ModuleClassifier
from attriguard.classifiers.network import NetworkClassifier
from attriguard.classifiers.small import softmax
from attriguard.errors import ParameterError

Rows = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Point:
    """Where rows stand: their outputs (rows, m), and ``slope(mix)``, the gradients of Σ_v mix_v · output_v."""

    scores: NDArray[Any]
    slope: Callable[[NDArray[Any]], NDArray[Any]]


Local = Callable[[Rows, NDArray[np.int64]], Point]


class Outputs(Protocol):
    """``at(rows)``: all columns, of rows that are mostly 0.

    ``among(rows, columns)(x, which)``: the rows ``which``, as a function of what they have in these columns.
    """

    m: int
    softmax: bool  # C_i is the logarithm of the outputs' softmax, not the output itself
    heavy: bool  # a step reads so many weights that it costs little more for many rows than for one

    def at(self, rows: Rows) -> Point: ...

    def among(self, rows: Rows, columns: NDArray[np.int64]) -> Local: ...


def outputs_of(classifier: Classifier) -> Outputs:
    if classifier.is_linear:
        return LinearOutputs(classifier)
    if isinstance(classifier, NetworkClassifier):
        return NetworkOutputs(classifier)
    if isinstance(classifier, ModuleClassifier):
        return ModuleOutputs(classifier)
    raise ParameterError(
        f"this search needs a linear classifier, a network or a torch.nn.Module, got {type(classifier).__name__}"
    )


def towards(outputs: Outputs, scores: NDArray[Any], values: NDArray[np.int64]) -> NDArray[Any]:
    """The mix of outputs whose gradient is that of C_i, row by row."""
    own = np.eye(outputs.m)[values]
    return own - softmax(scores) if outputs.softmax else own


def others(rows: Rows, columns: NDArray[np.int64]) -> csr_array:
    """The rows without these columns."""
    rest = rows.copy()
    rest[:, columns] = 0.0
    return csr_array(rest)


class LinearOutputs:
    softmax, heavy = False, False

    def __init__(self, classifier: Any) -> None:
        self.classifier, self.m = classifier, classifier.m

    def at(self, rows: Rows) -> Point:
        return Point(self.classifier.decision_function(csr_array(rows)), lambda mix: mix @ self.classifier.coef_)

    def among(self, rows: Rows, columns: NDArray[np.int64]) -> Local:
        base = self.classifier.decision_function(others(rows, columns)).astype(np.float32)
        coef = self.classifier.coef_[:, columns].astype(np.float32)
        return lambda x, which: Point(base[which] + x @ coef.T, lambda mix: mix @ coef)


class NetworkOutputs:
    softmax, heavy = True, True

    def __init__(self, classifier: NetworkClassifier) -> None:
        self.classifier, self.m = classifier, classifier.m

    def at(self, rows: Rows) -> Point:
        return self._point(self.classifier.pre_activations(csr_array(rows)), self.classifier.weights.W1)

    def among(self, rows: Rows, columns: NDArray[np.int64]) -> Local:
        base = self.classifier.pre_activations(others(rows, columns)).astype(np.float32)
        W1 = self.classifier.weights.W1[columns]
        return lambda x, which: self._point(base[which] + x @ W1, W1)

    def _point(self, pre: NDArray[Any], W1: NDArray[Any]) -> Point:
        w, on = self.classifier.weights, pre > 0

        def slope(mix: NDArray[Any]) -> NDArray[Any]:
            return np.asarray((mix.astype(w.W2.dtype) @ w.W2.T * on) @ W1.T)

        return Point(np.maximum(pre, 0.0) @ w.W2 + w.b2, slope)


class ModuleOutputs:
    softmax, heavy = False, True

    def __init__(self, classifier: ModuleClassifier) -> None:
        self.classifier, self.m = classifier, classifier.m

    def at(self, rows: Rows) -> Point:
        import torch

        with self.classifier.evaluating() as module:
            x = torch.from_numpy(rows).to(self.classifier.dtype).requires_grad_()
            output = module(x)

        def slope(mix: NDArray[Any]) -> NDArray[Any]:
            weights = torch.from_numpy(np.ascontiguousarray(mix)).to(output.dtype)
            return np.asarray(torch.autograd.grad(output, x, grad_outputs=weights, retain_graph=True)[0].numpy())

        return Point(output.detach().numpy(), slope)

    def among(self, rows: Rows, columns: NDArray[np.int64]) -> Local:
        def at(x: Rows, which: NDArray[np.int64]) -> Point:
            whole = rows[which]
            whole[:, columns] = x
            point = self.at(whole)
            return Point(point.scores, lambda mix: point.slope(mix)[:, columns])

        return at
