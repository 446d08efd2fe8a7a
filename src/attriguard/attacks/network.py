"""NN-A: a network with one hidden layer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.attacks._network import NetworkAttack


class Network(NetworkAttack):
    """One hidden layer of ReLUs with dropout, trained by plain SGD, as in the paper."""

    name = "NN-A"
    plain_name = "neural network"
    summary = "a neural network with one hidden layer"

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        self.network_ = self._learn(X, codes)
