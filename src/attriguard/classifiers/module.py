"""Any differentiable classifier: a trained ``torch.nn.Module`` from (n, items) to (n, m)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.classifiers.torch_extra import load_torch
from attriguard.errors import ParameterError

if TYPE_CHECKING:
    import torch

# Users that go through the module at a time.
BLOCK = 256
# Users whose data a new module is tried on.
PROBES = 8


def is_module(candidate: Any) -> bool:
    """Is it a ``torch.nn.Module``? Asked without loading torch: who has a module has loaded it."""
    import sys

    torch = sys.modules.get("torch")
    return torch is not None and isinstance(candidate, torch.nn.Module)


class ModuleClassifier:
    """C_1 … C_m are the module's outputs; it comes trained, and is not changed."""

    is_linear = False
    is_differentiable = True

    def __init__(self, module: torch.nn.Module, m: int) -> None:
        load_torch()
        self.module = module
        self.m = m

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
        import torch

        return torch.from_numpy(X.toarray()).to(self.dtype)

    def decision_function(self, X: csr_array) -> NDArray[np.float64]:
        import torch

        scores = np.empty((X.shape[0], self.m))
        with self.evaluating() as module, torch.no_grad():
            for start in range(0, X.shape[0], BLOCK):
                scores[start : start + BLOCK] = module(self.dense(X[start : start + BLOCK])).numpy()
        return scores

    def gradient(self, X: csr_array) -> NDArray[np.float64]:
        """(n, m, items): by autograd, one output after another."""
        import torch

        result = np.empty((X.shape[0], self.m, X.shape[1]))
        with self.evaluating() as module:
            x = self.dense(X).requires_grad_()
            output = module(x)
            for i in range(self.m):
                result[:, i] = torch.autograd.grad(output[:, i].sum(), x, retain_graph=True)[0].numpy()
        return result


def check_module(module: torch.nn.Module, X: csr_array, m: int) -> ModuleClassifier:
    """The module as a classifier of X's columns into m values; refused where it cannot be one."""
    import torch

    classifier = ModuleClassifier(module, m)
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
