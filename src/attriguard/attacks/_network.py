"""What the network attacks share: the options of NN-A, and training with checkpoints."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.attacks.base import Attack
from attriguard.classifiers.network import ATTACKER_UNITS, OWN, NetworkClassifier
from attriguard.classifiers.torch_extra import load_torch
from attriguard.errors import BusyError


class NetworkAttack(Attack):
    """An attack whose classifier is NN-A's network: one hidden layer, 30,000 units in the paper.

    ``recipe`` says how it learns: "own", or "authors" as in the code that the paper's authors published; ``epochs`` is
    the recipe's where it is None.
    """

    needs: ClassVar[tuple[str, ...]] = ("nn",)

    network_: NetworkClassifier

    def __init__(
        self,
        *,
        hidden: int = ATTACKER_UNITS,
        epochs: int | None = None,
        recipe: str = OWN,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.hidden = hidden
        self.epochs = epochs
        self.recipe = recipe
        self.random_state = random_state

    def _new_network(self, *, pace: float = 1.0) -> NetworkClassifier:
        """A network to train, at ``pace`` times the learning rate of NN-A."""
        load_torch()
        network = NetworkClassifier.by_recipe(
            self.recipe, hidden=self.hidden, epochs=self.epochs, random_state=self.random_state
        )
        network.learning_rate *= pace
        network.check_options()
        return network

    def _learn(self, X: csr_array, codes: NDArray[np.int64]) -> NetworkClassifier:
        """A network trained on hard labels; with a working folder, one that was trained there before is read."""
        from attriguard.classifiers.checkpoint import mark_of

        network, path = self._new_network(), None
        if self._work is not None and isinstance(self.random_state, (int, np.integer)):
            # Epochs and seed stand in the name, too, so that a person sees what a file is.
            mark = mark_of(network, X, codes)
            path = self._work / f"network-{mark}-{network.epochs}-{self.random_state}.safetensors"
        try:
            return network.fit(X, codes, checkpoint=path, progress=self._progress)
        except BusyError:  # another run trains the same network at this moment: this one does without a checkpoint
            return network.fit(X, codes, progress=self._progress)

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        return self.network_.predict_proba(X)
