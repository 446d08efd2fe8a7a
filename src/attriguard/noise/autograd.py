"""Phase I on any differentiable classifier: torch computes the gradients, many (user, value) pairs at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.classifiers.module import BLOCK, ModuleClassifier
from attriguard.noise.pairs import Ints


class Autograd:
    """The engine for a `ModuleClassifier`; every step computes everything anew."""

    def __init__(self, classifier: ModuleClassifier) -> None:
        self.classifier, self.m = classifier, classifier.m

    def users_at_once(self) -> int:
        return max(1, BLOCK // self.m)

    def begin(self, X: csr_array) -> NDArray[np.float64]:
        import torch

        double = self.classifier.dtype == torch.float64
        self.slope = np.empty((X.shape[0] * self.m, X.shape[1]), dtype=np.float64 if double else np.float32)
        return self.classifier.decision_function(X)

    def reset(self, pairs: Ints) -> None:
        """Nothing is remembered."""

    def gradient(self, pairs: Ints, rivals: Ints, now: NDArray[np.float32]) -> NDArray[Any]:
        import torch

        each = np.arange(pairs.size)
        with self.classifier.evaluating() as module:
            x = torch.from_numpy(now[pairs]).to(self.classifier.dtype).requires_grad_()
            output = module(x)
            objective = torch.zeros_like(output)
            objective[each, pairs % self.m] = 1.0
            against = rivals[pairs] >= 0
            objective[each[against], rivals[pairs][against]] = -1.0
            self.slope[pairs] = torch.autograd.grad(output, x, grad_outputs=objective)[0].numpy()
        return self.slope

    def move(
        self,
        pairs: Ints,
        items: Ints,
        change: NDArray[np.float64],
        now: NDArray[np.float32],
        scores: NDArray[np.float64],
    ) -> None:
        import torch

        with self.classifier.evaluating() as module, torch.no_grad():
            scores[pairs] = module(torch.from_numpy(now[pairs]).to(self.classifier.dtype)).numpy()
