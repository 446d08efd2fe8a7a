"""DD-A: defensive distillation. A network learns the soft labels of another one, both at a temperature."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_number
from attriguard.attacks._network import NetworkAttack
from attriguard.classifiers.maths import softmax
from attriguard.classifiers.network import ATTACKER_UNITS, OWN


class Distillation(NetworkAttack):
    """Teacher and student have NN-A's shape; after training the temperature is 1 again."""

    name = "DD-A"
    plain_name = "neural network, distilled"
    summary = "a neural network that learns the soft labels of another one"

    def __init__(
        self,
        *,
        hidden: int = ATTACKER_UNITS,
        epochs: int | None = None,
        recipe: str = OWN,
        temperature: float = 5.0,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        super().__init__(hidden=hidden, epochs=epochs, recipe=recipe, random_state=random_state)
        self.temperature = temperature

    def check_options(self) -> None:
        """The temperature must be above 0."""
        check_number(self.temperature, name="temperature", low=0.0, open_low=True)

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        from attriguard.attacks._soft import one_hot, train_soft

        t = float(self.temperature)
        truth = one_hot(codes, self.classes_.size)
        first, second = self._progress.parts(1, 1)
        # At temperature t the outputs must grow t times as large, so the learning rate is t times as high.
        teacher = train_soft(self._new_network(pace=t), X, truth, temperature=t, progress=first.named("teacher"))
        soft = softmax(teacher.decision_function(X) / t).astype(np.float32)
        del teacher  # two networks of the paper's size need not be in memory at once
        self.network_ = train_soft(self._new_network(pace=t), X, soft, temperature=t, progress=second.named("student"))
