"""Any differentiable classifier: a trained ``torch.nn.Module`` from (n, items) to (n, m)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.classifiers.base import Classifier
from attriguard.classifiers.outputs import Outputs, Point, Rows
from attriguard.classifiers.torch_extra import load_torch
from attriguard.errors import ParameterError

if TYPE_CHECKING:
    import torch

# Users that go through the module at a time.
BLOCK = 256
# Users whose data a new module is tried on.
PROBES = 8


def is_module(candidate: Any) -> bool:
    """Is it a ``torch.nn.Module``? torch is not loaded for that: a caller that has a module has loaded it already."""
    import sys

    torch = sys.modules.get("torch")
    return torch is not None and isinstance(candidate, torch.nn.Module)


class ModuleClassifier(Classifier):
    """C_1 … C_m are the module's outputs; it comes trained, and is not changed."""

    def __init__(self, module: torch.nn.Module, m: int, n_items: int) -> None:
        load_torch()
        self.module = module
        self._m, self._n_items = m, n_items

    @property
    def m(self) -> int:
        """The number of values: the width of the module's output."""
        return self._m

    @property
    def n_items(self) -> int:
        """The number of items: the width of the module's input."""
        return self._n_items

    @property
    def dtype(self) -> torch.dtype:
        """Of the module's parameters, and so of its input: float32, or float64."""
        import torch

        for parameter in self.module.parameters():
            if parameter.dtype.is_floating_point:
                return parameter.dtype
        return torch.float32

    @contextmanager
    def evaluating(self) -> Iterator[torch.nn.Module]:
        """The module without dropout and the like, for a moment."""
        was = [(part, part.training) for part in self.module.modules()]  # parts may differ from the whole
        self.module.eval()
        try:
            yield self.module
        finally:
            for part, training in was:
                part.training = training

    def dense(self, X: csr_array) -> torch.Tensor:
        """The rows as the module takes them: a dense tensor of its `dtype`."""
        import torch

        return torch.from_numpy(X.toarray()).to(self.dtype)

    def decision_function(self, X: csr_array) -> NDArray[np.float64]:
        """(n, m): the module's outputs, `BLOCK` users at a time."""
        import torch

        scores = np.empty((X.shape[0], self.m))
        with self.evaluating() as module, torch.no_grad():
            for start in range(0, X.shape[0], BLOCK):
                scores[start : start + BLOCK] = module(self.dense(X[start : start + BLOCK])).numpy()
        return scores

    def outputs(self) -> Outputs:
        """The module's outputs, differentiated by torch."""
        return ModuleOutputs(self)

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Refused: a module is code, which a file of weights cannot hold."""
        raise ParameterError(
            "a guard with a torch module of your own cannot be saved: a file holds weights, not code; "
            "save the module's state_dict, and fit the guard again with the module"
        )


class ModuleOutputs(Outputs):
    """The outputs of a module; every `Point` keeps the graph that autograd needs."""

    heavy = True

    def __init__(self, classifier: ModuleClassifier) -> None:
        self.classifier, self.m = classifier, classifier.m

    def at(self, rows: Rows) -> Point:
        """One forward pass; each slope is one backward pass."""
        import torch

        with self.classifier.evaluating() as module:
            x = torch.from_numpy(rows).to(self.classifier.dtype).requires_grad_()
            output = module(x)

        def slope(mix: NDArray[Any]) -> NDArray[Any]:
            weights = torch.from_numpy(np.ascontiguousarray(mix)).to(output.dtype)
            return np.asarray(torch.autograd.grad(output, x, grad_outputs=weights, retain_graph=True)[0].numpy())

        return Point(output.detach().numpy(), slope)


def check_module(module: torch.nn.Module, X: csr_array, m: int) -> ModuleClassifier:
    """The module as a classifier of X's columns into m values; refused where it cannot be one."""
    import torch

    classifier = ModuleClassifier(module, m, X.shape[1])
    name, n_items = type(module).__name__, X.shape[1]
    fullest = np.argsort(-np.diff(X.indptr), kind="stable")[:PROBES]  # an empty row may well have no gradient
    x = classifier.dense(X[fullest]).requires_grad_()
    with classifier.evaluating():
        try:
            output = module(x)
        except (RuntimeError, ValueError, TypeError, IndexError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ParameterError(
                f"the module {name} does not take vectors of {n_items:,} entries, one an item: {reason}"
            ) from error
    if not isinstance(output, torch.Tensor) or output.shape != (x.shape[0], m):
        came = tuple(output.shape) if isinstance(output, torch.Tensor) else type(output).__name__
        raise ParameterError(
            f"the module {name} must give {m} decision values a user, one a value of the attribute: "
            f"({x.shape[0]}, {m}) for {x.shape[0]} users, got {came}"
        )
    if not torch.isfinite(output).all():
        raise ParameterError(f"the module {name} gives NaN or infinite values; has it been trained?")
    # Weights that differ from value to value: the sum of a softmax's outputs is 1 everywhere.
    weighted = (output * torch.arange(1, m + 1, dtype=output.dtype)).sum()
    slope = torch.autograd.grad(weighted, x, allow_unused=True)[0] if output.requires_grad else None
    if slope is None or not bool((slope != 0).any()):
        raise ParameterError(
            f"the module {name} is not differentiable: no gradient of its outputs reaches its input "
            "(detach, no_grad, argmax and rounding cut it off)"
        )
    return classifier
