"""MLP-A: a small network with Adam. Not in the paper; stronger than all of its attacks, and learnt in seconds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_rng
from attriguard.attacks.base import Attack
from attriguard.classifiers.small import Recipe, small_proba, train_small


class SmallNetwork(Attack):
    """One hidden layer of ReLUs with dropout; it needs no extra.

    It keeps its own ``hidden`` and ``epochs`` in a lineup, where these options are meant for the paper's networks.
    """

    name = "MLP-A"
    plain_name = "small neural network"
    summary = "a small neural network trained with Adam"
    own_options = ("hidden", "epochs")

    def __init__(
        self,
        *,
        hidden: int = 128,
        epochs: int = 8,
        batch_size: int = 256,
        learning_rate: float = 2e-3,
        weight_decay: float = 1e-5,
        dropout: float = 0.5,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.hidden = hidden
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.random_state = random_state

    def check_options(self) -> None:
        """Sizes and epochs must be 1 or more, and dropout must lie in [0, 0.99]."""
        self._recipe().check()

    def _recipe(self) -> Recipe:
        return Recipe(
            hidden=self.hidden,
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            dropout=self.dropout,
        )

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        self._weights = train_small(
            self._recipe(), X, codes, chance=check_rng(self.random_state), progress=self._progress
        )

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        return small_proba(self._weights, X)
